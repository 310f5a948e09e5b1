"""The SQLite store: one file, one owner, one writer, durable by group commit."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from prolocutor.contracts.store import (
    ALL_DIALOGS,
    MAX_AGENDA_ENTRIES,
    AgendaEntry,
    AnsweredRequest,
    ConversationRow,
    Delivery,
    DialogQuery,
    FeedRow,
    OpenedTurn,
    TurnClosing,
    TurnOpening,
    UnfinishedTurn,
)
from prolocutor.contracts.store.store_options import StoreContext
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.ids import DialogId, TurnId
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance
from prolocutor.errors import ConfigError, StoreError
from prolocutor.stores.sqlite.ownership import Ownership
from prolocutor.stores.sqlite.reader import SqliteReader
from prolocutor.stores.sqlite.sqlite_transfer import SqliteTransfer
from prolocutor.stores.sqlite.turn_record_reader import TurnRecordReader
from prolocutor.stores.sqlite.turn_records import SqliteTurnRecords
from prolocutor.stores.sqlite.worker_thread import JobWorker, WorkerThread
from prolocutor.stores.sqlite.writer import SqliteWriter

_PAGE: Final = 100
_NEVER: Final = (1 << 63) - 1
_ANY_DATE: Final = "9999"
"""Greater than every number of a feed, and than every time."""
_DELETED_AT_ONCE: Final = 10
_TOGETHER: Final = 0.001
"""Seconds that a short look-up may wait for the next ones of its kind."""


class Sqlite(msgspec.Struct, frozen=True, kw_only=True):
    """Dialogs in one SQLite file, which one process owns."""

    path: Annotated[str, Meta(description="The file; it and its folder are made if missing.")]

    @classmethod
    def from_url(cls, url: str) -> Sqlite:
        """Read `sqlite:///path`."""
        path = url.partition(":")[2].removeprefix("//").removeprefix("/")
        if not path:
            raise ConfigError(f"{url} names no file; write sqlite:///dialogs.db", key="store")
        return cls(path=path)

    def build(self, context: StoreContext) -> SqliteStore:
        """Return the store."""
        return SqliteStore(self.path, durability=context.durability)

    def transfer(self) -> SqliteTransfer:
        """Return what copies it."""
        return SqliteTransfer(self.path)


class SqliteStore:
    """Dialogs in one SQLite file.

    Its owner holds `<path>.lock`; `read_only` opens the file beside an owner, for `Feed` and the
    reading part of `Archive`. `durability` is `full` (a reply that was given survives a power
    cut) or `relaxed` (it survives a crash of the process only).
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
        self.turn_records = SqliteTurnRecords(
            self._writer, lambda: self._write, self._searcher, self._search
        )
        self._writing: JobWorker | None = None
        self._reading: JobWorker | None = None
        self._searching: WorkerThread | None = None

    async def open(self) -> None:
        """Become the owner of the file (unless `read_only`) and get it ready."""
        if not self._read_only:
            self._ownership.take()
        try:
            if not self._read_only:
                self._writing = await _started(WorkerThread("prolocutor-writer", self._writer))
            self._reading = await _started(
                WorkerThread("prolocutor-reader", self._reader, at_most=1, within=_TOGETHER)
            )
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Write what was submitted, close the file and give up the ownership."""
        try:
            for worker in (self._searching, self._reading, self._writing):
                if worker is not None:
                    await worker.stop()
        finally:
            self._ownership.release()

    def note_owner(self, text: str) -> None:
        """Leave a text for other processes that need the file, such as the URL of a door."""
        self._ownership.note(text)

    @property
    def commits(self) -> int:
        """Transactions so far; with durability `full` each waited once for the disk."""
        return self._writer.commits

    async def setting(self, pragma: str) -> Any:
        """Return the value of one of SQLite's PRAGMAs, as the writer has it."""
        return await self._write.submit(self._writer.setting, pragma)

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        """Store what was said, durably, and return what the turn starts from."""
        return await self._write.submit(self._writer.turns.open_turn, opening)

    async def close_turn(self, finished: TurnClosing) -> None:
        """Store all that the turn added and close it."""
        await self._write.submit(self._writer.turns.close_turn, finished)

    async def unfinished_turns(self) -> list[UnfinishedTurn]:
        """Return the turns that were opened and not closed, oldest first."""
        return await self._write.submit(self._writer.turns.unfinished_turns)

    async def resume_turn(self, turn_id: TurnId, window: int | None, hypotheses: int) -> OpenedTurn:
        """Count one more attempt, durably, and return what the turn starts from."""
        return await self._write.submit(self._writer.turns.resume_turn, turn_id, window, hypotheses)

    async def close_dialog(self, user: str, dialog_name: str) -> DialogId | None:
        """End the active dialog of that name."""
        return await self._write.submit(self._writer.turns.close_dialog, user, dialog_name)

    async def feed(self, user: str, after: int, limit: int = 100) -> list[FeedRow]:
        """Return up to `limit` rows with `n > after`, ascending."""
        return await self._read.submit(self._reader.feed, user, after, limit)

    async def feed_end(self, user: str) -> int:
        """Return the number of the last row ever written for this person, 0 if none."""
        return await self._read.submit(self._reader.feed_end, user)

    async def feed_tail(
        self, user: str, dialog_name: str, limit: int = 10, after: int | None = None
    ) -> list[FeedRow]:
        """Return the last rows of one dialog name, or the first after the message `after`."""
        return await self._read.submit(self._reader.feed_tail, user, dialog_name, limit, after)

    async def conversations(
        self, user: str, before: int | None = None, limit: int = 50
    ) -> list[ConversationRow]:
        """Return conversations with `n < before`, the latest first."""
        return await self._read.submit(self._reader.conversations, user, before or _NEVER, limit)

    async def feed_before(
        self, user: str, before: int | None = None, limit: int = 100
    ) -> list[FeedRow]:
        """Return rows with `n < before`, the latest first."""
        return await self._read.submit(self._reader.feed_before, user, before or _NEVER, limit)

    async def delete_conversation(self, user: str, dialog_name: str) -> int:
        """Delete the dialogs of that name in which no turn runs; return their number."""
        numbers = await self._read.submit(self._reader.dialogs_named, user, dialog_name)
        return await self._write.submit(self._writer.upkeep.delete_dialogs, numbers, _ANY_DATE)

    async def round(self, user: str, dialog_name: str) -> bytes:
        """Return the round of the active dialog of that name."""
        return await self._read.submit(self._reader.round, user, dialog_name)

    async def schedule(self, entry: AgendaEntry, limit: int = MAX_AGENDA_ENTRIES) -> None:
        """Write an entry, in place of one of the same user, skill and key."""
        await self._write.submit(self._writer.agenda.schedule, entry, limit)

    async def strike(self, user: str, skill: str, key: str) -> bool:
        """Take an entry off the agenda; return False if there is none."""
        return await self._write.submit(self._writer.agenda.strike, user, skill, key)

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        """Return the entries with `due <= now`, earliest first."""
        return await self._read.submit(self._reader.due, now, limit)

    async def next_due(self, after: float) -> float | None:
        """Return the earliest `due` later than `after`."""
        return await self._read.submit(self._reader.next_due, after)

    async def entries(self, user: str, skill: str | None = None) -> list[AgendaEntry]:
        """Return a person's entries (of one skill), earliest first."""
        return await self._read.submit(self._reader.entries, user, skill)

    async def deliver(self, delivery: Delivery) -> bool:
        """Write the messages and settle the entry; return False if the entry is gone."""
        return await self._write.submit(self._writer.turns.deliver, delivery)

    async def put_record(self, user: str, kind: str, key: str, body: bytes) -> None:
        """Write a document, in place of the one of this kind and key."""
        await self._write.submit(self._writer.agenda.put_record, user, kind, key, body)

    async def records(self, user: str, kind: str) -> dict[str, bytes]:
        """Return the documents of a kind by key, in the order in which they were first written."""
        return await self._read.submit(self._reader.records, user, kind)

    async def delete_record(self, user: str, kind: str, key: str) -> bool:
        """Delete a document; return False if there is none."""
        return await self._write.submit(self._writer.agenda.delete_record, user, kind, key)

    async def dialog(self, dialog_id: str) -> Dialog | None:
        """Return a whole dialog by `dialog_id` or `_id`."""
        number = await self._read.submit(self._reader.find, dialog_id)
        return None if number is None else await self._whole(number)

    async def turn(self, utt_id: str) -> list[HumanUtterance | BotUtterance]:
        """Return what was said to the reply with this `utt_id`, and the reply."""
        return await self._read.submit(self._reader.turn, utt_id)

    async def active_dialog_id(self, user: str, dialog_name: str = "main") -> DialogId | None:
        """Return the `dialog_id` of the person's active dialog of that name."""
        return await self._read.submit(self._reader.active_dialog_id, user, dialog_name)

    async def dialog_ids(self, query: DialogQuery = ALL_DIALOGS) -> list[DialogId]:
        """Return the ids of the dialogs that match, oldest first."""
        return await self._read.submit(self._reader.dialog_ids, query)

    async def rate_dialog(self, dialog_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the dialog's."""
        await self._write.submit(self._writer.upkeep.rate_dialog, dialog_id, rating, user, at)

    async def rate_utterance(self, utt_id: str, rating: Any, user: str | None, at: str) -> None:
        """Add a rating to the utterance's."""
        await self._write.submit(self._writer.upkeep.rate_utterance, utt_id, rating, user, at)

    async def owner_of(self, id_: str) -> str | None:
        """Return the user whose dialog or utterance this is."""
        return await self._read.submit(self._reader.owner_of, id_)

    async def delete_person(self, user: str) -> bool:
        """Delete a person with all that is theirs; return False if unknown.

        What is deleted is overwritten with zeros in the file (`secure_delete`), and the write-ahead
        log, which may still hold old pages, is checkpointed and truncated before this returns, or
        soon after if another process is reading the file. Below the file, the file system and the
        device may keep old blocks; backups are the operator's.
        """
        return await self._write.submit(self._writer.upkeep.delete_person, user)

    async def delete_older(self, before: str) -> int:
        """Delete the dialogs whose last utterance is older than `before`; return their number."""
        deleted, last = 0, 0
        while dates := await self._read.submit(self._reader.last_dates, last, _PAGE):
            last = dates[-1][0]
            old = [number for number, date in dates if date < before]
            for start in range(0, len(old), _DELETED_AT_ONCE):
                some = old[start : start + _DELETED_AT_ONCE]
                deleted += await self._write.submit(
                    self._writer.upkeep.delete_dialogs, some, before
                )
        return deleted

    async def export(self, *, user: str | None = None) -> AsyncIterator[Dialog]:
        """Stream whole dialogs, oldest first, without holding up the turns."""
        last = 0
        while numbers := await self._read.submit(self._reader.numbers_after, last, user, _PAGE):
            last = numbers[-1]
            for number in numbers:
                if (dialog := await self._whole(number)) is not None:
                    yield dialog

    async def _whole(self, number: int) -> Dialog | None:
        """Read a dialog page by page; None if it is not there, or was deleted meanwhile."""
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
        by_bot = [one for one in dialog.utterances if isinstance(one, BotUtterance)]
        dialog.date_finish = by_bot[-1].date_time if by_bot else None
        found = await self._read.submit(self._reader.find, dialog.dialog_id)
        return dialog if found == number else None

    async def _search(self) -> JobWorker:
        """Return the thread in which operators search, started when it is first needed."""
        if self._searching is None:
            self._searching = WorkerThread("prolocutor-records", self._searcher, at_most=1)
        try:
            return await _started(self._searching)
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


async def _started(worker: WorkerThread) -> WorkerThread:
    await worker.started
    return worker
