"""How doors write what comes piece by piece: events of a turn over SSE, answers on a socket."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.assistant.turn_stream import TurnStream
from prolocutor.contracts.http import HttpResponse
from prolocutor.contracts.websocket import WebSocket
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.turn_events import ReplyGiven, TurnEvent
from prolocutor.web.error_table import ErrorResponse, error_response

EVENT_STREAM: Final = "text/event-stream"
POLICY_VIOLATION: Final = 1008

_UNBUFFERED: Final = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}


async def take_turn(
    assistant: Assistant,
    input: TurnInput,
    show: Callable[[TurnEvent], Awaitable[None]] | None = None,
) -> TurnResult:
    """Make a turn of an input, and show what happens in it to who wants to know."""
    if show is None:
        return await assistant.turn(input)
    stream = assistant.stream(input)
    async for event in stream:
        if not isinstance(event, ReplyGiven):
            await show(event)
    return stream.result


async def begun(stream: TurnStream) -> list[TurnEvent]:
    """Return what happened first in a turn; raise what is wrong with its input."""
    return [await anext(stream), *stream.ready()]


async def batches(stream: TurnStream, first: list[TurnEvent]) -> AsyncIterator[list[TurnEvent]]:
    """Return what happens in a turn, all that waits together in one list; `ReplyGiven` ends it."""
    yield first
    async for event in stream:
        yield [event, *stream.ready()]


def server_event(data: bytes, name: bytes = b"") -> bytes:
    """Write one event of a stream."""
    return b"event: %b\ndata: %b\n\n" % (name, data) if name else b"data: %b\n\n" % data


def event_stream(
    pieces: AsyncGenerator[bytes, None],
    failure: Callable[[Exception], bytes],
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Return a response of events; `failure` writes what is raised once they have begun."""
    told = {**_UNBUFFERED, **(headers or {})}
    return HttpResponse(_guarded(pieces, failure), content_type=EVENT_STREAM, headers=told)


async def answered(
    answer: Awaitable[object], refused: Callable[[ErrorResponse], object] = ErrorResponse.body
) -> str:
    """Return as JSON what is answered to a message of a socket, or why there is no answer."""
    try:
        told = await answer
    except Exception as error:
        told = refused(error_response(error))
    return plain.encode(told).decode()


def end_refused(
    socket: WebSocket,
    error: Exception,
    refused: Callable[[ErrorResponse], object] = ErrorResponse.body,
) -> None:
    """Send why a socket is refused, and close it."""
    told = error_response(error)
    socket.send(plain.encode(refused(told)).decode())
    socket.close(POLICY_VIOLATION, told.code)


async def _guarded(
    pieces: AsyncGenerator[bytes, None], failure: Callable[[Exception], bytes]
) -> AsyncIterator[bytes]:
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                if piece:
                    yield piece
        except Exception as error:
            yield failure(error)
