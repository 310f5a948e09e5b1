"""EventOutbox: the messages of an answer that is sent as a stream of events."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Coroutine
from contextlib import suppress
from typing import Any, Final

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.http import HttpResponse
from prolocutor.dialog.plain import JsonObject
from prolocutor.json_rpc import (
    METHOD_NOT_FOUND,
    RpcFault,
    rpc_notification,
)
from prolocutor.plugins.mcp.door.server import failure
from prolocutor.web.event_writing import event_stream, server_event

COMMENT_INTERVAL: Final = 15.0
"""Seconds after which a comment shows that the stream is alive."""


STREAM_DELAY: Final = 5.0
"""Seconds after which an answer that is not there yet becomes a stream."""


class EventOutbox:
    """The messages during a call, then its answer, each as an event."""

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self._changed = asyncio.Event()

    def send(self, message: bytes) -> None:
        """Send a message before the answer."""
        self._messages.append(message)
        self._changed.set()

    async def response(self, answer: Coroutine[Any, Any, bytes]) -> HttpResponse:
        """Return the response: JSON if the answer comes soon and first, else a stream."""
        answering = BackgroundTasks("answer of events").start(answer, awaited=True)
        answering.add_done_callback(lambda _: self._changed.set())
        with suppress(TimeoutError):
            async with asyncio.timeout(STREAM_DELAY):
                await self._changed.wait()
        if answering.done() and not self._messages:
            return HttpResponse(answering.result())
        return event_stream(self._events(answering), _failure)

    async def _events(self, answering: asyncio.Future[bytes]) -> AsyncGenerator[bytes, None]:
        """Yield the events, the answer last; a client that leaves does not stop the call."""
        try:
            while not answering.done() or self._messages:
                while self._messages:
                    yield _event(self._messages.popleft())
                if answering.done():
                    break
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(COMMENT_INTERVAL):
                        await self._changed.wait()
                        continue
                yield b": still here\n\n"
            yield _event(answering.result())
        finally:
            answering.cancel()


class StreamBack:
    """The way back to a client that accepts notifications, but no requests."""

    def __init__(self, send: Any) -> None:
        self._send = send

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        self._send(rpc_notification(method, params))

    async def ask(self, method: str, params: JsonObject) -> Any:
        """Raise `RpcFault`, because questions are results in this version."""
        raise RpcFault(METHOD_NOT_FOUND, f"{method} cannot be asked here")


def _event(message: bytes) -> bytes:
    return server_event(message, b"message")


def _failure(error: Exception) -> bytes:
    return _event(failure(None, error))
