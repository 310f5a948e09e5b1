"""Rows of queries with more than a few columns; the fields are the columns, in this order."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog.ids import DialogId

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
