"""DutyWebhook: tells an address who has which dialog, by POST, in order and in the background."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from typing import Any, Final

from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.dialog import plain
from prolocutor.errors import ServiceError

log = logging.getLogger(__name__)

MOST: Final = 1000
"""Changes that wait to be sent; beyond that the oldest is dropped."""

SECONDS: Final = 10.0
PAUSES: Final = (1.0, 5.0, 30.0)
"""Seconds before a change is sent once more; then it is dropped."""

MAX_BYTES: Final = 64 * 1024


class DutyWebhook:
    """Sends one change after the other; turns never wait for it."""

    def __init__(self, url: str) -> None:
        self._client = HttpClient(url, headers={"Content-Type": "application/json"})
        self._waiting: deque[dict[str, Any]] = deque(maxlen=MOST)
        self._sending: asyncio.Task[None] | None = None

    def send(self, change: dict[str, Any]) -> None:
        """Send a change as JSON when those before it are through."""
        self._waiting.append(change)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_all(), name="handover webhook")

    async def aclose(self) -> None:
        """Send what waits if that takes no longer than one call may, then close."""
        if self._sending is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(SECONDS):
                    await self._sending
        await self._client.aclose()

    async def _send_all(self) -> None:
        while self._waiting:
            change = self._waiting.popleft()
            for pause in (*PAUSES, None):
                try:
                    async with asyncio.timeout(SECONDS):
                        await self._client.post(plain.encode(change), {}, max_bytes=MAX_BYTES)
                    break
                except (ServiceError, TimeoutError) as error:
                    what = str(error) or f"no answer within {SECONDS:g} s"
                if pause is None:
                    log.error("the handover webhook is not told that a dialog %s: %s",
                              change["state"], what)  # fmt: skip
                else:
                    log.warning("the handover webhook fails, trying again: %s", what)
                    await asyncio.sleep(pause)
