"""The pages of the documentation as tests read them: fenced blocks, their marks, links, tables.

A mark is a comment in front of a fence: `<!-- file: NAME -->` names the file that the block is,
`<!-- not run -->` a block of commands that is only to be read, `<!-- fragment -->` a block that is
no whole of its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
BENCH = {ROOT / "bench" / "README.md"}
"""What `make bench` writes."""

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w-]*)\s*$")
_MARK = re.compile(r"<!--\s*(.+?)\s*-->")
_LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$")


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is that of its first line of text."""

    page: Path
    line: int
    language: str
    text: str
    mark: str = ""

    @property
    def file(self) -> str | None:
        """The file that it is, if it is one."""
        return self.mark.removeprefix("file: ") if self.mark.startswith("file: ") else None

    @property
    def is_run(self) -> bool:
        """Whether it is commands to be run."""
        return self.language == "console" and self.mark != "not run"

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Return all pages that people read, the benchmarks' own excepted."""
    of_plugins = (ROOT / "src" / "prolocutor" / "plugins").glob("*/README.md")
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *of_plugins]
    return sorted(set(found) - BENCH)


def blocks(page: Path) -> Iterator[Block]:
    """Return the fenced blocks of a page."""
    mark, start, fence, indent, language = "", 0, "", 0, ""
    lines: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if fence:
            if line.strip() == fence:
                yield Block(page, start, language, "\n".join(lines) + "\n", mark)
                mark, fence, lines = "", "", []
            else:
                lines.append(line[indent:])
        elif match := _FENCE.match(line):
            start, fence, language = number + 1, match["fence"], match["language"]
            indent = len(match["indent"])
        elif found := _MARK.fullmatch(line.strip()):
            mark = found[1]
        elif line.strip():
            mark = ""


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return re.sub(r"(?ms)^ *(`{3,})[\w-]*\s*$.*?^ *\1\s*$", "", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    """Return the targets of a page's links."""
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = [match[1] for line in prose(page).splitlines() if (match := _HEADING.match(line))]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(page: Path, heading: str) -> dict[str, list[str]]:
    """Return the first table under a heading: its rows' cells by the first one, without
    backticks."""
    rows: dict[str, list[str]] = {}
    found = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if _HEADING.match(line):
            if rows:
                break
            found = line.lstrip("# ").strip() == heading
        elif found and line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
            rows[cells[0].strip("`")] = cells[1:]
        elif rows:
            break
    for rule in [key for key in rows if set(key) <= set("-: ")]:
        del rows[rule]
    return dict(list(rows.items())[1:])
