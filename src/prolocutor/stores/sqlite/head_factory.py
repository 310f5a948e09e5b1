"""Newcomers: people, dialogs and dialog names that are made when they are first needed."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from typing import Final

from prolocutor.contracts.store import NO_ROUND, Delivery, ProfileVersion, TurnOpening
from prolocutor.dialog import splicing
from prolocutor.stores.sqlite.head_cache import (
    MAX_WINDOW,
    DialogHead,
    HeadCache,
    MessageNumbering,
    PersonHead,
)
from prolocutor.stores.sqlite.pending_rows import PendingRows
from prolocutor.stores.sqlite.queries import named

_FEED_FLOOR: Final = named("feed_floor")

Made = TurnOpening | Delivery
"""What has the ids of a person and a dialog that do not exist yet."""


class HeadFactory:
    """Makes what is new: its rows, and the heads of it. Numbers are never given twice."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        rows: PendingRows,
        heads: HeadCache,
        last: tuple[int, int, int],
    ) -> None:
        self._connection = connection
        self._rows = rows
        self._heads = heads
        self._person, self._dialog, self._dialog_name = last

    def person(self, made: Made) -> PersonHead:
        """Make a person."""
        self._person += 1
        head = PersonHead()
        head.person, head.user = self._person, made.user
        head.human_id = made.new_human_id
        head.human = ProfileVersion(0, splicing.new_human(head.human_id, head.user))
        (head.feed,) = self._connection.execute(_FEED_FLOOR).fetchone()
        head.dialogs, head.numberings, head.open = OrderedDict(), OrderedDict(), {}
        self._rows.people += (head.person, head.user, head.human_id, head.feed)
        self._rows.versions += (head.human_id, 0, b"[]", head.human.state)
        self._heads.add(head)
        return head

    def dialog(self, person: PersonHead, made: Made, window: int | None) -> DialogHead:
        """Make a dialog, of which so many utterances are wanted in each turn."""
        self._dialog += 1
        head = DialogHead()
        head.dialog, head.name = self._dialog, made.dialog_name
        head.dialog_id, head.id = made.new_dialog_id, made.new_id
        head.bot_id = made.new_bot_id
        head.bot = ProfileVersion(0, splicing.new_bot(head.bot_id))
        head.date_start = made.date_time
        head.attributes, head.rating = made.new_dialog_attributes, b"null"
        head.round = NO_ROUND
        head.length, head.recent, head.skills = 0, [], set()
        head.keep = min(MAX_WINDOW, window or 0)
        self._rows.dialogs += (head.dialog, person.person, head.name, head.dialog_id, head.id,
                               head.bot_id, made.channel_type, head.date_start,
                               head.attributes)  # fmt: skip
        self._rows.versions += (head.bot_id, 0, b"[]", head.bot.state)
        self._heads.add_dialog(person, head)
        return head

    def numbering(self, person: PersonHead, name: str) -> MessageNumbering:
        """Return the numbering of messages under that dialog name, a new one if need be."""
        found = self._heads.numbering(person, name)
        if found is None:
            self._dialog_name += 1
            found = MessageNumbering(self._dialog_name, -1)
            self._rows.dialog_names += (self._dialog_name, person.person, name)
            self._heads.add_numbering(person, name, found)
        return found
