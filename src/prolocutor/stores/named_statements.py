"""Named statements: the SQL files of a store, each under `-- name: ...`, and what rows are made."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


def named_statements(package: str) -> dict[str, str]:
    """Return the statements of `sql/queries/` in a package, by name, without a semicolon."""
    found: dict[str, str] = {}
    for file in (files(package) / "sql" / "queries").iterdir():
        _, *parts = _NAME.split(file.read_text(encoding="utf-8"))
        texts = (text.strip().rstrip(";") for text in parts[1::2])
        found.update(zip(parts[::2], texts, strict=True))
    return found


def struct_of(kind: type[S], columns: Iterable[Any]) -> S:
    """Return a Struct whose fields are the columns of a row, in their order."""
    return kind(**dict(zip(kind.__struct_fields__, columns, strict=True)))
