"""DutyWebhook: tells an address of operators which dialogs wait for them or have changed hands."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from contextlib import suppress
from typing import Any, Final, NamedTuple

from prolocutor.background import BackgroundTasks
from prolocutor.connectors.parts.http_client import HttpClient
from prolocutor.contracts.store import RecordStore
from prolocutor.dialog import plain
from prolocutor.errors import ServiceError, StoreError

log = logging.getLogger(__name__)

WAITING_NOTES: Final = "handover_note"
"""The kind of the records that keep changes until they are sent, by the time that they came."""

MAX_WAITING: Final = 1000
"""Changes that wait to be sent; beyond that the oldest is dropped."""

SEND_TIMEOUT: Final = 10.0
PAUSES: Final = (1.0, 5.0, 30.0)
"""Seconds before a change is sent once more; then it is dropped."""

ABANDONED_SECONDS: Final = 2 * (sum(PAUSES) + SEND_TIMEOUT * (len(PAUSES) + 1))
"""Seconds after which a change in a shared store is taken for one whose replica has ended."""

MAX_BYTES: Final = 64 * 1024


class WaitingNote(NamedTuple):
    """An unsent change, stored as a record."""

    key: str
    change: dict[str, Any]


class DutyWebhook:
    """Sends changes in order; turns never wait for an answer.

    Changes are stored until they are sent or dropped, so that a restart loses no change, but may
    repeat one. `is_shared`: other replicas store their changes in the same place.
    """

    def __init__(self, url: str, store: RecordStore, *, is_shared: bool = False) -> None:
        self._client = HttpClient(url, headers={"Content-Type": "application/json"})
        self._store = store
        self._is_shared = is_shared
        self._waiting: deque[WaitingNote] = deque()
        self._sending = BackgroundTasks("handover webhook")
        self._resuming = BackgroundTasks("handover notes")
        self._last = 0

    def start(self) -> None:
        """Send the changes that an ended process left."""
        self._resuming.start(self._resume(before=_key(time.time_ns())))

    async def send(self, change: dict[str, Any]) -> None:
        """Store a change; send it as JSON after the earlier changes."""
        self._last = max(time.time_ns(), self._last + 1)
        note = WaitingNote(_key(self._last), change)
        try:
            await self._store.put_record("", WAITING_NOTES, note.key, plain.encode(change))
        except StoreError as error:
            log.warning("a note of a handover is lost if this process ends now: %s", error)
        if len(self._waiting) >= MAX_WAITING:
            await self._forget(self._waiting.popleft())
        self._waiting.append(note)
        self._go_on()

    async def forget(self, user: str) -> None:
        """Drop the unsent changes of a person."""
        left = [note for note in self._waiting if note.change["user"] != user]
        self._waiting = deque(left)
        for key, body in (await self._store.records("", WAITING_NOTES)).items():
            if plain.decode(body)["user"] == user:
                await self._store.delete_record("", WAITING_NOTES, key)

    async def aclose(self) -> None:
        """Send waiting changes within the time limit of a call; the rest stays stored."""
        await self._resuming.aclose()
        await self._sending.aclose(grace=SEND_TIMEOUT)
        await self._client.aclose()

    async def _resume(self, before: str) -> None:
        """Send stored changes, in a shared store the changes that ended replicas left."""
        try:
            stored = await self._store.records("", WAITING_NOTES)
            if stored and self._is_shared:
                await asyncio.sleep(ABANDONED_SECONDS)
                left = await self._store.records("", WAITING_NOTES)
                stored = {key: body for key, body in stored.items() if key in left}
        except StoreError as error:
            log.warning("the stored notes of handovers are not sent: %s", error)
            return
        notes = sorted((key, body) for key, body in stored.items() if key < before)
        self._waiting.extendleft(WaitingNote(key, plain.decode(body)) for key, body in notes[::-1])
        self._go_on()

    def _go_on(self) -> None:
        if self._waiting and not self._sending:
            self._sending.start(self._send_all())

    async def _send_all(self) -> None:
        while self._waiting:
            note = self._waiting.popleft()
            await self._send(note.change)
            await self._forget(note)

    async def _send(self, change: dict[str, Any]) -> None:
        """Send a change, with a few retries."""
        for pause in (*PAUSES, None):
            try:
                async with asyncio.timeout(SEND_TIMEOUT):
                    await self._client.post(plain.encode(change), {}, max_bytes=MAX_BYTES)
                return
            except (ServiceError, TimeoutError) as error:
                what = str(error) or f"no answer within {SEND_TIMEOUT:g} s"
            if pause is None:
                log.error("the handover webhook is not told that a dialog %s: %s",
                          change["state"], what)  # fmt: skip
            else:
                log.warning("the handover webhook fails, trying again: %s", what)
                await asyncio.sleep(pause)

    async def _forget(self, note: WaitingNote) -> None:
        with suppress(StoreError):
            await self._store.delete_record("", WAITING_NOTES, note.key)


def _key(moment: int) -> str:
    """Return the key of a change at a time in nanoseconds; keys sort by time."""
    return f"{moment:020}"
