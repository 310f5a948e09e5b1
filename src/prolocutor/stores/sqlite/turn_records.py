"""Records of turns in the SQLite store: written by its writer, read in a thread of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, TypeVarTuple

from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store.turn_record_store import (
    AgentSpan,
    ConversationCounts,
    ConversationHead,
    ConversationPage,
    ConversationQuery,
    ConversationTurn,
    DialogPlace,
    KeptTurn,
    TurnHour,
)
from prolocutor.stores.sqlite.turn_record_reader import TurnRecordReader
from prolocutor.stores.sqlite.worker_thread import JobWorker
from prolocutor.stores.sqlite.writer import SqliteWriter

T = TypeVar("T")
Args = TypeVarTuple("Args")


class SqliteTurnRecords:
    """Implements `TurnRecordStore`.

    What operators search for takes longer than what turns and doors read, so `reading` has a
    thread of its own.
    """

    def __init__(
        self,
        writer: SqliteWriter,
        writing: Callable[[], JobWorker],
        reader: TurnRecordReader,
        reading: Callable[[], Awaitable[JobWorker]],
    ) -> None:
        self._writer = writer
        self._writing = writing
        self._reader = reader
        self._reading = reading

    async def add(self, records: Sequence[TurnRecord], *, slow: float) -> None:
        """Keep records."""
        await self._writing().submit(self._writer.turn_records.add, records, slow)

    async def tend(self, *, now: float, keep: float, most: int) -> bool:
        """Do a bounded piece of what is due; return whether there is more."""
        return await self._writing().submit(self._writer.turn_records.tend, now, keep, most)

    async def conversations(
        self, query: ConversationQuery, after: DialogPlace | None, limit: int
    ) -> ConversationPage:
        """Return the dialogs that match, from the place `after` on."""
        return await self._read(self._reader.found_conversations, query, after, limit)

    async def counts(self, query: ConversationQuery) -> ConversationCounts:
        """Count the dialogs that match, whatever the query's own flag."""
        return await self._read(self._reader.counts, query)

    async def hours(self, since: float, until: float) -> list[TurnHour]:
        """Return the hours that have turns, ascending."""
        return await self._read(self._reader.hours, since, until)

    async def figures(
        self, since: float, until: float, agent: str | None = None
    ) -> list[AgentSpan]:
        """Return what agents (one of them) did, by time, then by name."""
        return await self._read(self._reader.figures, since, until, agent)

    async def totals(self, since: float, until: float) -> list[AgentSpan]:
        """Return what agents did in all, by name."""
        return await self._read(self._reader.totals, since, until)

    async def head(self, dialog_id: str) -> ConversationHead | None:
        """Return a dialog by its id."""
        return await self._read(self._reader.conversation_head, dialog_id)

    async def turns(
        self, dialog_id: str, after: int | None, limit: int, *, newest: bool = False
    ) -> list[ConversationTurn]:
        """Return turns of a dialog."""
        return await self._read(self._reader.turns, dialog_id, after, limit, newest)

    async def turn(self, utt_id: str) -> KeptTurn | None:
        """Return the turn whose reply has this id."""
        return await self._read(self._reader.kept_turn, utt_id)

    async def _read(self, function: Callable[[*Args], T], *args: *Args) -> T:
        return await (await self._reading()).submit(function, *args)
