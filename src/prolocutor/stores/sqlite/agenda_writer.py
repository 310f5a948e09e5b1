"""AgendaWriter: writes the agenda and the records; called in the writer's thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from prolocutor.contracts.store import MAX_AGENDA_ENTRIES, AgendaEntry
from prolocutor.stores.sqlite.queries import named

_PUT: Final = named("put_entry")
_TAKE: Final = named("take_entry")
_TAKE_AS_GIVEN: Final = named("take_entry_as_given")
_COUNT: Final = named("count_entries")
_EARLIEST: Final = named("earliest_entry")
_TO_DROP: Final = named("entry_to_drop")
_DROP: Final = named("drop_entry")
_COUNT_DROPPED: Final = named("count_dropped")
_PUT_RECORD: Final = named("put_record")
_DIALOG_OF: Final = named("dialog_about")
_DELETE_RECORD: Final = named("delete_record")


class AgendaWriter:
    """The agenda and the records of all persons; nothing of them is cached."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry; beyond the limit one of the others is removed, and counted."""
        self.strike(entry.user, entry.skill, entry.key)
        dropped = self._make_room(entry.user, limit)
        self._execute(_PUT, _values(entry))
        if dropped:
            number, _ = self._execute(_EARLIEST, (entry.user,)).fetchone()
            self._execute(_COUNT_DROPPED, (dropped, number))

    def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; return False if there is none."""
        return self._execute(_TAKE, (user, skill, key)).rowcount > 0

    def change(
        self, user: str, struck: Iterable[tuple[str, str]], entries: Iterable[AgendaEntry]
    ) -> None:
        """Take entries off, by skill and key, and write others."""
        for skill, key in struck:
            self.strike(user, skill, key)
        for entry in entries:
            self.schedule(entry)

    def settle(self, entry: AgendaEntry | None, again: AgendaEntry | None) -> bool:
        """Take the entry off, or replace it by `again`; return False if it is not as given."""
        if entry is not None and not self._execute(_TAKE_AS_GIVEN, _values(entry)).rowcount:
            return False
        if again is not None:
            self.schedule(again)
        return True

    def put_record(self, user: str, kind: str, key: str, body: bytes, about: str = "") -> None:
        """Write a document, in place of the one of this kind and key."""
        found = self._execute(_DIALOG_OF, (about,)).fetchone() if about else None
        self.add_record(user, kind, key, body, None if found is None else found[0])

    def add_record(self, user: str, kind: str, key: str, body: bytes, dialog: int | None) -> None:
        """Write a document that is deleted with the dialog of this number."""
        self._execute(_PUT_RECORD, (user, kind, key, body, dialog))

    def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; return False if there is none."""
        return self._execute(_DELETE_RECORD, (user, kind, key)).rowcount > 0

    def _make_room(self, user: str, limit: int) -> int:
        """Drop entries so that one more can be written; return how many were dropped."""
        (count,) = self._execute(_COUNT, (user,)).fetchone()
        gone = 0
        for _ in range(count - max(1, limit) + 1):
            number, dropped = self._execute(_TO_DROP, (user,)).fetchone()
            self._execute(_DROP, (number,))
            gone += dropped + 1
        return gone


def _values(entry: AgendaEntry) -> tuple[str, str, str, str, float, bytes, int]:
    """Return the columns of an entry, in the order of the statements."""
    return (
        entry.user,
        entry.skill,
        entry.key,
        entry.dialog_name,
        entry.due,
        entry.body,
        entry.dropped,
    )
