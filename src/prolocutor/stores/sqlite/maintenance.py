"""Maintenance: rates and deletes; called in the writer's thread."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from prolocutor.dialog import plain, splicing
from prolocutor.errors import NotFound
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
_DELETE_DIALOG: Final = (
    named("delete_hypotheses"),
    named("delete_utterances"),
    named("delete_ratings"),
    named("delete_spoke"),
    named("delete_bot"),
    named("delete_dialog"),
)
_DELETE_OF_DIALOG: Final = (named("delete_feed_of_dialog"), named("delete_requests_of_dialog"))
_DELETE_OF_PERSON: Final = (
    named("delete_feed"),
    named("delete_requests"),
    named("delete_open_turns"),
    named("delete_dialog_names"),
    named("delete_person"),
)
_DELETE_OF_USER: Final = (named("delete_entries"), named("delete_records"))
_DELETE_HUMAN: Final = named("delete_human")


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
    ) -> None:
        self._records = records
        self._connection = connection
        self._rows = rows
        self._heads = heads
        self.deleted = False
        """Whether something was deleted since the write-ahead log was last cut."""
        self.remains = False
        """Whether the write-ahead log may still hold what was deleted."""

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

        What is deleted is overwritten with zeros in the file (`secure_delete`), and the write-ahead
        log, which may still hold old pages, is checkpointed and truncated before this returns, or
        soon after if another process is reading the file. Below the file, the file system and the
        device may keep old blocks; backups are the operator's. The highest feed number stays as
        the floor of new feeds.
        """
        self._rows.write(self._connection)
        execute = self._connection.execute
        beside = sum(execute(statement, (user,)).rowcount for statement in _DELETE_OF_USER)
        head = self._heads.person(user)
        if head is None:
            if beside:
                self.deleted = self.remains = True
            return beside > 0
        execute(_RAISE_META_FLOOR, (head.feed,))
        for (dialog,) in execute(_DIALOGS_OF_PERSON, (head.person,)).fetchall():
            self._delete_dialog(dialog)
        execute(_DELETE_HUMAN, (head.human_id,))
        for statement in _DELETE_OF_PERSON:
            execute(statement, (head.person,))
        self._heads.drop(user)
        self.deleted = self.remains = True
        return True

    def delete_dialogs(self, dialogs: list[int], before: str) -> int:
        """Delete those of the dialogs whose last utterance is older than `before`."""
        self._rows.write(self._connection)
        deleted = 0
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
            self._delete_dialog(dialog)
            self._heads.drop(head.user)
            self.deleted = self.remains = True
            deleted += 1
        return deleted

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

    def _delete_dialog(self, dialog: int) -> None:
        self._records.forget(dialog)
        for statement in _DELETE_DIALOG:
            self._connection.execute(statement, (dialog,))
