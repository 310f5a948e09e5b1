"""The agenda and the records of the in-memory store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from msgspec import structs

from prolocutor.contracts.store import (
    MAX_AGENDA_ENTRIES,
    AgendaEntry,
    Amount,
    Delivery,
    RecordChange,
    StoredDocument,
)
from tests.model_store.state import ModelState, NumberedEntry


class ModelAgendaStore:
    """Implements `AgendaStore` and `RecordStore`."""

    def __init__(self, state: ModelState) -> None:
        self._state = state

    async def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry, in place of one of the same user, skill and key."""
        put_entry(self._state, entry, limit)

    async def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; return False if there is none."""
        return take_entry(self._state, user, skill, key)

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        """Return the entries with `due <= now`, earliest first."""
        everyone = self._state.agenda.values()
        return _earliest_first(
            their for theirs in everyone for their in theirs.values() if their.entry.due <= now
        )[:limit]

    async def next_due(self, after: float) -> float | None:
        """Return the earliest `due` later than `after`."""
        everyone = self._state.agenda.values()
        dues = (their.entry.due for theirs in everyone for their in theirs.values())
        return min((due for due in dues if due > after), default=None)

    async def entries(self, user: str, skill: str | None = None) -> list[AgendaEntry]:
        """Return a person's entries (of one skill), earliest first."""
        theirs = self._state.agenda.get(user, {}).values()
        return _earliest_first(their for their in theirs if skill in (None, their.entry.skill))

    async def deliver(self, delivery: Delivery) -> bool:
        """Write the messages and settle the entry; return False if it is gone or changed."""
        state, entry = self._state, delivery.entry
        if entry is not None:
            numbered = state.agenda.get(entry.user, {}).get((entry.skill, entry.key))
            if numbered is None or numbered.entry != entry:
                return False
            take_entry(state, entry.user, entry.skill, entry.key)
        if delivery.again is not None:
            put_entry(state, delivery.again)
        change(state, delivery.user, delivery.struck, delivery.entries)
        if delivery.messages or delivery.round is not None:
            person = state.person_for(delivery)
            dialog = state.dialog_for(person, delivery)
            person.add_rows(dialog, delivery.messages, delivery.closing)
            if delivery.round is not None:
                dialog.round = delivery.round
        return True

    async def put_record(
        self, user: str, kind: str, key: str, body: bytes, about: str = ""
    ) -> None:
        """Write a document, in place of the one of this kind and key."""
        self._state.put_record(user, kind, key, body, about)

    async def records_since(
        self, kind: str, after: int = 0, limit: int = 10_000
    ) -> list[StoredDocument]:
        """Return the latest documents of a kind with numbers above `after`."""
        found = [
            StoredDocument(number, user, key, self._state.records[user][kind][key])
            for (user, its, key), (number, _) in self._state.numbers.items()
            if its == kind and number > after
            if key in self._state.records.get(user, {}).get(kind, {})
        ]
        return sorted(found, key=attrgetter("number"))[-limit:]

    async def record_count(self, kind: str) -> int:
        """Return how many documents of a kind there are."""
        return sum(len(kinds.get(kind, {})) for kinds in self._state.records.values())

    async def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key, in the order in which they were first written."""
        return dict(self._state.records.get(user, {}).get(kind, {}))

    async def record(self, user: str, kind: str, key: str) -> bytes | None:
        """Return one document."""
        return self._state.records.get(user, {}).get(kind, {}).get(key)

    async def change_records(self, changes: Sequence[RecordChange]) -> bool:
        """Make all of the changes, or none."""
        known = {one: await self.record(one.user, one.kind, one.key) for one in changes}
        if any(body not in (one.before, one.after) for one, body in known.items()):
            return False
        for one in changes:
            if one.after is None:
                await self.delete_record(one.user, one.kind, one.key)
            else:
                await self.put_record(one.user, one.kind, one.key, one.after, one.about)
        return True

    async def add_amounts(self, added: Sequence[Amount]) -> list[float] | int:
        """Add all of the amounts, or none."""
        sums = []
        for place, one in enumerate(added):
            total = self._sum(one)[0] + one.amount
            if one.limit is not None and total > one.limit:
                return place
            sums.append(total)
        for one in added:
            amount, number = self._sum(one)
            self._state.amounts[one.kind, one.period, one.user, one.name] = (
                amount + one.amount,
                number + one.number,
            )
        return sums

    def _sum(self, one: Amount) -> tuple[float, int]:
        return self._state.amounts.get((one.kind, one.period, one.user, one.name), (0.0, 0))

    async def amounts(self, kind: str, first: str, last: str) -> list[Amount]:
        """Return the sums of a kind in some periods."""
        return [
            Amount(its, user, name, period, *found)
            for (its, period, user, name), found in sorted(self._state.amounts.items())
            if its == kind and first <= period <= last
        ]

    async def delete_amounts(self, kind: str, before: str) -> None:
        """Delete the sums of a kind in earlier periods."""
        for key in [key for key in self._state.amounts if key[0] == kind and key[1] < before]:
            del self._state.amounts[key]

    async def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; return False if there is none."""
        kinds = self._state.records.get(user, {})
        if kinds.get(kind, {}).pop(key, None) is None:
            return False
        if not kinds[kind]:
            del kinds[kind]
        return True


def change(
    state: ModelState, user: str, struck: Iterable[tuple[str, str]], entries: Iterable[AgendaEntry]
) -> None:
    """Take entries off, by skill and key, and write others."""
    for skill, key in struck:
        take_entry(state, user, skill, key)
    for entry in entries:
        put_entry(state, entry)


def put_entry(state: ModelState, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
    """Write an entry; beyond the limit one of the others is removed, and counted."""
    take_entry(state, entry.user, entry.skill, entry.key)
    theirs = state.agenda.setdefault(entry.user, {})
    dropped = 0
    while theirs and len(theirs) >= limit:
        gone = _to_drop(list(theirs.values()))
        del theirs[gone.skill, gone.key]
        dropped += gone.dropped + 1
    state.entry_count += 1
    theirs[entry.skill, entry.key] = NumberedEntry(entry, state.entry_count)
    if dropped:
        first = _earliest_first(theirs.values())[0]
        counted = structs.replace(first, dropped=first.dropped + dropped)
        number = theirs[first.skill, first.key].number
        theirs[first.skill, first.key] = NumberedEntry(counted, number)


def take_entry(state: ModelState, user: str, skill: str, key: str) -> bool:
    """Take an entry off the agenda; return False if there is none."""
    return state.agenda.get(user, {}).pop((skill, key), None) is not None


def _to_drop(numbered: list[NumberedEntry]) -> AgendaEntry:
    """Return the earliest entry of the skill that has most."""
    skills: dict[str, list[NumberedEntry]] = {}
    for one in numbered:
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


def _earliest_first(numbered: Iterable[NumberedEntry]) -> list[AgendaEntry]:
    return [one.entry for one in sorted(numbered, key=lambda one: (one.entry.due, one.number))]
