"""Profiles as chains of versions: the current one, or any earlier one, from its key frame."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from prolocutor.contracts.store import ProfileVersion
from prolocutor.dialog.profile_chain import FRAME, VersionRow, rebuilt
from prolocutor.errors import StoreCorrupt
from prolocutor.stores.sqlite.queries import named

_LATEST: Final = named("latest_versions")
_BETWEEN: Final = named("versions_between")


def latest(connection: sqlite3.Connection, owner: str) -> ProfileVersion:
    """Return the newest version of a human's or bot's profile."""
    rows: list[VersionRow] = connection.execute(_LATEST, (owner,)).fetchall()
    if not rows:
        raise StoreCorrupt(f"the profile {owner} is missing; put back a copy of the file")
    number = rows[-1][0]
    return ProfileVersion(number, rebuilt(owner, rows, {number})[number])


def states(connection: sqlite3.Connection, owner: str, numbers: Iterable[int]) -> dict[int, bytes]:
    """Return the states of these versions; at most `FRAME` rows are read for each."""
    found: dict[int, bytes] = {}
    for frame, wanted in groupby(sorted(set(numbers)), lambda number: number // FRAME):
        some = list(wanted)
        rows = connection.execute(_BETWEEN, (owner, frame * FRAME, some[-1])).fetchall()
        found |= rebuilt(owner, rows, set(some))
    return found
