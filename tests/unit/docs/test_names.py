"""What pages name is there: files, folders, classes, functions, floors, `make` targets."""

import asyncio
import builtins
import os
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.pages import ROOT, blocks, pages, prose, table

# Decisions and the changelog go on naming what there was.
PAGES = [page for page in pages() if page.name != "CHANGELOG.md" and page.parent.name != "adr"]
SOURCE = ROOT / "src" / "prolocutor"
ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"

# Where a page may start a path from: the root, a package, a folder that it is about.
BASES = [ROOT, ROOT / "src", SOURCE, ROOT / "tests", ROOT / "src" / "prolocutor_demo"]
EXAMPLES = {
    "mine.py",
    "my_agents.py",
    "my_agents.yaml",
    "my_data.py",
    "skills.py",
    "test_assistant.py",
}
FOREIGN = {
    "ConfidenceResponseSelectorConnector",
    "EventSource",
    "ServiceMonitor",
    "WebSockets",
    "FbDialog",
    "DialogTeacher",
}

_CODE = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.(?:py|sql|lark|tt)")
_FOLDER = re.compile(r"^[a-z_.-]+(?:/[a-z_-]+)*/$")
_CLASS = re.compile(r"(?<![\w.-])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+(?![\w-])")
_TARGET = re.compile(r"`make ([a-z-]+)")


def told(found: dict[Path, list[str]]) -> list[str]:
    """Return what was found on each page, with the page's name in front."""
    return [f"{page.relative_to(ROOT)}: {name}" for page, names in found.items() for name in names]


def test_a_file_that_is_named_exists() -> None:
    found = {
        page: [name for name in named(page, _FILE) if not exists(name, page)] for page in PAGES
    }

    assert told(found) == []


def test_a_folder_that_is_named_exists() -> None:
    found = {
        page: [name for name in named(page, _FOLDER) if name not in folders()] for page in PAGES
    }

    assert told(found) == []


def test_a_class_that_is_named_exists() -> None:
    found = {
        page: [
            name
            for name in named(page, _CLASS)
            if name not in words_of_the_code()
            and name not in FOREIGN
            and name not in words_shown(page)
        ]
        for page in PAGES
    }

    assert told(found) == []


def test_a_target_that_is_named_exists() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    found = {
        page: sorted({*_TARGET.findall(page.read_text("utf-8"))} - {*targets}) for page in PAGES
    }

    assert told(found) == []


def test_the_floors_are_those_that_are_checked() -> None:
    drawn = next(
        block.text
        for block in blocks(ARCHITECTURE)
        if re.search(r"^1\s+errors", block.text, re.MULTILINE)
    )

    assert list(floors_in(drawn)) == floors_that_are_checked()


def test_every_extra_is_in_the_quickstart() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = table(ROOT / "docs" / "quickstart.md", "In an environment of your own")
    told = {name for row in rows for name in re.findall(r"[\w-]+", row)}

    assert told == project["optional-dependencies"].keys() - {"dev", "docs"}


def test_every_file_of_a_folder_that_is_named_lies_in_it() -> None:
    held = table(ARCHITECTURE, "The packages")
    of_plugins = table(ARCHITECTURE, "The plug-ins")
    held |= {f"plugins/{place}": cells for place, cells in of_plugins.items()}
    told = [
        (place, name)
        for place, cells in held.items()
        for name in _FILE.findall(" ".join(_CODE.findall(cells[0])))
    ]

    assert [place + name for place, name in told if not list((SOURCE / place).rglob(name))] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "10 cli   words\n9  web | asks   bounds\n   stores\n",
            [{"cli"}, {"web", "asks", "stores"}],
        ),
        ("2  dialog\n1  errors  the tree\n", [{"dialog"}, {"errors"}]),
    ],
)
def test_floors_are_read_from_a_drawing(text: str, expected: list[set[str]]) -> None:
    assert list(floors_in(text)) == expected


def named(page: Path, what: re.Pattern[str]) -> Iterator[str]:
    """Return what a page names in code within its text."""
    for code in _CODE.findall(prose(page)):
        yield from (match[0] for match in what.finditer(code))


def exists(name: str, page: Path) -> bool:
    """Whether a file is there that a page names by its path or, within a page, by its name."""
    if name.rpartition("/")[2] in EXAMPLES | {block.file for block in blocks(page)}:
        return True
    if any((base / name).exists() for base in BASES):
        return True
    return any(file.match(f"**/{name}") for file in files_by_name().get(Path(name).name, ()))


@cache
def words_shown(page: Path) -> set[str]:
    """Return the words of a page's fenced blocks."""
    return {word for block in blocks(page) for word in re.findall(r"\w+", block.text)}


@cache
def files_by_name() -> dict[str, list[Path]]:
    """Return the project's own files by their names."""
    found: dict[str, list[Path]] = {}
    for folder in ("src", "tests", "bench", ".ci"):
        for file in (ROOT / folder).rglob("*.*"):
            found.setdefault(file.name, []).append(file)
    return found


@cache
def folders() -> set[str]:
    """Return the project's folders, as pages write them: `a/b/`, `b/`."""
    found = {"build/", "build/site/", "dist/", ".venv/"}
    for place, below, _ in os.walk(ROOT):
        folder = Path(place).relative_to(ROOT)
        below[:] = [name for name in below if name not in {".git", ".venv", "build", "__pycache__"}]
        for name in below:
            parts = (folder / name).parts
            found |= {"/".join(parts[start:]) + "/" for start in range(len(parts))}
    return found


@cache
def words_of_the_code() -> set[str]:
    """Return every word of the code, and the names that Python brings."""
    found = {*dir(builtins), *dir(asyncio)}
    for folder in ("src", "bench", "tests"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in {".py", ".js", ".html"} and file != Path(__file__):
                found |= set(re.findall(r"\w+", file.read_text("utf-8")))
    return found


def floors_that_are_checked() -> list[set[str]]:
    """Return the floors from the top as import-linter keeps them."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    (contract,) = [one for one in tool["importlinter"]["contracts"] if one["id"] == "floors"]
    return [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]


def floors_in(drawing: str) -> Iterator[set[str]]:
    """Return the floors of a drawing from the top: `9  name | name   what they are`."""
    floor: set[str] = set()
    for line in drawing.splitlines():
        number, first = re.match(r"(\d*)\s*((?:\w+ \| )*\w+ ?\|?)(?:\s|$)", line).groups()  # type: ignore[union-attr]
        if number and floor:
            yield floor
            floor = set()
        floor |= set(re.findall(r"\w+", first))
    yield floor
