"""The agenda and the records, kept in dictionaries."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from prolocutor.contracts.store import MAX_AGENDA_ENTRIES, AgendaEntry, Delivery
from prolocutor.stores.memory.state import MemoryState, NumberedEntry


class MemoryAgendaStore:
    """Keeps the promises `AgendaStore` and `RecordStore`."""

    def __init__(self, kept: MemoryState) -> None:
        self._kept = kept

    async def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry, in place of one of the same user, skill and key."""
        put_entry(self._kept, entry, limit)

    async def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; False if there is none."""
        return take_entry(self._kept, user, skill, key)

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        """Return the entries with `due <= now`, earliest first."""
        people = self._kept.agenda.values()
        return _earliest_first(
            one for theirs in people for one in theirs.values() if one.entry.due <= now
        )[:limit]

    async def next_due(self, after: float) -> float | None:
        """Return the earliest `due` later than `after`."""
        people = self._kept.agenda.values()
        dues = (one.entry.due for theirs in people for one in theirs.values())
        return min((due for due in dues if due > after), default=None)

    async def entries(self, user: str, skill: str | None = None) -> list[AgendaEntry]:
        """Return a person's entries (of one skill), earliest first."""
        theirs = self._kept.agenda.get(user, {}).values()
        return _earliest_first(one for one in theirs if skill in (None, one.entry.skill))

    async def deliver(self, delivery: Delivery) -> bool:
        """Say it and settle its entry; False if the entry is gone or changed."""
        kept, entry = self._kept, delivery.entry
        if entry is not None:
            noted = kept.agenda.get(entry.user, {}).get((entry.skill, entry.key))
            if noted is None or noted.entry != entry:
                return False
            take_entry(kept, entry.user, entry.skill, entry.key)
        if delivery.again is not None:
            put_entry(kept, delivery.again)
        change(kept, delivery.user, delivery.struck, delivery.entries)
        if delivery.messages or delivery.round is not None:
            person = kept.person_for(delivery)
            dialog = kept.dialog_for(person, delivery)
            person.say_all(dialog, delivery.messages, delivery.closing)
            if delivery.round is not None:
                dialog.round = delivery.round
        return True

    async def put_record(self, user: str, kind: str, key: str, body: bytes) -> None:
        """Write a document, in place of the one of this kind and key."""
        self._kept.records.setdefault(user, {}).setdefault(kind, {})[key] = body

    async def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key, in the order in which they were first written."""
        return dict(self._kept.records.get(user, {}).get(kind, {}))

    async def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; False if there is none."""
        kinds = self._kept.records.get(user, {})
        if kinds.get(kind, {}).pop(key, None) is None:
            return False
        if not kinds[kind]:
            del kinds[kind]
        return True


def change(
    kept: MemoryState, user: str, struck: Iterable[tuple[str, str]], entries: Iterable[AgendaEntry]
) -> None:
    """Take entries off, by skill and key, and write others."""
    for skill, key in struck:
        take_entry(kept, user, skill, key)
    for entry in entries:
        put_entry(kept, entry)


def put_entry(kept: MemoryState, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
    """Write an entry; beyond the limit one of the others goes, and is counted."""
    take_entry(kept, entry.user, entry.skill, entry.key)
    theirs = kept.agenda.setdefault(entry.user, {})
    dropped = 0
    while theirs and len(theirs) >= limit:
        gone = _to_drop(list(theirs.values()))
        del theirs[gone.skill, gone.key]
        dropped += gone.dropped + 1
    kept.noted += 1
    theirs[entry.skill, entry.key] = NumberedEntry(entry, kept.noted)
    if dropped:
        first = _earliest_first(theirs.values())[0]
        counted = structs.replace(first, dropped=first.dropped + dropped)
        number = theirs[first.skill, first.key].number
        theirs[first.skill, first.key] = NumberedEntry(counted, number)


def take_entry(kept: MemoryState, user: str, skill: str, key: str) -> bool:
    """Take an entry off the agenda; False if there is none."""
    return kept.agenda.get(user, {}).pop((skill, key), None) is not None


def _to_drop(noted: list[NumberedEntry]) -> AgendaEntry:
    """Return the earliest entry of the skill that has most."""
    skills: dict[str, list[NumberedEntry]] = {}
    for one in noted:
        skills.setdefault(one.entry.skill, []).append(one)
    most = min(
        skills.values(),
        key=lambda own: (
            -len(own),
            min(one.entry.due for one in own),
            min(one.number for one in own),
        ),
    )
    return _earliest_first(most)[0]


def _earliest_first(noted: Iterable[NumberedEntry]) -> list[AgendaEntry]:
    return [one.entry for one in sorted(noted, key=lambda one: (one.entry.due, one.number))]
