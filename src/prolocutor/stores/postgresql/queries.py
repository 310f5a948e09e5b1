"""The named queries of `sql/queries/`."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


def named(name: str) -> str:
    """Return the statement of that name."""
    return _QUERIES[name]


def _read() -> dict[str, str]:
    found: dict[str, str] = {}
    for file in (files("prolocutor.stores.postgresql") / "sql" / "queries").iterdir():
        _, *parts = _NAME.split(file.read_text(encoding="utf-8"))
        texts = (text.strip().rstrip(";") for text in parts[1::2])
        found.update(zip(parts[::2], texts, strict=True))
    return found


_QUERIES: Final = _read()
