"""WebSockets: messages are read one by one and sent through a bounded outbox."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Final

from prolocutor.contracts.http import Visitor
from prolocutor.web.asgi import Message, Receive, Scope, Send
from prolocutor.web.authentication import ANONYMOUS
from prolocutor.web.limits import InFlight, ListenerLimits
from prolocutor.web.requests import AsgiConnection

log = logging.getLogger(__name__)

ABORT: Final = "prolocutor.abort"
"""The ASGI extension by which our server aborts a connection (`web/connections.py`)."""

GOING_AWAY: Final = 1001


class AsgiWebSocket(AsgiConnection):
    """One open WebSocket (`contracts.channel.Socket`).

    `send` never waits: messages go to an outbox, which `write` empties. If it grows beyond
    `limits.outbox` bytes the client does not read, and its connection is aborted. A message counts
    as in flight until the next one is asked for.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        params: Mapping[str, str],
        limits: ListenerLimits,
        in_flight: InFlight,
        visitor: Visitor = ANONYMOUS,
    ) -> None:
        super().__init__(scope, params, visitor)
        self.gone = False
        self._receive = receive
        self._send = send
        self._outbox: list[str | bytes] = []
        self._waiting = 0
        self._limit = limits.outbox
        self._patience = limits.patience
        self._taken: asyncio.Event | None = None
        self._in_flight = in_flight
        self._changed = asyncio.Event()
        self._closing: tuple[int, str] | None = None
        self._stopping = False
        self._abort: Callable[[], None] | None = (scope.get("extensions") or {}).get(ABORT)

    def send(self, message: str | bytes) -> None:
        """Queue a message; one to a client that has disconnected is lost."""
        if self.gone or self._closing is not None:
            return
        self._outbox.append(message)
        self._waiting += len(message)
        if self._waiting > self._limit:
            self._drop()
        self._changed.set()

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the socket after all queued messages are sent."""
        if self._closing is None:
            self._closing = (code, reason)
            self._changed.set()

    async def room(self) -> None:
        """Wait until at most a quarter of the outbox is full, to send many messages at once.

        A client that takes nothing for `limits.patience` seconds is disconnected.
        """
        while self._waiting > self._limit // 4 and not self.gone:
            self._taken = self._taken or asyncio.Event()
            self._taken.clear()
            try:
                async with asyncio.timeout(self._patience):
                    await self._taken.wait()
            except TimeoutError:
                self._drop()

    def busy(self) -> AbstractContextManager[None]:
        """Return a context that counts as a request in flight: shutting down waits for it."""
        return self._in_flight

    def stop(self) -> None:
        """Take no further message; the one in hand is still answered."""
        self._stopping = True

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        """Return the client's messages until it disconnects or the listener stops."""
        while not (self._stopping or self._closing or self.gone):
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                self._leave()
                return
            if message["type"] != "websocket.receive":
                continue
            text = message.get("text")
            with self._in_flight:
                yield message["bytes"] if text is None else text
        self.close(GOING_AWAY, "the assistant is shutting down")

    async def write(self) -> None:
        """Send queued messages until the socket is closed or the client has disconnected."""
        try:
            while not self.gone:
                while self._outbox:
                    messages, self._outbox = self._outbox, []
                    for message in messages:
                        await self._deliver(message)
                if self._closing is not None and not self.gone:
                    code, reason = self._closing
                    await self._send({"type": "websocket.close", "code": code, "reason": reason})
                    return
                self._changed.clear()
                if not self.gone:
                    await self._changed.wait()
        except OSError:
            self._leave()
        finally:
            self._outbox.clear()

    async def _deliver(self, message: str | bytes) -> None:
        if not self.gone:
            await self._send(_sent(message))
            self._waiting -= len(message)
            if self._taken is not None:
                self._taken.set()

    def _leave(self) -> None:
        """Note that the client has disconnected, and wake all tasks that wait for it."""
        self.gone = True
        self._changed.set()
        if self._taken is not None:
            self._taken.set()

    def _drop(self) -> None:
        log.warning("a client of %s did not read and was dropped", self.path)
        self._leave()
        self._outbox.clear()
        if self._abort is not None:
            self._abort()


def _sent(message: str | bytes) -> Message:
    form = "text" if isinstance(message, str) else "bytes"
    return {"type": "websocket.send", form: message}
