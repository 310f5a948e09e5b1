"""MemoryStore: SQLite without a file, for tests and for assistants that need not remember."""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.contracts.store import AnsweredRequest, OpenedTurn, TurnClosing, TurnOpening
from prolocutor.contracts.store.store_options import StoreContext
from prolocutor.errors import StoreError
from prolocutor.stores.sqlite.connection import MEMORY
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.stores.sqlite.worker_thread import InlineWorker, JobWorker

TOGETHER: Final = 64
"""Trips of turns whose rows are written together."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Dialogs in memory, which end with the process."""

    @classmethod
    def from_url(cls, url: str) -> Memory:
        """Read `memory:`."""
        del url
        return cls()

    def build(self, context: StoreContext) -> MemoryStore:
        """Return the store; nothing of it is durable."""
        del context
        return MemoryStore()


class MemoryStore(SqliteStore):
    """Dialogs in memory until the store is closed: one connection, and no method ever waits.

    Nothing has to be durable before it is answered, so the rows of turns gather until something
    else is read or written, or there are many.
    """

    def __init__(self) -> None:
        super().__init__(MEMORY)
        self._gathered = 0
        self._open: set[str] = set()
        """The ids of the turns that are open."""

    async def open(self) -> None:
        """Make an empty database."""
        self._writer.open()
        self._reader.connection = self._searcher.connection = self._writer.connection
        self._writing = InlineWorker(self._writer, self._flush)
        self._reading = InlineWorker(self._reader, self._flush)

    async def aclose(self) -> None:
        """Drop everything."""
        if self._writing is not None:
            self._writing = self._reading = None
            self._writer.close()

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Store what was said and return what the turn starts from."""
        self._gather()
        opened = self._writer.turns.open_turn(opening)
        if isinstance(opened, OpenedTurn):
            self._open.add(opening.turn_id)
        return opened

    async def close_turn(self, finished: TurnClosing) -> None:
        """Store all that the turn added and close it."""
        turn_id = finished.opened.opening.turn_id
        if turn_id not in self._open:  # the ordinary way says what is wrong with it
            await super().close_turn(finished)
            return
        self._gather()
        self._writer.turns.close_turn(finished)
        self._open.discard(turn_id)

    def _gather(self) -> None:
        """Count a trip of a turn; write the rows of those before it where they are many."""
        if self._gathered >= TOGETHER or self._writing is None:
            self._flush()
        self._gathered += 1

    def _flush(self) -> None:
        if self._writing is None:
            raise StoreError("open the store first")
        if self._gathered:
            self._gathered = 0
            self._writer.commit([])

    async def _search(self) -> JobWorker:
        return self._read
