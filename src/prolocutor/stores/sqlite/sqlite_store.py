"""The SQLite store: a file with a single owner and a single writer, durable by group commit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from functools import partial, wraps
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, ParamSpec, TypeVar

import msgspec
from msgspec import Meta

from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store import AnsweredRequest, OpenedTurn, TurnClosing, TurnOpening
from prolocutor.contracts.store_options import StoreContext
from prolocutor.dialog.dialog import BotUtterance, Dialog
from prolocutor.errors import ConfigError, StoreError
from prolocutor.stores.sqlite.connection import MEMORY
from prolocutor.stores.sqlite.maintenance import Maintenance
from prolocutor.stores.sqlite.ownership import Ownership
from prolocutor.stores.sqlite.reader import SqliteReader
from prolocutor.stores.sqlite.turn_record_reader import TurnRecordReader
from prolocutor.stores.sqlite.turn_writer import AgendaWriter, TurnWriter
from prolocutor.stores.sqlite.worker_thread import InlineWorker, JobWorker, WorkerThread
from prolocutor.stores.sqlite.writer import SqliteWriter

T = TypeVar("T")


P = ParamSpec("P")

_PAGE_ROWS: Final = 100
_ANY_DATE: Final = "9999"
"""Greater than every time."""
_DELETED_AT_ONCE: Final = 10
_LOOKUP_WAIT: Final = 0.001
"""Seconds for which a short look-up may wait for further look-ups of its kind."""

TURNS_PER_COMMIT: Final = 64
"""Steps of turns with rows to write that share a transaction."""


class Sqlite(msgspec.Struct, frozen=True, kw_only=True):
    """Dialogs in a SQLite file, owned by a single process."""

    path: Annotated[str, Meta(description="The file; it and its folder are made if missing.")]

    @classmethod
    def from_url(cls, url: str) -> Sqlite:
        """Read `sqlite:///path`."""
        path = url.partition(":")[2].removeprefix("//")
        if url.partition("://")[2] and not path.startswith("/"):
            raise ConfigError(f"{url} names a host; write sqlite:///{path}", key="store")
        path = path.removeprefix("/")
        if not path:
            raise ConfigError(f"{url} names no file; write sqlite:///dialogs.db", key="store")
        return cls(path=path)

    def build(self, context: StoreContext) -> SqliteStore:
        """Return the store."""
        return SqliteStore(self.path, durability=context.durability)


_TURNS, _AGENDA, _UPKEEP = attrgetter("turns"), attrgetter("agenda"), attrgetter("upkeep")
"""Parts of the writer."""


def _reads(
    method: Callable[Concatenate[SqliteReader, P], T],
) -> Callable[Concatenate[SqliteStore, P], Coroutine[Any, Any, T]]:
    """Return a store method to call this method in the reading thread."""

    @wraps(method)
    async def read(self: SqliteStore, /, *args: P.args, **keywords: P.kwargs) -> T:
        return await self._read.submit(_bound(method, self._reader, keywords), *args)

    return read


def _writes(
    part: Callable[[SqliteWriter], Any], method: Callable[Concatenate[Any, P], T]
) -> Callable[Concatenate[SqliteStore, P], Coroutine[Any, Any, T]]:
    """Return a store method to call this writer method in the writing thread."""

    @wraps(method)
    async def write(self: SqliteStore, /, *args: P.args, **keywords: P.kwargs) -> T:
        return await self._write.submit(_bound(method, part(self._writer), keywords), *args)

    return write


def _bound(method: Any, owner: object, keywords: dict[str, Any]) -> Callable[..., Any]:
    bound = method.__get__(
        owner
    )  # equal for equal methods: calls of the same method may go together
    return partial(bound, **keywords) if keywords else bound


class SqliteStore:
    """Dialogs in one SQLite file.

    Its owner holds `<path>.lock`; `read_only` opens the file beside an owner, for reading only.
    `durability` is `full` (a given reply survives a power cut) or `relaxed` (it survives only a
    crash of the process).
    """

    def __init__(
        self, path: str | os.PathLike[str], *, durability: str = "full", read_only: bool = False
    ) -> None:
        self.path = Path(path)
        self._read_only = read_only
        self._ownership = Ownership(self.path)
        self._writer = SqliteWriter(self.path, durability)
        self._reader = SqliteReader(self.path)
        self._searcher = TurnRecordReader(self.path)
        self.turn_records = SqliteTurnRecords(self)
        """The records of turns for operators."""
        self._writing: JobWorker | None = None
        self._reading: JobWorker | None = None
        self._searching: WorkerThread | None = None
        self._erasing = asyncio.Lock()

    async def open(self) -> None:
        """Become the owner of the file (unless `read_only`) and get it ready."""
        if not self._read_only:
            self._ownership.take()
        try:
            if not self._read_only:
                self._writing = await _wait_for_start(
                    WorkerThread("prolocutor-writer", self._writer)
                )
            self._reading = await _wait_for_start(
                WorkerThread("prolocutor-reader", self._reader, at_most=1, within=_LOOKUP_WAIT)
            )
            if not self._read_only and self._writer.erasure.remains:
                await self._erase()
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Write submitted rows, close the file and give up the ownership."""
        try:
            for worker in (self._searching, self._reading, self._writing):
                if worker is not None:
                    await worker.stop()
        finally:
            self._ownership.release()

    def note_owner(self, text: str) -> None:
        """Leave a text for other processes in need of the file, such as a door's URL."""
        self._ownership.note(text)

    @property
    def commits(self) -> int:
        """Transactions so far; with durability `full` each waited once for the disk."""
        return self._writer.commits

    async def setting(self, pragma: str) -> Any:
        """Return the value of a PRAGMA of SQLite in the writer."""
        return await self._write.submit(self._writer.setting, pragma)

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Store the input durably, and return the data for the turn's start."""
        return await self._write.submit(self._writer.turns.open_turn, opening)

    async def close_turn(self, finished: TurnClosing) -> None:
        """Store all that the turn added and close it."""
        await self._write.submit(self._writer.turns.close_turn, finished)

    unfinished_turns = _writes(_TURNS, TurnWriter.unfinished_turns)
    resume_turn = _writes(_TURNS, TurnWriter.resume_turn)
    close_dialog = _writes(_TURNS, TurnWriter.close_dialog)

    feed = _reads(SqliteReader.feed)
    feed_end = _reads(SqliteReader.feed_end)
    feed_tail = _reads(SqliteReader.feed_tail)
    round = _reads(SqliteReader.round)

    schedule = _writes(_AGENDA, AgendaWriter.schedule)
    strike = _writes(_AGENDA, AgendaWriter.strike)
    due = _reads(SqliteReader.due)
    next_due = _reads(SqliteReader.next_due)
    entries = _reads(SqliteReader.entries)
    deliver = _writes(_TURNS, TurnWriter.deliver)

    put_record = _writes(_AGENDA, AgendaWriter.put_record)
    add_amounts = _writes(_AGENDA, AgendaWriter.add_amounts)
    delete_amounts = _writes(_AGENDA, AgendaWriter.delete_amounts)
    amounts = _reads(SqliteReader.amounts)
    change_records = _writes(_AGENDA, AgendaWriter.change_records)
    record = _reads(SqliteReader.record)
    records = _reads(SqliteReader.records)
    records_since = _reads(SqliteReader.records_since)
    record_count = _reads(SqliteReader.record_count)
    delete_record = _writes(_AGENDA, AgendaWriter.delete_record)

    conversations = _reads(SqliteReader.conversations)
    feed_before = _reads(SqliteReader.feed_before)

    turn = _reads(SqliteReader.turn)
    active_dialog_id = _reads(SqliteReader.active_dialog_id)
    dialog_ids = _reads(SqliteReader.dialog_ids)
    rate_dialog = _writes(_UPKEEP, Maintenance.rate_dialog)
    rate_utterance = _writes(_UPKEEP, Maintenance.rate_utterance)
    ratings_since = _reads(SqliteReader.ratings_since)
    rating_count = _reads(SqliteReader.rating_count)
    find_owner = _reads(SqliteReader.find_owner)

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all of their data, including agenda and records.

        Their data is overwritten in the file and its write-ahead log before this returns; if
        another process reads the file for long, soon after or at the next start. Below the file,
        the file system and the device may keep old blocks.
        """
        deleted = await self._write.submit(self._writer.upkeep.delete_person, user)
        await self._erase()
        return deleted

    async def delete_conversation(self, user: str, dialog_name: str) -> int:
        """Delete the dialogs of a name without a running turn; return their number."""
        numbers = await self._read.submit(self._reader.dialogs_named, user, dialog_name)
        delete = self._writer.upkeep.delete_dialogs
        deleted = await self._write.submit(delete, numbers, _ANY_DATE)
        await self._erase()
        return deleted

    async def dialog(self, dialog_id: str) -> Dialog | None:
        """Return a whole dialog by `dialog_id` or `_id`."""
        number = await self._read.submit(self._reader.find, dialog_id)
        return None if number is None else await self._whole(number)

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs with a last utterance older than `before`; return their number."""
        deleted, last = 0, 0
        while dates := await self._read.submit(self._reader.last_dates, last, _PAGE_ROWS):
            last = dates[-1][0]
            old = [number for number, date in dates if date < before]
            for start in range(0, len(old), _DELETED_AT_ONCE):
                some = old[start : start + _DELETED_AT_ONCE]
                deleted += await self._write.submit(
                    self._writer.upkeep.delete_dialogs, some, before
                )
        await self._erase()
        return deleted

    async def erase(self) -> None:
        """Overwrite data deleted or replaced before."""
        await self._write.submit(self._writer.erasure.note)
        await self._erase()

    async def _erase(self) -> None:
        """Delete and overwrite the remains of deletions; other jobs run in between."""
        async with self._erasing:
            while await self._write.submit(self._writer.erasure.erase):
                pass

    async def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first, without holding up the turns."""
        last = 0
        while numbers := await self._read.submit(self._reader.next_numbers, last, user, _PAGE_ROWS):
            last = numbers[-1]
            for number in numbers:
                if (dialog := await self._whole(number)) is not None:
                    yield dialog

    async def _whole(self, number: int) -> Dialog | None:
        """Read a dialog page by page; None if it is missing, or deleted meanwhile."""
        dialog = await self._read.submit(self._reader.head, number)
        if dialog is None:
            return None
        ids = dialog.human.id, dialog.bot.id
        position, end = 0, -1
        while position != end:
            end = position
            some, position = await self._read.submit(
                self._reader.utterances, number, *ids, position
            )
            dialog.utterances += some
        by_bot = [
            utterance for utterance in dialog.utterances if isinstance(utterance, BotUtterance)
        ]
        dialog.date_finish = by_bot[-1].date_time if by_bot else None
        found = await self._read.submit(self._reader.find, dialog.dialog_id)
        return dialog if found == number else None

    async def _search(self) -> JobWorker:
        """Return the thread in which operators search, started when it is first needed."""
        if self._searching is None:
            self._searching = WorkerThread("prolocutor-records", self._searcher, at_most=1)
        try:
            return await _wait_for_start(self._searching)
        except BaseException:
            self._searching = None
            raise

    @property
    def _write(self) -> JobWorker:
        if self._read_only:
            raise StoreError(f"{self.path}: was opened read-only")
        if self._writing is None:
            raise StoreError(f"{self.path}: open the store first")
        return self._writing

    @property
    def _read(self) -> JobWorker:
        if self._reading is None:
            raise StoreError(f"{self.path}: open the store first")
        return self._reading


def _searches(
    method: Callable[Concatenate[TurnRecordReader, P], T],
) -> Callable[Concatenate[SqliteTurnRecords, P], Coroutine[Any, Any, T]]:
    """Return a store method to call this method in the operators' search thread."""

    @wraps(method)
    async def search(self: SqliteTurnRecords, /, *args: P.args, **keywords: P.kwargs) -> T:
        worker = await self.store._search()
        return await worker.submit(_bound(method, self.store._searcher, keywords), *args)

    return search


class SqliteTurnRecords:
    """Implements `TurnRecordStore`.

    Operators' searches take longer than the reads of turns and doors, so they have a thread of
    their own.
    """

    def __init__(self, store: SqliteStore) -> None:
        self.store = store

    async def add(self, records: Sequence[TurnRecord], *, slow: float) -> None:
        """Keep records."""
        add = partial(self.store._writer.turn_records.add, slow=slow)
        await self.store._write.submit(add, records)

    async def tend(self, *, now: float, keep: float, most: int) -> bool:
        """Do a bounded piece of the pending work; return whether there is more."""
        if self.store._writer.erasure.remains:
            await self.store._erase()
        tend = partial(self.store._writer.turn_records.tend, now=now, keep=keep, most=most)
        return await self.store._write.submit(tend)

    conversations = _searches(TurnRecordReader.found_conversations)
    counts = _searches(TurnRecordReader.counts)
    hours = _searches(TurnRecordReader.hours)
    figures = _searches(TurnRecordReader.figures)
    totals = _searches(TurnRecordReader.totals)
    head = _searches(TurnRecordReader.conversation_head)
    turns = _searches(TurnRecordReader.turns)
    latest_turns = _searches(TurnRecordReader.latest_turns)
    turn = _searches(TurnRecordReader.kept_turn)


async def _wait_for_start(worker: WorkerThread) -> WorkerThread:
    await worker.started
    return worker


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
    """Dialogs in memory until the store is closed: one connection, without waiting.

    Replies need not be durable, so the rows of turns gather until other data is read or written, or
    until they are many.
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
        """Store the input and return the data for the turn's start."""
        self._gather()
        opened = self._writer.turns.open_turn(opening)
        if isinstance(opened, OpenedTurn):
            self._open.add(opening.turn_id)
        return opened

    async def close_turn(self, finished: TurnClosing) -> None:
        """Store all that the turn added and close it."""
        turn_id = finished.opened.opening.turn_id
        if turn_id not in self._open:  # the ordinary way raises the error
            await super().close_turn(finished)
            return
        self._gather()
        self._writer.turns.close_turn(finished)
        self._open.discard(turn_id)

    def _gather(self) -> None:
        """Count a trip of a turn; write earlier turns' rows if they are many."""
        if self._gathered >= TURNS_PER_COMMIT or self._writing is None:
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
