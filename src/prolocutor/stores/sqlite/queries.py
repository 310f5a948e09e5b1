"""The named queries of `sql/queries/`, and the same statement for many rows at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from prolocutor.stores.named_statements import named_statements

MANY: Final = 32
"""The most rows of one statement. Each step releases the interpreter, so few steps are faster."""

_QUERIES: Final = named_statements("prolocutor.stores.sqlite")
_GROUP: Final = re.compile(r"\(\?(?:, (?:\?|\d))*\)")


def named(name: str) -> str:
    """Return the statement of that name."""
    return _QUERIES[name]


def for_rows(statement: str, values: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Split a flat list of values into statements of at most `MANY` rows each."""
    step = statement.count("?") * MANY
    for start in range(0, len(values), step):
        part = values[start : start + step]
        yield _repeated(statement, len(part) * MANY // step), part


@lru_cache(maxsize=1024)
def _repeated(statement: str, rows: int) -> str:
    last = list(_GROUP.finditer(statement))[-1]
    groups = ", ".join([last.group()] * rows)
    return statement[: last.start()] + groups + statement[last.end() :]
