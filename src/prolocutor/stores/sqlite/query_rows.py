"""Rows of queries with more than a few columns; the fields are the columns, in this order."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import msgspec

from prolocutor.contracts.store import OpenedTurn, ProfileVersion
from prolocutor.dialog.ids import DialogId
from prolocutor.dialog.profile_changes import KEY_FRAME_INTERVAL, VersionRow, rebuilt
from prolocutor.errors import StoreCorrupt
from prolocutor.stores.sqlite.queries import SQL

Columns = tuple[Any, ...]
"""A row as SQLite returns it; no query hands it on without naming its columns."""


class DialogRow(msgspec.Struct, frozen=True):
    """A row of `active_dialog` and `dialog_by_number`."""

    dialog: int
    name: str
    dialog_id: DialogId
    id: str
    bot_id: str
    date_start: str
    attributes: bytes
    rated: int
    round: bytes


class DialogAndPersonRow(msgspec.Struct, frozen=True):
    """The row of `dialog_with_person`."""

    dialog_id: DialogId
    id: str
    channel_type: str
    date_start: str
    active: int
    attributes: bytes
    bot_id: str
    human_id: str


class UtteranceRow(msgspec.Struct, frozen=True):
    """A row of `last_utterances`, and of `utterances_from`, which has the hypotheses too."""

    utterance: int
    position: int
    by_bot: int
    user_version: int
    body: bytes
    hypotheses: bytes | None = None


class FeedAndOpeningRow(msgspec.Struct, frozen=True):
    """A row of the feed queries; while a turn is open, its `opening` has the message."""

    n: int
    dialog_id: DialogId
    message: bytes | None
    dialog_name: str
    id: int
    closing: bytes | None
    opening: bytes | None


class SqliteOpenedTurn(OpenedTurn, kw_only=True):
    """An opened turn with the numbers of its person and dialog in the file."""

    person: int
    dialog: int


def latest(connection: sqlite3.Connection, owner: str) -> ProfileVersion:
    """Return the newest version of a human's or bot's profile."""
    rows: list[VersionRow] = connection.execute(SQL["latest_versions"], (owner,)).fetchall()
    if not rows:
        raise StoreCorrupt(f"the profile {owner} is missing; put back a copy of the file")
    number = rows[-1][0]
    return ProfileVersion(number, rebuilt(owner, rows, {number})[number])


def states(connection: sqlite3.Connection, owner: str, numbers: Iterable[int]) -> dict[int, bytes]:
    """Return the states of these versions; at most `KEY_FRAME_INTERVAL` rows are read for each."""
    found: dict[int, bytes] = {}
    for frame, wanted in groupby(sorted(set(numbers)), lambda number: number // KEY_FRAME_INTERVAL):
        some = list(wanted)
        rows = connection.execute(
            SQL["versions_between"], (owner, frame * KEY_FRAME_INTERVAL, some[-1])
        ).fetchall()
        found |= rebuilt(owner, rows, set(some))
    return found
