"""LateStart: starts on a shared store that is away at first, when it answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from prolocutor.errors import ConfigError, StoreAway, StoreError

log = logging.getLogger(__name__)

FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 2.0
"""Seconds between two tries: the first pause is doubled up to the longest."""


class LateStart:
    """Calls `start` until the store answers; nothing is ready meanwhile."""

    def __init__(self, start: Callable[[], Awaitable[None]]) -> None:
        self._start = start
        self._trying: asyncio.Task[None] | None = None
        self.waits = False
        """Whether the store has not answered yet."""

    def begin(self, error: StoreAway) -> None:
        """Try again in the background after a first try that failed."""
        log.warning("%s; waiting for it, no turns are taken", error)
        self.waits = True
        self._trying = asyncio.create_task(self._try(str(error)), name="late start")

    async def aclose(self) -> None:
        """Stop trying."""
        if self._trying is not None:
            self._trying.cancel()
            with suppress(asyncio.CancelledError):
                await self._trying

    async def _try(self, said: str) -> None:
        pause = FIRST_PAUSE
        while True:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            try:
                await self._start()
            except (StoreError, ConfigError) as error:
                if str(error) != said:
                    said = str(error)
                    log.warning("%s; waiting, no turns are taken", said)
            except Exception:
                log.exception("the store cannot be opened; trying again")
            else:
                self.waits = False
                log.warning("the store answers, turns are taken")
                return
