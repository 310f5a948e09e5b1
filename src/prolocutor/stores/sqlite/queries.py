"""The named queries of `sql/queries/`, and the same statement for many rows at once."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from prolocutor.errors import StoreError
from prolocutor.stores.statements import named_statements

MAX_ROWS: Final = 32
"""The largest number of rows of one statement; each step releases the interpreter, so few steps are
faster.
"""

SQL: Final = named_statements("prolocutor.stores.sqlite")
"""The statements of `sql/queries/` by name."""

_GROUP: Final = re.compile(r"\(\?(?:, (?:\?|\d))*\)")

_STATEMENTS: Final = tuple(
    (name, SQL[statement])
    for name, statement in (
        ("people", "add_people"),
        ("dialog_names", "add_dialog_names"),
        ("dialogs", "add_dialogs"),
        ("versions", "add_versions"),
        ("open_turns", "add_open_turns"),
        ("utterances", "add_utterances"),
        ("hypotheses", "add_hypotheses"),
        ("feed", "add_feed"),
        ("spoke", "add_spoke"),
        ("requests", "add_requests"),
    )
)


def split_rows(statement: str, values: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Split a flat list of values into statements of at most `MAX_ROWS` rows each."""
    step = statement.count("?") * MAX_ROWS
    for start in range(0, len(values), step):
        part = values[start : start + step]
        yield _repeat_group(statement, len(part) * MAX_ROWS // step), part


@lru_cache(maxsize=1024)
def _repeat_group(statement: str, rows: int) -> str:
    last = list(_GROUP.finditer(statement))[-1]
    groups = ", ".join([last.group()] * rows)
    return statement[: last.start()] + groups + statement[last.end() :]


class PendingRows:
    """Flat lists of values in the order of the columns, a list for each table.

    A statement for many rows takes a list directly, so a turn makes no object for each row.
    """

    __slots__ = ("bodies", "closed", "dialog_names", "dialogs", "feed", "hypotheses", "open_turns",
                 "people", "requests", "rounds", "spoke", "utterances", "versions")  # fmt: skip

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Drop all rows."""
        self.people: list[Any] = []
        self.dialog_names: list[Any] = []
        self.dialogs: list[Any] = []
        self.rounds: dict[int, bytes] = {}
        """The newest round of a dialog, by its number."""
        self.bodies: dict[tuple[int, int], bytes] = {}
        """The newest body of an utterance, by the number of its dialog and its position."""
        self.versions: list[Any] = []
        self.open_turns: list[Any] = []
        self.closed: list[Any] = []
        self.utterances: list[Any] = []
        self.hypotheses: list[Any] = []
        self.feed: list[Any] = []
        self.spoke: list[Any] = []
        self.requests: list[Any] = []

    def write(self, connection: sqlite3.Connection) -> None:
        """Write all rows to the file; raise `StoreError` if a turn to be closed is not open."""
        for name, statement in _STATEMENTS:
            values: list[Any] = getattr(self, name)
            if values:
                for many, part in split_rows(statement, values):
                    connection.execute(many, part)
                values.clear()
        if self.rounds:
            connection.executemany(
                SQL["set_round"], [(round_, i) for i, round_ in self.rounds.items()]
            )
            self.rounds.clear()
        if self.bodies:
            rows = [(body, *place) for place, body in self.bodies.items()]
            connection.executemany(SQL["set_body"], rows)
            self.bodies.clear()
        if self.closed:
            for many, part in split_rows(SQL["remove_open_turns"], self.closed):
                if connection.execute(many, part).rowcount != len(part) // 2:
                    raise StoreError(
                        f"turn {part[1]} is not open: it was finished already, or deleted"
                    )
            self.closed.clear()
