"""HeadFactory: makes persons, dialogs and dialog names when they are first needed."""

from __future__ import annotations

import sqlite3
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


class HeadFactory:
    """Makes what is new: its rows and its heads. Numbers are never given twice."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        rows: PendingRows,
        heads: HeadCache,
        *,
        last_person: int,
        last_dialog: int,
        last_dialog_name: int,
    ) -> None:
        self._connection = connection
        self._rows = rows
        self._heads = heads
        self._person = last_person
        self._dialog = last_dialog
        self._dialog_name = last_dialog_name

    def person(self, source: TurnOpening | Delivery) -> PersonHead:
        """Make a person."""
        self._person += 1
        (feed,) = self._connection.execute(_FEED_FLOOR).fetchone()
        head = PersonHead(self._person, source.user, source.new_dialog.human_id, feed)
        head.human = ProfileVersion(0, splicing.new_human(head.human_id, head.user))
        self._rows.people += (head.person, head.user, head.human_id, head.feed)
        self._rows.versions += (head.human_id, 0, b"[]", head.human.state)
        self._heads.add(head)
        return head

    def dialog(
        self, person: PersonHead, source: TurnOpening | Delivery, window: int | None
    ) -> DialogHead:
        """Make a dialog, of which each turn asks for a window of this size."""
        self._dialog += 1
        new = source.new_dialog
        head = DialogHead()
        head.dialog, head.name = self._dialog, source.dialog_name
        head.dialog_id, head.id, head.bot_id = new.dialog_id, new.id, new.bot_id
        head.bot = ProfileVersion(0, splicing.new_bot(head.bot_id))
        head.date_start = source.date_time
        head.attributes, head.rating = new.attributes, b"null"
        head.round = NO_ROUND
        head.length, head.recent, head.skills = 0, [], set()
        head.window = min(MAX_WINDOW, window or 0)
        self._rows.dialogs += (head.dialog, person.person, head.name, head.dialog_id, head.id,
                               head.bot_id, source.channel_type, head.date_start,
                               head.attributes)  # fmt: skip
        self._rows.versions += (head.bot_id, 0, b"[]", head.bot.state)
        self._heads.add_dialog(person, head)
        return head

    def numbering(self, person: PersonHead, name: str) -> MessageNumbering:
        """Return the numbering of messages under that dialog name, a new one if there is none."""
        found = self._heads.numbering(person, name)
        if found is None:
            self._dialog_name += 1
            found = MessageNumbering(self._dialog_name, -1)
            self._rows.dialog_names += (self._dialog_name, person.person, name)
            self._heads.add_numbering(person, name, found)
        return found
