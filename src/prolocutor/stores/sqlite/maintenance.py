"""Maintenance: rates and deletes; called in the writer's thread."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from struct import unpack_from
from typing import Any, Final

from prolocutor.dialog import agent_state, plain
from prolocutor.errors import NotFound
from prolocutor.stores.sqlite.head_cache import HeadCache
from prolocutor.stores.sqlite.queries import SQL, PendingRows
from prolocutor.stores.sqlite.turn_record_writer import TurnRecordWriter

PIECE_BYTES: Final = 4 << 20
"""Bytes that are looked through at once."""
_AT_ONCE: Final = 1 << 20
"""Bytes of the file that are read at once."""

_MOST_PAGES: Final = 1 << 24
"""The number of pages up to which a continued page cannot be taken for a table's page."""
_HEADERS: Final = {2: 12, 5: 12, 10: 8, 13: 8}
"""Bytes of the header of a page of a table or an index, by its kind."""

MAX_ROWS: Final = 500
"""The largest number of rows deleted by one piece of work."""
MAX_BLOCKED_TRIES: Final = 3
"""Times that other programs may hold up the overwriting of pages before it is postponed."""

_DELETE_UTTERANCES: Final = (
    SQL["delete_hypotheses"],
    SQL["delete_utterances"],
)
_DELETE_SOME: Final = {
    "versions": SQL["delete_some_versions"],
    "feed": SQL["delete_some_feed"],
    "requests": SQL["delete_some_requests"],
}

_DOOM_DIALOGS: Final = (
    SQL["doom_utterances"],
    SQL["doom_bots"],
    SQL["delete_facts"],
    SQL["delete_ratings"],
    SQL["delete_records_of_dialogs"],
    SQL["delete_spoke"],
    SQL["delete_dialogs"],
)
_DELETE_OF_DIALOG: Final = (
    SQL["delete_feed_of_dialog"],
    SQL["delete_requests_of_dialog"],
)
_DELETE_OF_USER: Final = (
    SQL["delete_entries"],
    SQL["delete_records"],
    SQL["keep_amounts_of_nobody"],
    SQL["delete_amounts_of"],
)


class PageGaps:
    """Looks through a file, piece by piece.

    `secure_delete` overwrites a row where it stands. But where SQLite moves rows to fill pages
    evenly, their bytes stay behind, in the gap between the pointers and the rows of a page (see
    "B-tree Pages" in SQLite's description of its file format). SQLite reads nothing there, and no
    statement overwrites it.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._log = f"{os.path.realpath(path)}-wal"
        self._connection = connection
        self._file = -1
        self._at = 0

    def close(self) -> None:
        """Close the file, after the connection."""
        if self._file >= 0:
            os.close(self._file)

    def begin(self) -> None:
        """Begin again with the first page."""
        if self._file < 0:
            # To close a file ends all of this process's locks on it, including SQLite's: it stays
            # open as long as the connection.
            self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        self._at = 0

    def overwrite(self) -> bool:
        """Overwrite the gaps of the next pages; return whether there are more.

        The write-ahead log has to be empty, as its pages overwrite the file later. While this
        connection may write, no other connection adds to it.
        """
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            if os.stat(self._log).st_size:
                return True
            more = self._overwrite()
        finally:
            self._connection.execute("ROLLBACK")
        self._connection.execute("PRAGMA shrink_memory")  # pages in its cache have the bytes too
        return more

    def _overwrite(self) -> bool:
        header = os.pread(self._file, 100, 0)
        (size,) = unpack_from(">H", header, 16)
        size = 65_536 if size == 1 else size
        moves_pages = any(header[52:56])
        end = os.fstat(self._file).st_size
        if moves_pages or end // size > _MOST_PAGES:
            return False
        until = min(self._at + PIECE_BYTES, end)
        while self._at < until:
            pages = memoryview(os.pread(self._file, _AT_ONCE, self._at))
            for start in range(0, len(pages) - size + 1, size):
                self._overwrite_page(pages[start : start + size], self._at + start, header[20])
            self._at += len(pages) or end
        if self._at >= end:
            os.fsync(self._file)
        return self._at < end

    def _overwrite_page(self, page: memoryview, at: int, reserved: int) -> None:
        head = 100 if at == 0 else 0
        length = _HEADERS.get(page[head])
        if length is None:
            return
        cells, content = unpack_from(">HH", page, head + 3)
        first, last = head + length + 2 * cells, content or 65_536
        if last <= len(page) - reserved and bytes(page[first:last]).strip(b"\0"):
            os.pwrite(self._file, bytes(last - first), at + first)


class Erasure:
    """The work after a noted deletion: rows and index entries are deleted, pages overwritten.

    All deletions noted so far go together; deletions noted while pages are overwritten come next.
    """

    def __init__(
        self, connection: sqlite3.Connection, records: TurnRecordWriter, gaps: PageGaps | None
    ) -> None:
        self._connection = connection
        self._records = records
        self._gaps = gaps
        (remains,) = connection.execute(SQL["remains"]).fetchone()
        self.remains = bool(remains)
        """Whether pages of the file may still hold deleted data."""
        self.due = False
        """Whether pages are to be overwritten after this transaction."""
        self._noted = self._overwriting = self._through = False
        self._blocked = 0

    def note(self) -> None:
        """Note a deletion: its bytes may be in the file."""
        self._connection.execute(SQL["set_remains"], (1,))
        self.remains = self._noted = True

    def doom(self, what: str, key: int | str) -> None:
        """Have rows deleted soon, to which nothing leads any more."""
        self._connection.execute(SQL["doom"], (what, key))

    def erase(self) -> bool:
        """Do the next piece; return whether there is more."""
        if not self.remains or self._through:
            self._through = False
            return False
        if not self._overwriting:
            if self._delete_rows() or self._records.erase_words():
                return True
            self._noted, self._overwriting, self._blocked = False, True, 0
            if self._gaps is not None:
                self._gaps.begin()
        self.due = True
        return True

    def overwrite(self, cut_log: Callable[[], bool]) -> None:
        """Overwrite unused parts of some pages; `cut_log` says whether nothing is in the log."""
        self.due = False
        self._blocked += 1
        self._through = self._blocked >= MAX_BLOCKED_TRIES
        self._overwriting = not self._through
        if self._gaps is not None:
            if not cut_log():
                return
            self._blocked = 0
            if self._gaps.overwrite():
                self._overwriting, self._through = True, False
                return
        self._overwriting, self._through = False, True
        if not self._noted:
            self._connection.execute(SQL["set_remains"], (0,))
            self.remains = False

    def _delete_rows(self) -> bool:
        """Delete some of the doomed rows; return whether there were any."""
        found = self._connection.execute(SQL["next_doom"], (MAX_ROWS,)).fetchall()
        left = MAX_ROWS
        for doom, what, key in found:
            deleted = self._delete_some(what, key, left)
            if deleted >= left:
                break
            self._connection.execute(SQL["done_doom"], (doom,))
            left -= deleted + 1
            if left <= 0:
                break
        return bool(found)

    def _delete_some(self, what: str, key: Any, most: int) -> int:
        """Delete at most so many rows; return the number, which is lower if no rows are left."""
        execute = self._connection.execute
        if what != "utterances":
            deleted = execute(_DELETE_SOME[what], (key, most)).rowcount
            if what == "feed" and deleted < most:
                execute(SQL["delete_dialog_names"], (key,))
            return deleted
        first = execute(SQL["doomed_from"], (key, most - 1)).fetchone()
        place = (key, -1 if first is None else first[0] - 1)
        self._records.forget(*place)
        return [execute(statement, place).rowcount for statement in _DELETE_UTTERANCES][-1]


class Maintenance:
    """Changes dialogs outside of their turns.

    It reads the file and not the head cache. So pending rows are written first, and the heads of
    affected persons are dropped from the cache.
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
        if not self._rate(SQL["dialog_to_rate"], dialog_id, rating, user, at):
            raise NotFound(f"there is no dialog {dialog_id}", field="dialog_id")

    def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the utterance's."""
        if not self._rate(SQL["utterance_to_rate"], utt_id, rating, user, at):
            raise NotFound(f"there is no utterance {utt_id}", field="utt_id")

    def delete_person(self, user: str) -> bool:
        """Delete a person with all of their data; return False if unknown.

        Numerous rows are deleted later by the `Erasure`, and cannot be found meanwhile. The highest
        feed number stays as the floor of new feeds.
        """
        self._rows.write(self._connection)
        execute = self._connection.execute
        beside = sum(execute(statement, (user,)).rowcount for statement in _DELETE_OF_USER)
        head = self._heads.person(user)
        if head is None:
            if beside:
                self._erasure.note()
            return beside > 0
        execute(SQL["raise_meta_floor"], (head.feed,))
        self._doom([dialog for (dialog,) in execute(SQL["dialogs_of_person"], (head.person,))])
        self._erasure.doom("feed", head.person)
        self._erasure.doom("requests", head.person)
        self._erasure.doom("versions", head.human_id)
        execute(SQL["delete_open_turns"], (head.person,))
        execute(SQL["delete_person"], (head.person,))
        self._heads.drop(user)
        return True

    def delete_dialogs(self, dialogs: list[int], before: str) -> int:
        """Delete the dialogs with a last utterance older than `before`."""
        self._rows.write(self._connection)
        deleted = []
        for dialog in dialogs:
            row = self._connection.execute(SQL["deletable_dialog"], (dialog, before)).fetchone()
            if row is None:
                continue
            (user,) = row
            head = self._heads.person(user)
            if head is None:
                continue
            self._connection.execute(SQL["raise_feed_floor"], (head.feed, head.person))
            self._connection.execute(SQL["raise_id_floor"], (head.person, dialog))
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
        shown = agent_state.rating(rating, user, at)
        value = plain.encode(rating).decode()
        self._connection.execute(SQL["add_rating"], (dialog, utterance, value, shown))
        self._connection.execute(SQL["mark_rated"], (dialog,))
        if utterance is not None:
            self._records.note_rating(utterance, dialog, rating)
        self._heads.drop(owner)
        return True

    def _doom(self, dialogs: list[int]) -> None:
        """Delete dialogs, and have their utterances and their bots' profiles deleted soon."""
        for statement in _DOOM_DIALOGS:
            self._connection.execute(statement, (json.dumps(dialogs),))
        self._records.dialogs_deleted()
        self._erasure.note()
