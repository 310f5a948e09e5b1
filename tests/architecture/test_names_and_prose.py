"""Class names lead to one place, docstrings are plain technical English, files are short."""

import ast
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
FILES = sorted(SOURCE.rglob("*.py"))
PACKAGE = [file for file in FILES if "prolocutor" in file.relative_to(SOURCE).parts]

SHARED_NAMES: dict[str, str] = {}
"""Class names with several homes, and why each of them is right where it stands."""

LONG = 350
LONG_FILES = {
    "prolocutor/assistant/assistant.py": "all that callers may do, most of it signatures",
    "prolocutor/pipeline/draft.py": "the only file that writes to a dialog",
}
"""Files of more lines than that, and why each is one thing."""

_FIRST_WORD = re.compile(r"(Give|Tell)s?\b")
_MAY_BEGIN_SO = re.compile(r"""["']\s*(Give|Tell)s?\b""")
_CLASS = re.compile(r"^[ \t]*class (\w+)", re.MULTILINE)
_INVENTED = re.compile(
    r"\b(whoever|somebody|(?:is|are) told|if (?:it|they) likes?|how-manieth|nursery"
    r"|(?<!evaluate )newcomers?)\b",
    re.IGNORECASE,
)


def test_a_class_name_leads_to_one_place() -> None:
    homes = homes_of_classes(PACKAGE)

    assert {name: files for name, files in homes.items() if name not in SHARED_NAMES} == {}


def test_docstrings_and_comments_are_plain_english() -> None:
    assert [f"{name_of(file)}: {one}" for file in FILES for one in unplain(read(file))] == []


def test_a_file_is_short_or_has_a_reason() -> None:
    long = {str(name_of(file)): lines_of(file) for file in FILES if lines_of(file) > LONG}

    assert {name: lines for name, lines in long.items() if name not in LONG_FILES} == {}


def test_no_reason_outlives_what_it_excuses() -> None:
    long = {str(name_of(file)) for file in FILES if lines_of(file) > LONG}

    assert (set(SHARED_NAMES) - set(homes_of_classes(PACKAGE)), set(LONG_FILES) - long) == (
        set(),
        set(),
    )


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f():\n    """Return one."""', []),
        ('def f():\n    """Give one."""', ["f: Give one."]),
        ('class A:\n    """Tells one."""', ["A: Tells one."]),
        ('"""Whoever calls."""', ["Whoever"]),
        ("x = 1  # somebody's", ["somebody"]),
        ("x = 'somebody'", []),
    ],
)
def test_the_search_for_prose_finds_it(source: str, found: list[str]) -> None:
    assert list(unplain(source)) == found


def name_of(file: Path) -> Path:
    """Return a file's path within the source folder."""
    return file.relative_to(SOURCE)


def read(file: Path) -> str:
    """Return the text of a file."""
    return file.read_text("utf-8")


def lines_of(file: Path) -> int:
    """Return how many lines a file has."""
    return len(read(file).splitlines())


def homes_of_classes(files: list[Path]) -> dict[str, list[str]]:
    """Return the names of classes that several files define, with these files."""
    written = {file: _CLASS.findall(read(file)) for file in files}
    often = Counter(name for names in written.values() for name in names)
    homes: dict[str, list[str]] = defaultdict(list)
    for file, names in written.items():
        if any(often[name] > 1 for name in names):  # the others need not be parsed
            for node in ast.walk(ast.parse(read(file))):
                if isinstance(node, ast.ClassDef):
                    homes[node.name].append(str(name_of(file)))
    return {name: found for name, found in sorted(homes.items()) if len(found) > 1}


def unplain(source: str) -> Iterator[str]:
    """Return docstrings that begin in the wrong way, and invented words in prose."""
    if not (_MAY_BEGIN_SO.search(source) or _INVENTED.search(source)):
        return  # nothing to find: it need not be parsed
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or ""
            if _FIRST_WORD.match(text):
                yield f"{getattr(node, 'name', 'module')}: {text.splitlines()[0]}"
            yield from (match[0] for match in _INVENTED.finditer(text))
    for token in tokenize.generate_tokens(iter(source.splitlines(keepends=True)).__next__):
        if token.type == tokenize.COMMENT:
            yield from (match[0] for match in _INVENTED.finditer(token.string))
