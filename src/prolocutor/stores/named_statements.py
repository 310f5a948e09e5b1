"""Named statements: the SQL files of a store, each statement under `-- name: ...`."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


def named_statements(package: str) -> dict[str, str]:
    """Return the statements of `sql/queries/` in a package, by name, without a semicolon."""
    found: dict[str, str] = {}
    for file in (files(package) / "sql" / "queries").iterdir():
        _, *parts = _NAME.split(file.read_text(encoding="utf-8"))
        texts = (text.strip().rstrip(";") for text in parts[1::2])
        found.update(zip(parts[::2], texts, strict=True))
    return found
