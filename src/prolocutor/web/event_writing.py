"""Events of turns and of feeds, in the wire form of a door."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.contracts.http import HttpResponse, WebSocket
from prolocutor.contracts.store import FeedRow, FeedStore
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.turn_events import ReplyGiven, TurnEvent
from prolocutor.errors import PersonMoved, StoreError
from prolocutor.web.error_table import ErrorResponse, error_response

log = logging.getLogger(__name__)


EVENT_STREAM: Final = "text/event-stream"
POLICY_VIOLATION: Final = 1008

_UNBUFFERED: Final = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}

PAGE_ROWS: Final = 100
RETRY_SECONDS: Final = 1.0
"""Seconds after which a feed that could not be read is read again."""


async def take_turn(
    assistant: Assistant,
    input: TurnInput,
    show: Callable[[TurnEvent], Awaitable[None]] | None = None,
) -> TurnResult:
    """Make a turn of an input, and pass its events to `show`."""
    if show is None:
        return await assistant.turn(input)
    stream = assistant.stream(input)
    async for event in stream:
        if not isinstance(event, ReplyGiven):
            await show(event)
    return stream.result


async def begun(stream: TurnStream) -> list[TurnEvent]:
    """Return the first events of a turn; raise the errors of its input."""
    return [await anext(stream), *stream.ready()]


async def batches(stream: TurnStream, first: list[TurnEvent]) -> AsyncIterator[list[TurnEvent]]:
    """Yield the events of a turn, the waiting events together as a list, up to `ReplyGiven`."""
    yield first
    async for event in stream:
        yield [event, *stream.ready()]


def server_event(data: bytes, name: bytes = b"") -> bytes:
    """Write an event of a stream."""
    return b"event: %b\ndata: %b\n\n" % (name, data) if name else b"data: %b\n\n" % data


def event_stream(
    pieces: AsyncGenerator[bytes, None],
    failure: Callable[[Exception], bytes],
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Return a response of events; `failure` writes an error as the last event."""
    all_headers = {**_UNBUFFERED, **(headers or {})}
    return HttpResponse(
        _guard_pieces(pieces, failure), content_type=EVENT_STREAM, headers=all_headers
    )


async def answer_message(
    answer: Awaitable[object], refused: Callable[[ErrorResponse], object] = ErrorResponse.body
) -> str:
    """Return the answer to a message of a socket as JSON, or the error of its handler."""
    try:
        message = await answer
    except Exception as error:
        message = refused(error_response(error))
    return plain.encode(message).decode()


def end_refused(
    socket: WebSocket,
    error: Exception,
    refused: Callable[[ErrorResponse], object] = ErrorResponse.body,
) -> None:
    """Send the error for which a socket is refused, and close it."""
    response = error_response(error)
    socket.send(plain.encode(refused(response)).decode())
    socket.close(POLICY_VIOLATION, response.code)


async def _guard_pieces(
    pieces: AsyncGenerator[bytes, None], failure: Callable[[Exception], bytes]
) -> AsyncIterator[bytes]:
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                if piece:
                    yield piece
        except Exception as error:
            yield failure(error)


class FeedFollower:
    """Hands each new row of a person's feed to `take` once, page by page; `after` is the last."""

    def __init__(
        self,
        store: FeedStore,
        user: str,
        take: Callable[[list[FeedRow]], Awaitable[None]],
        after: int = 0,
    ) -> None:
        self.after = after
        self._store = store
        self._user = user
        self._take = take
        self._reading = asyncio.Lock()

    async def follow(self, news: asyncio.Event) -> None:
        """Hand over new rows at each `news`, without end; raise `PersonMoved`."""
        while True:
            await news.wait()
            try:
                await self.catch_up(news)
            except PersonMoved:
                raise
            except StoreError as error:
                log.error("the feed of a person cannot be read: %s", error)
                await asyncio.sleep(RETRY_SECONDS)

    async def catch_up(self, news: asyncio.Event) -> None:
        """Hand over new rows now, in order even with concurrent calls; raise `StoreError`."""
        async with self._reading:
            while news.is_set():
                news.clear()
                try:
                    await self._read_on()
                except StoreError:
                    news.set()
                    raise

    async def _read_on(self) -> None:
        rows = await self._store.feed(self._user, self.after, PAGE_ROWS)
        if not rows and await self._store.feed_end(self._user) < self.after:
            self.after = 0  # the person was deleted; their feed starts anew
            rows = await self._store.feed(self._user, 0, PAGE_ROWS)
        while rows:
            await self._take(rows)
            self.after = rows[-1].n
            full = len(rows) == PAGE_ROWS
            rows = await self._store.feed(self._user, self.after, PAGE_ROWS) if full else []
