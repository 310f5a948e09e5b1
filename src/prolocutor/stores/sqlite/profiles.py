"""Profiles as chains of versions: the current one, or any earlier one, from its key frame."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from prolocutor.contracts.store import ProfileVersion
from prolocutor.dialog import plain
from prolocutor.dialog.profiles import apply_changes
from prolocutor.errors import StoreCorrupt
from prolocutor.stores.sqlite.queries import named

FRAME: Final = 16
"""One version in so many is a key frame: it has the whole state."""

_LATEST: Final = named("latest_versions")
_BETWEEN: Final = named("versions_between")

_Row = tuple[int, bytes, bytes | None]


def latest(connection: sqlite3.Connection, owner: str) -> ProfileVersion:
    """Return the newest version of a human's or bot's profile."""
    rows: list[_Row] = connection.execute(_LATEST, (owner,)).fetchall()
    if not rows:
        raise StoreCorrupt(f"the profile {owner} is missing; put back a copy of the file")
    number = rows[-1][0]
    return ProfileVersion(number, _rebuilt(owner, rows, {number})[number])


def states(connection: sqlite3.Connection, owner: str, numbers: Iterable[int]) -> dict[int, bytes]:
    """Return the states of these versions; at most `FRAME` rows are read for each."""
    found: dict[int, bytes] = {}
    for frame, wanted in groupby(sorted(set(numbers)), lambda number: number // FRAME):
        some = list(wanted)
        rows = connection.execute(_BETWEEN, (owner, frame * FRAME, some[-1])).fetchall()
        found |= _rebuilt(owner, rows, set(some))
    return found


def _rebuilt(owner: str, rows: list[_Row], wanted: set[int]) -> dict[int, bytes]:
    frame = rows[0][2] if rows else None
    if frame is None or wanted - {number for number, _, _ in rows}:
        raise StoreCorrupt(f"versions of the profile {owner} are missing; put back a copy")
    found = {rows[0][0]: frame}
    if wanted != found.keys():
        state = plain.decode(frame)
        for number, changes, _ in rows[1:]:
            apply_changes(state, plain.decode(changes))
            if number in wanted:
                found[number] = plain.encode(state)
    return found
