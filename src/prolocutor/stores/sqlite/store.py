"""The SQLite store: one file, one owner, one writer, durable by group commit."""

from __future__ import annotations

import os
from pathlib import Path

from prolocutor.contracts.store import Answered, Beginning, Begun, Finished, OpenTurn
from prolocutor.errors import StoreError
from prolocutor.stores.sqlite.ownership import Ownership
from prolocutor.stores.sqlite.worker import Worker
from prolocutor.stores.sqlite.writer import Writer


def from_url(url: str, durability: str) -> SqliteStore:
    """Make the store that `sqlite:///path` means."""
    return SqliteStore(url.partition(":")[2].removeprefix("///"), durability=durability)


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
        self._writer = Writer(self.path, durability)
        self._writing: Worker | None = None

    async def open(self) -> None:
        """Become the owner of the file and get it ready."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._ownership.take()
        self._writing = Worker("prolocutor-writer", self._writer)
        try:
            await self._writing.started
        except BaseException:
            self._ownership.release()
            raise

    async def aclose(self) -> None:
        """Write what was handed over, close the file and let others own it."""
        if self._writing is not None:
            await self._writing.stop()
            self._ownership.release()

    async def begin(self, beginning: Beginning) -> Begun | Answered:
        """Write down what was said, durably, and return what the turn starts from."""
        return await self._write.submit(self._writer.turns.begin, beginning)

    async def finish(self, finished: Finished) -> None:
        """Store all that the turn added and close it."""
        await self._write.submit(self._writer.turns.finish, finished)

    async def unfinished(self) -> list[OpenTurn]:
        """List the turns that were begun and not finished, oldest first."""
        return await self._write.submit(self._writer.turns.unfinished)

    async def resume(self, turn_id: str, window: int | None, hypotheses: int) -> Begun:
        """Count one more attempt, durably, and return what the turn starts from."""
        return await self._write.submit(self._writer.turns.resume, turn_id, window, hypotheses)

    async def close_dialog(self, user: str, dialog_name: str) -> str | None:
        """End the active dialog of that name."""
        return await self._write.submit(self._writer.turns.close_dialog, user, dialog_name)

    def note_owner(self, text: str) -> None:
        """Leave a text for those who find the file owned, such as the URL of the owner's door."""
        self._ownership.note(text)

    @property
    def _write(self) -> Worker:
        if self._writing is None:
            raise StoreError(f"{self.path}: open the store first, and not read-only")
        return self._writing
