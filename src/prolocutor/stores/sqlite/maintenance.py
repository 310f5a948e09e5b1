"""Maintenance: rates and deletes; called in the writer's thread."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Final

from prolocutor.dialog import plain, splicing
from prolocutor.errors import NotFound
from prolocutor.stores.sqlite.erasure import Erasure
from prolocutor.stores.sqlite.head_cache import HeadCache
from prolocutor.stores.sqlite.pending_rows import PendingRows
from prolocutor.stores.sqlite.queries import named
from prolocutor.stores.sqlite.turn_record_writer import TurnRecordWriter

_DIALOG_TO_RATE: Final = named("dialog_to_rate")
_UTTERANCE_TO_RATE: Final = named("utterance_to_rate")
_ADD_RATING: Final = named("add_rating")
_MARK_RATED: Final = named("mark_rated")
_DIALOGS_OF_PERSON: Final = named("dialogs_of_person")
_DELETABLE: Final = named("deletable_dialog")
_RAISE_META_FLOOR: Final = named("raise_meta_floor")
_RAISE_FEED_FLOOR: Final = named("raise_feed_floor")
_RAISE_ID_FLOOR: Final = named("raise_id_floor")
_DOOM_DIALOGS: Final = (
    named("doom_utterances"),
    named("doom_bots"),
    named("delete_facts"),
    named("delete_ratings"),
    named("delete_records_of_dialogs"),
    named("delete_spoke"),
    named("delete_dialogs"),
)
_DELETE_OF_DIALOG: Final = (named("delete_feed_of_dialog"), named("delete_requests_of_dialog"))
_DELETE_OPEN_TURNS: Final = named("delete_open_turns")
_DELETE_PERSON: Final = named("delete_person")
_DELETE_OF_USER: Final = (named("delete_entries"), named("delete_records"))


class Maintenance:
    """Changes dialogs outside of their turns.

    It reads the file and not the head cache. So pending rows are written first, and the heads of
    the persons whose dialogs it changes are dropped from the cache.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        rows: PendingRows,
        heads: HeadCache,
        records: TurnRecordWriter,
        erasure: Erasure,
    ) -> None:
        self._records = records
        self._erasure = erasure
        self._connection = connection
        self._rows = rows
        self._heads = heads

    def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the dialog's."""
        if not self._rate(_DIALOG_TO_RATE, dialog_id, rating, user, at):
            raise NotFound(f"there is no dialog {dialog_id}", field="dialog_id")

    def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the utterance's."""
        if not self._rate(_UTTERANCE_TO_RATE, utt_id, rating, user, at):
            raise NotFound(f"there is no utterance {utt_id}", field="utt_id")

    def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs; return False if unknown.

        What there is much of is deleted by the `Erasure`, and nobody finds it meanwhile. The
        highest feed number stays as the floor of new feeds.
        """
        self._rows.write(self._connection)
        execute = self._connection.execute
        beside = sum(execute(statement, (user,)).rowcount for statement in _DELETE_OF_USER)
        head = self._heads.person(user)
        if head is None:
            if beside:
                self._erasure.note()
            return beside > 0
        execute(_RAISE_META_FLOOR, (head.feed,))
        self._doom([dialog for (dialog,) in execute(_DIALOGS_OF_PERSON, (head.person,))])
        self._erasure.doom("feed", head.person)
        self._erasure.doom("requests", head.person)
        self._erasure.doom("versions", head.human_id)
        execute(_DELETE_OPEN_TURNS, (head.person,))
        execute(_DELETE_PERSON, (head.person,))
        self._heads.drop(user)
        return True

    def delete_dialogs(self, dialogs: list[int], before: str) -> int:
        """Delete those of the dialogs whose last utterance is older than `before`."""
        self._rows.write(self._connection)
        deleted = []
        for dialog in dialogs:
            row = self._connection.execute(_DELETABLE, (dialog, before)).fetchone()
            if row is None:
                continue
            (user,) = row
            head = self._heads.person(user)
            if head is None:
                continue
            self._connection.execute(_RAISE_FEED_FLOOR, (head.feed, head.person))
            self._connection.execute(_RAISE_ID_FLOOR, (head.person, dialog))
            for statement in _DELETE_OF_DIALOG:
                self._connection.execute(statement, (head.person, dialog))
            self._heads.drop(head.user)
            deleted.append(dialog)
        if deleted:
            self._doom(deleted)
        return len(deleted)

    def _rate(self, find: str, id_: str, rating: Any, user: str | None, at: str) -> bool:
        self._rows.write(self._connection)
        row = self._connection.execute(find, (id_,)).fetchone()
        if row is None:
            return False
        dialog, utterance, owner = row
        shown = splicing.rating(rating, user, at)
        value = plain.encode(rating).decode()
        self._connection.execute(_ADD_RATING, (dialog, utterance, value, shown))
        self._connection.execute(_MARK_RATED, (dialog,))
        if utterance is not None:
            self._records.rated(utterance, dialog, rating)
        self._heads.drop(owner)
        return True

    def _doom(self, dialogs: list[int]) -> None:
        """Delete dialogs, and have their utterances and their bots' profiles deleted soon."""
        for statement in _DOOM_DIALOGS:
            self._connection.execute(statement, (json.dumps(dialogs),))
        self._records.dialogs_deleted()
        self._erasure.note()
