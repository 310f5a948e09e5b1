"""Format specifications cannot fail on what a client sends.

`f"{value:.80}"` raises for a number where a text was expected, and `str.format` for braces in a
text that came from outside. A precision of text therefore follows `!s`, `!r` or `!a`, which make
a text of anything, and templates of `str.format` are literals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "src" / "prolocutor"
FILES = [
    file
    for part in ("asks", "assistant", "dialog", "plugins/almond")
    for file in sorted((ROOT / part).rglob("*.py"))
]
_OF_TEXT = re.compile(r"[^a-zA-Z]*\.\d+s?")


def faults(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Return the lines of format specifications that can fail, and why."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            parts = node.format_spec.values
            if any(not isinstance(part, ast.Constant) for part in parts):
                yield node.lineno, "the specification is not a constant"
            written = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
            if "!" in written:
                yield node.lineno, "the conversion stands behind the specification"
            elif node.conversion == -1 and _OF_TEXT.fullmatch(written):
                yield node.lineno, "a precision without !s or !r"
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("format", "format_map")
            and not isinstance(node.func.value, ast.Constant | ast.Name)
        ):
            yield node.lineno, "the template of str.format is not a literal"


def test_no_format_specification_can_fail() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {why}"
        for file in FILES
        for line, why in faults(ast.parse(file.read_text("utf-8")))
    ]

    assert found == []


@pytest.mark.parametrize(
    "source",
    ['f"{text:.40!r}"', 'f"{text:.80}"', 'f"{text:{width}}"', "self.template.format(text)"],
)
def test_what_can_fail_is_found(source: str) -> None:
    assert list(faults(ast.parse(source)))


@pytest.mark.parametrize("source", ['f"{text!r:.80}"', 'f"{number:.2f}"', 'f"{count:,}"'])
def test_what_cannot_fail_is_not_found(source: str) -> None:
    assert not list(faults(ast.parse(source)))
