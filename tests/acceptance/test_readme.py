"""The blocks of README and docs, run as they are printed."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT, Block, blocks, pages

PATIENCE = 400.0
PROGRAMS = Path(sys.executable).parent
MARK = "~~~ {number} ~~~"

_PORT = re.compile(r"(?:localhost:|127\.0\.0\.1:|--port |port: |\?\? )(\d{4})\b")
_AWAIT = """\
answers() {
  for _ in $(seq 300); do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    read -rt 0.05 <> <(:) || :
  done
}
"""

RUN = [
    str(page.relative_to(ROOT)) for page in pages() if any(block.is_run for block in blocks(page))
]
FIRST = {"README.md", "docs/quickstart.md", "docs/howto/add-a-store.md", "docs/reference/http.md"}
"""What newcomers read first, a page of code and a page of requests; the others are long."""


@pytest.mark.parametrize(
    "page", [pytest.param(one, marks=() if one in FIRST else pytest.mark.long) for one in RUN]
)
def test_what_a_page_shows_is_what_happens(page: str, tmp_path: Path) -> None:
    file = ROOT / page
    for program in ("node", "curl"):
        if f"$ {program} " in file.read_text("utf-8") and shutil.which(program) is None:
            pytest.skip(f"pages that use {program} (no {program})")

    shown = Session(file, tmp_path).run()

    assert [one for one in shown if not one.as_printed] == []


def test_the_readme_shows_ten_lines_of_python_and_ten_of_yaml() -> None:
    files = {block.language: block.text for block in blocks(ROOT / "README.md") if block.file}

    assert {language: len(text.splitlines()) <= 10 for language, text in files.items()} == {
        "python": True,
        "yaml": True,
    }


class Shown:
    """A command, what a page prints below it, and what it really gave."""

    def __init__(self, place: str, command: str, printed: list[str]) -> None:
        self.place = place
        self.command = command
        self.printed = printed
        self.given: list[str] = []

    @property
    def as_printed(self) -> bool:
        """Whether both are the same: `...` stands for any lines, `…` for any text in one."""
        pattern = "".join(_pattern(line) for line in self.printed)
        return re.fullmatch(pattern, "".join(f"{line}\n" for line in self.given)) is not None

    def __repr__(self) -> str:
        given = "\n".join(self.given)
        printed = "\n".join(self.printed)
        return f"\n{self.place}: $ {self.command}\nprinted:\n{printed}\ngiven:\n{given}\n"


class Session:
    """One page: its files written and its commands run, one after the other, in one shell."""

    def __init__(self, page: Path, folder: Path) -> None:
        self._page = page
        self._folder = folder
        self._ports: dict[str, str] = {}

    def run(self) -> list[Shown]:
        """Run all commands and give what is shown of them."""
        script, shown = [_AWAIT], []
        for block in blocks(self._page):
            if block.file is not None:
                script.append(self._writing(block))
            elif block.is_run:
                for command in _commands(block):
                    script.append(f"echo '{MARK.format(number=len(shown))}'")
                    script.append(self._moved(command.command))
                    script += [f"answers {port}" for port in self._started(command.command)]
                    shown.append(command)
        output = self._shell("\n".join(script))
        for number, one in enumerate(shown):
            mark = MARK.format(number=number)
            following = MARK.format(number=number + 1)
            given = output.partition(f"{mark}\n")[2].partition(f"{following}\n")[0]
            one.given = [line.rstrip() for line in given.rstrip("\n").splitlines()]
        return shown

    def _writing(self, block: Block) -> str:
        file = self._folder / ".pages" / str(block.line)
        file.parent.mkdir(exist_ok=True)
        file.write_text(self._moved(block.text), encoding="utf-8")
        return f"mkdir -p '{Path(str(block.file)).parent}' && cp '{file}' '{block.file}'"

    def _started(self, command: str) -> list[str]:
        if not command.endswith("&"):
            return []
        text = self._page.read_text("utf-8")
        return [self._ports[port] for port in _PORT.findall(command) or _PORT.findall(text)[:1]]

    def _moved(self, text: str) -> str:
        """Put free ports in the place of those that are printed."""
        for port in _PORT.findall(text):
            if port not in self._ports:
                self._ports[port] = str(_free_port())
            text = re.sub(rf"\b{port}\b", self._ports[port], text)
        return text

    def _shell(self, script: str) -> str:
        environ = {
            **{name: value for name, value in os.environ.items() if name != "CI"},
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "XDG_DATA_HOME": str(self._folder / "data"),
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }
        shell = subprocess.Popen(
            ["bash", "-c", f"exec 2>&1\n{script}\nkill $(jobs -p) 2>/dev/null; wait"],
            cwd=self._folder,
            env=environ,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            return shell.communicate(timeout=PATIENCE)[0]
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, signal.SIGKILL)


def _commands(block: Block) -> list[Shown]:
    found: list[Shown] = []
    lines = iter(enumerate(block.text.splitlines(), block.line))
    for number, line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command += "\n" + next(lines)[1]
            found.append(Shown(f"{block.page.name}:{number}", command, []))
        else:
            found[-1].printed.append(line.rstrip())
    return found


def _pattern(line: str) -> str:
    if line == "...":
        return r"(?:.*\n)*?"
    return ".*?".join(re.escape(part) for part in line.split("…")) + r"\n"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
