"""AuditTrail: the acts of operators in the store: who, from where, which request; no contents.

Acts are gathered for a moment and written together, beside the requests. Looking at lists and
figures is not an act, because an open page does so all the time; it is only in the log. Looking at
the same dialog repeatedly, as an open page does, is a single act in ten minutes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.clocks import DAY, HOUR
from prolocutor.contracts.shared_store import store_clock
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog.ids import new_id
from prolocutor.errors import StoreError

log = logging.getLogger(__name__)

KIND: Final = "audit"
"""The kind of the assistant's own records that hold acts, several in each record."""

KEEP_SECONDS: Final = 90.0 * DAY
"""Seconds for which acts are kept."""

MAX_RECORDS: Final = 5_000
"""Records that are kept."""

FLUSH_DELAY: Final = 1.0
"""Seconds for which acts are gathered."""

REPEAT_WINDOW: Final = 600.0
"""Seconds for which looking at the same path again is the same act."""

MAX_REMEMBERED_LOOKS: Final = 10_000
"""Looks that are remembered for it."""

MAX_WAITING: Final = 10_000
"""Acts kept in memory while the store is away; beyond this the earliest are only in the log."""

CLEANUP_INTERVAL: Final = HOUR
"""Seconds between two deletions of old acts."""

MAX_PATH: Final = 300
"""Characters of a path that are kept."""


class AuditedAct(msgspec.Struct, frozen=True):
    """An act: when (seconds, UNIX), who, from which address, by which method at which path."""

    at: float
    who: str
    address: str
    method: str
    path: str


class AuditTrail:
    """Stores the acts of operators, and deletes old ones."""

    def __init__(self, records: RecordStore, clock: Callable[[], float] | None = None) -> None:
        self._records = records
        self._clock = clock or store_clock(records)
        self._waiting: list[AuditedAct] = []
        self._news = asyncio.Event()
        self._tasks = BackgroundTasks("audit trail")
        self._tidied = 0.0
        self._looked: dict[tuple[str, str, str], float] = {}

    def note(self, who: str, address: str, method: str, path: str) -> None:
        """Note an act; it is written a moment later."""
        now = self._clock()
        if method in ("GET", "HEAD") and self._is_looking(now, (who, address, path[:MAX_PATH])):
            return
        self._waiting.append(AuditedAct(now, who, address, method, path[:MAX_PATH]))
        del self._waiting[:-MAX_WAITING]
        self._news.set()

    def _is_looking(self, now: float, look: tuple[str, str, str]) -> bool:
        """Return whether this look repeats a recent look; else note its time."""
        if now < self._looked.get(look, -REPEAT_WINDOW) + REPEAT_WINDOW:
            return True
        self._looked.pop(look, None)
        self._looked[look] = now
        if len(self._looked) > MAX_REMEMBERED_LOOKS:
            del self._looked[next(iter(self._looked))]
        return False

    def start(self) -> None:
        """Start to write in the background."""
        self._tasks.start(self._write_often())

    async def aclose(self) -> None:
        """Stop, and write the waiting acts."""
        await self._tasks.aclose()
        with suppress(StoreError):
            await self.write()

    async def write(self) -> None:
        """Write the waiting acts; if that fails, keep them and raise `StoreError`."""
        acts = self._waiting[:]
        if acts:
            await self._records.put_record("", KIND, new_id(), msgspec.json.encode(acts))
            del self._waiting[: len(acts)]
        if self._clock() > self._tidied + CLEANUP_INTERVAL:
            self._tidied = self._clock()
            await self._forget()

    async def _forget(self) -> None:
        """Delete acts too old or too many."""
        kept = await self._records.records("", KIND)
        least = self._clock() - KEEP_SECONDS
        for number, (key, body) in enumerate(kept.items()):
            if number < len(kept) - MAX_RECORDS or _acts(body)[-1].at < least:
                await self._records.delete_record("", KIND, key)

    async def _write_often(self) -> None:
        failing = False
        while True:
            await self._news.wait()
            await asyncio.sleep(FLUSH_DELAY)
            self._news.clear()
            try:
                await self.write()
                failing = False
            except StoreError as error:
                self._news.set()
                if not failing:
                    log.warning("the acts of operators cannot be stored now: %s", error)
                failing = True
            except Exception:
                log.exception("the acts of operators cannot be stored")


async def read_acts(records: RecordStore, since: float = 0.0) -> list[AuditedAct]:
    """Return the stored acts `since` a time (UNIX seconds), the earliest first."""
    acts = [act for body in (await records.records("", KIND)).values() for act in _acts(body)]
    return sorted((act for act in acts if act.at >= since), key=lambda act: act.at)


def _acts(body: bytes) -> list[AuditedAct]:
    return msgspec.json.decode(body, type=list[AuditedAct])
