"""An opened turn as the SQLite store returns it."""

from __future__ import annotations

from prolocutor.contracts.store import OpenedTurn


class SqliteOpenedTurn(OpenedTurn, kw_only=True):
    """An opened turn with the numbers of its person and dialog in the file."""

    person: int
    dialog: int
