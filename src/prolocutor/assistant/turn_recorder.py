"""TurnRecorder: hands the records of finished turns to the store, in batches."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from prolocutor.assistant.record_settings import RecordSettings
from prolocutor.contracts.observer import TurnRecord
from prolocutor.contracts.store.turn_record_store import TurnRecordStore
from prolocutor.errors import StoreError

log = logging.getLogger(__name__)

WITHIN: Final = 0.25
"""Seconds within which a record is handed to the store."""
BATCH: Final = 100
"""Records that are handed over at once: turns that are stored meanwhile wait for them."""
MOST_WAITING: Final = 10_000
"""Records that wait for the store; beyond that they are dropped."""
UPKEEP: Final = 60.0
"""Seconds between two looks at what is too old, where no turns come."""
_STEP: Final = 0.25
"""Seconds between two pieces of upkeep while there is more to do."""
_CLOSING: Final = 5.0
"""Seconds for what waits when the assistant closes."""
_WARN: Final = 60.0


class TurnRecorder:
    """An observer that keeps the records of turns in the store, after the replies are out.

    A turn never waits for it: what the store cannot take is lost, and counted in `lost`.
    """

    def __init__(
        self,
        store: TurnRecordStore,
        settings: RecordSettings,
        deadline: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.lost = 0
        """Records that were not kept."""
        self._settings = settings
        self.slow = deadline * 2 / 3 if settings.slow is None else settings.slow
        """Seconds beyond which a turn is slow."""
        self._clock = clock
        self._waiting: list[TurnRecord] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._upkeep: asyncio.Task[None] | None = None
        self._warned = float("-inf")

    def start(self) -> None:
        """Begin to delete what is too old."""
        self._upkeep = asyncio.create_task(self._keep_up(), name="upkeep of turn records")

    async def aclose(self) -> None:
        """Write what waits, and stop."""
        if self._upkeep is not None:
            self._upkeep.cancel()
            await asyncio.wait({self._upkeep})
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING):
                await self.settle()

    def turn_ended(self, record: TurnRecord) -> None:
        """Take a record to be written soon."""
        waiting = self._waiting
        if len(waiting) >= MOST_WAITING:
            self._lose(1, "the store does not keep up")
            return
        waiting.append(record)
        if len(waiting) == 1 and self._writing is None:
            self._timer = asyncio.get_running_loop().call_later(WITHIN, self._begin)
        elif len(waiting) == BATCH and self._writing is None:
            self._begin()

    def breaker_changed(self, service: str, state: str) -> None:
        """Do nothing: only turns are recorded."""

    async def settle(self) -> None:
        """Write what waits now."""
        while self._waiting or self._writing is not None:
            self._begin()
            if self._writing is not None:
                await asyncio.wait({self._writing})

    def _begin(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._writing is None and self._waiting:
            self._writing = asyncio.create_task(self._write(), name="turn records")

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch = self._waiting[:BATCH]
                del self._waiting[:BATCH]
                # Submitted together, both are one transaction where the store groups them.
                results = await asyncio.gather(
                    self.store.add(batch, slow=self.slow), self._tend(), return_exceptions=True
                )
                failed = [one for one in results if isinstance(one, BaseException)]
                if isinstance(results[0], BaseException):
                    self._lose(len(batch), str(results[0]))
                for error in failed:
                    if not isinstance(error, StoreError):
                        raise error
                if len(self._waiting) < BATCH:
                    break
        except Exception:
            log.exception("records of turns cannot be kept")
        finally:
            self._writing = None
            if self._waiting:
                self._timer = asyncio.get_running_loop().call_later(WITHIN, self._begin)

    async def _tend(self) -> bool:
        settings = self._settings
        return await self.store.tend(now=self._clock(), keep=settings.keep, most=settings.most)

    async def _keep_up(self) -> None:
        while True:
            more = False
            try:
                more = await self._tend()
            except StoreError as error:
                log.warning("old records of turns cannot be deleted: %s", error)
            except Exception:
                log.exception("old records of turns cannot be deleted")
            await asyncio.sleep(_STEP if more else UPKEEP)

    def _lose(self, number: int, why: str) -> None:
        self.lost += number
        now = time.monotonic()
        if now - self._warned > _WARN:
            self._warned = now
            log.warning("records of %d turns were lost so far: %s", self.lost, why)
