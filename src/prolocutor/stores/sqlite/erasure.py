"""Erasure: deletes what is doomed, piece by piece, and overwrites what is left of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Final

from prolocutor.stores.sqlite.page_gaps import PageGaps
from prolocutor.stores.sqlite.queries import named
from prolocutor.stores.sqlite.turn_record_writer import TurnRecordWriter

ROWS: Final = 500
"""Rows that one piece deletes at most."""
BLOCKED: Final = 3
"""How often other programs may hold up the overwriting of pages until it is left for later."""

_DOOM: Final = named("doom")
_NEXT: Final = named("next_doom")
_DONE: Final = named("done_doom")
_FROM: Final = named("doomed_from")
_DELETE_UTTERANCES: Final = (named("delete_hypotheses"), named("delete_utterances"))
_DELETE_SOME: Final = {
    "versions": named("delete_some_versions"),
    "feed": named("delete_some_feed"),
    "requests": named("delete_some_requests"),
}
_DELETE_NAMES: Final = named("delete_dialog_names")
_REMAINS: Final = named("remains")
_SET_REMAINS: Final = named("set_remains")


class Erasure:
    """What happens once a deletion has been noted: rows are deleted, the index, pages overwritten.

    All that was noted before goes together; what is noted while pages are overwritten goes next.
    """

    def __init__(
        self, connection: sqlite3.Connection, records: TurnRecordWriter, gaps: PageGaps | None
    ) -> None:
        self._connection = connection
        self._records = records
        self._gaps = gaps
        (remains,) = connection.execute(_REMAINS).fetchone()
        self.remains = bool(remains)
        """Whether the file may hold what was deleted."""
        self.due = False
        """Whether pages are to be overwritten after this transaction."""
        self._noted = self._overwriting = self._through = False
        self._blocked = 0

    def note(self) -> None:
        """Note that something was deleted: its bytes may be in the file."""
        self._connection.execute(_SET_REMAINS, (1,))
        self.remains = self._noted = True

    def doom(self, what: str, key: int | str) -> None:
        """Have rows deleted soon, to which nothing leads any more."""
        self._connection.execute(_DOOM, (what, key))

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
        self._through = self._blocked >= BLOCKED
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
            self._connection.execute(_SET_REMAINS, (0,))
            self.remains = False

    def _delete_rows(self) -> bool:
        """Delete some of the doomed rows; return whether there were any."""
        found = self._connection.execute(_NEXT, (ROWS,)).fetchall()
        left = ROWS
        for doom, what, key in found:
            deleted = self._delete_some(what, key, left)
            if deleted >= left:
                break
            self._connection.execute(_DONE, (doom,))
            left -= deleted + 1
            if left <= 0:
                break
        return bool(found)

    def _delete_some(self, what: str, key: Any, most: int) -> int:
        """Delete so many rows at most; return how many, fewer where those were all."""
        execute = self._connection.execute
        if what != "utterances":
            deleted = execute(_DELETE_SOME[what], (key, most)).rowcount
            if what == "feed" and deleted < most:
                execute(_DELETE_NAMES, (key,))
            return deleted
        first = execute(_FROM, (key, most - 1)).fetchone()
        place = (key, -1 if first is None else first[0] - 1)
        self._records.forget(*place)
        return [execute(statement, place).rowcount for statement in _DELETE_UTTERANCES][-1]
