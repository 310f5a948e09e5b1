"""Running the real command: to its end, or serving until the test is over."""

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PROGRAM = str(Path(sys.executable).with_name("prolocutor"))
PATIENCE = 180.0

_URL = re.compile(r"http://[\w.:\[\]]+")


class Commands:
    """`prolocutor` with a data folder of its own."""

    def __init__(self, folder: Path, environ: Mapping[str, str] = os.environ) -> None:
        self.folder = folder
        self.store = folder / "prolocutor" / "prolocutor.db"
        self._environ = {**environ, "XDG_DATA_HOME": str(folder), "COLUMNS": "100"}

    def run(self, *words: object, said: str = "") -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        return subprocess.run(
            [PROGRAM, *map(str, words)],
            input=said,
            capture_output=True,
            text=True,
            env=self._environ,
            timeout=PATIENCE,
            check=False,
        )

    def output(self, *words: object, said: str = "") -> str:
        """Run one command that has to succeed, and give what it prints."""
        ran = self.run(*words, said=said)
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        return ran.stdout.rstrip("\n")

    def complaint(self, *words: object) -> str:
        """Run one command that has to fail, and give the line in which it says why."""
        ran = self.run(*words)
        assert (ran.returncode, ran.stdout) == (1, ""), ran
        lines = ran.stderr.splitlines()
        assert len(lines) == 1, ran.stderr
        return lines[0]

    @contextmanager
    def serving(self, *words: object) -> Iterator["Serving"]:
        """Run `prolocutor serve` on a free port for as long as the block runs."""
        process = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environ,
        )
        with process:
            try:
                yield Serving(process)
            finally:
                process.kill()


class Serving:
    """A running `prolocutor serve`; `url` once its doors are open."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        line = process.stdout.readline() if ready else ""
        found = _URL.search(line)
        assert found is not None, line or self.errors()
        self.url = found[0]

    def end(self, signal: int) -> int:
        """Send a signal and give the exit status."""
        self.process.send_signal(signal)
        return self.process.wait(PATIENCE)

    def errors(self) -> str:
        """Return what it wrote to stderr, once it has ended."""
        self.process.kill()
        assert self.process.stderr is not None
        return self.process.stderr.read()


def descendants(pid: int) -> set[int]:
    """Return the processes that a process started, and those that they started."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(text.rpartition(")")[2].split()[1])
    found: set[int] = set()
    newest = {pid}
    while newest:
        newest = {child for child, parent in parents.items() if parent in newest} - found
        found |= newest
    return found


class Terminal:
    """The other end of a pseudo-terminal: what is typed, and what is seen."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.seen = ""

    def type(self, line: str) -> None:
        """Type one line."""
        os.write(self._descriptor, f"{line}\r".encode())

    def wait_for(self, text: str) -> None:
        """Wait until a text is seen after all that was waited for before."""
        until = time.monotonic() + PATIENCE
        while text not in self.seen:
            ready, _, _ = select.select([self._descriptor], [], [], until - time.monotonic())
            assert ready, f"{text!r} was never seen: {self.seen!r}"
            self.seen += os.read(self._descriptor, 65_536).decode()
        self.seen = self.seen.partition(text)[2]
