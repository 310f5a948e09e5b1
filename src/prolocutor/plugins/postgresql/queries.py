"""The named queries of `sql/queries/`."""

from __future__ import annotations

from typing import Final

from prolocutor.stores.named_statements import named_statements

_QUERIES: Final = named_statements("prolocutor.plugins.postgresql")


def named(name: str) -> str:
    """Return the statement of that name."""
    return _QUERIES[name]
