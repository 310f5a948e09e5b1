"""SQL from files with names, and joined conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from typing import Any, Final, TypeVar

import msgspec
from msgspec import structs

from prolocutor.contracts.store import DialogQuery
from prolocutor.contracts.turn_record_store import ConversationQuery
from prolocutor.dialog import plain

S = TypeVar("S", bound=msgspec.Struct)

_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)

FLAG_BITS: Final = {"down": 1, "none": 2, "failed": 4, "slow": 8}


def named_statements(package: str) -> dict[str, str]:
    """Return the statements of `sql/queries/` in a package, by name, without a semicolon."""
    found: dict[str, str] = {}
    for file in (files(package) / "sql" / "queries").iterdir():
        _, *parts = _NAME.split(file.read_text(encoding="utf-8"))
        texts = (text.strip().rstrip(";") for text in parts[1::2])
        found.update(zip(parts[::2], texts, strict=True))
    return found


def read_migrations(package: str) -> dict[int, str]:
    """Return the scripts of `sql/migrations/` in a package by their numbers, lowest first."""
    folder = files(package) / "sql" / "migrations"
    scripts = {int(file.name[:4]): file.read_text(encoding="utf-8") for file in folder.iterdir()}
    return dict(sorted(scripts.items()))


def make_struct(kind: type[S], columns: Iterable[Any]) -> S:
    """Return a Struct whose fields are the columns of a row, in their order."""
    return kind(**dict(zip(kind.__struct_fields__, columns, strict=True)))


class QueryConditions:
    """The conditions of the fields of a query.

    `texts`: conditions by field, with {0} for the value. `sign`: the prefix of a placeholder (`?`
    or `$`). `encode`: converts a value to its stored form.
    """

    def __init__(
        self,
        query: DialogQuery | ConversationQuery,
        texts: Mapping[str, str],
        sign: str,
        encode: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self._sign = sign
        self._encode = encode
        self.values: list[Any] = []
        self.conditions: list[str] = []
        for name, value in structs.asdict(query).items():
            if value is not None and name in texts:
                given = plain.encode(value).decode() if name == "rating" else value
                self.conditions.append(texts[name].format(self.value(given)))

    def value(self, value: Any) -> str:
        """Add a value; return its placeholder in the statement."""
        self.values.append(self._encode(value))
        return f"{self._sign}{len(self.values)}"

    def where(self, *more: str) -> str:
        """Return the clause with all conditions and these."""
        conditions = [*self.conditions, *more]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""
