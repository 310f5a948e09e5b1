"""HttpConnection: a connection to an HTTP server, with a single exchange at a time."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from typing import Final, cast

from prolocutor.connectors.parts.http_answer import BodyStream, HttpAnswerReader, HttpReply

READ_BYTES: Final = 16 * 1024
"""Most bytes that a connection takes in one pass of the event loop.

A server may put thousands of chunks or frames into them, each of which costs some microseconds.
"""

KEEP_ALIVE: Final = 60.0
"""Seconds an idle connection is kept at most, and where the server does not say how long."""

REFUSAL_SECONDS: Final = 0.25
"""Seconds to wait for the body of an answer with an error status."""


class PacedReading(asyncio.BufferedProtocol):
    """Mixin that limits each `data_received` to `READ_BYTES`; list it after the `Protocol`.

    Without it asyncio reads up to 256 KiB at once.
    """

    __slots__ = ("_read",)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where the next bytes are put."""
        self._read = memoryview(bytearray(READ_BYTES))
        return self._read

    def buffer_updated(self, nbytes: int) -> None:
        """Hand over the received bytes."""
        self.data_received(bytes(self._read[:nbytes]))

    @abstractmethod
    def data_received(self, data: bytes) -> None:
        """Take these bytes; implemented by the `Protocol`."""


class BrokenExchange(Exception):
    """The connection ended in the middle of an exchange.

    `is_stale`: it had been idle and ended before a byte of the answer came, so the request may be
    sent again. `is_begun`: the head of the answer had come. `reason`: the system's words, if any.
    """

    def __init__(self, *, is_stale: bool, is_begun: bool, reason: str | None) -> None:
        self.is_stale = is_stale
        self.is_begun = is_begun
        self.reason = reason
        super().__init__(reason or "")


class HttpConnection(PacedReading):
    """One connection. `exchange` sends a request and waits for the answer.

    After any irregularity a connection is closed and never used again: a cancelled or failed
    exchange, bytes outside an exchange, an answer before the whole request was sent. `lost` is done
    when it is closed. `on_made` and `on_lost` are called when it opens and closes.
    """

    __slots__ = (
        "_answer",
        "_is_kept",
        "_is_used",
        "_loop",
        "_on_lost",
        "_on_made",
        "_refusal_timer",
        "_transport",
        "_waiter",
        "expires",
        "lost",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_made: Callable[[HttpConnection], None],
        on_lost: Callable[[HttpConnection], None],
    ) -> None:
        self._loop = loop
        self._on_made = on_made
        self._on_lost = on_lost
        self._answer = HttpAnswerReader()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[HttpReply] | None = None
        self._refusal_timer: asyncio.TimerHandle | None = None
        self._is_used = False  # an exchange succeeded before this exchange
        self._is_kept = False
        self.expires = 0.0  # the loop's time after which no further exchange follows
        self.lost: asyncio.Future[None] = loop.create_future()

    async def exchange(
        self, request: bytes, max_body: int, stream: BodyStream | None = None
    ) -> HttpReply:
        """Send a request and return the answer, its body of at most `max_body` bytes.

        A good answer of the stream's `kinds` goes to `stream`, if given, without the limit
        `max_body`. Raise `BadReply` if the answer is not HTTP or over a limit, `BrokenExchange` if
        the connection ends; in both cases, and when cancelled, the connection is closed.
        """
        self._answer.begin(max_body, stream)
        transport = self._transport
        if transport is None or transport.is_closing():
            raise self._broken_exchange(None)
        self._is_kept = False
        waiter = self._waiter = self._loop.create_future()
        transport.write(request)
        try:
            reply: HttpReply = await waiter
        except BaseException:
            if waiter.done() and not waiter.cancelled():
                waiter.exception()  # or it counts as never retrieved where a cancellation came too
            self.abort()
            raise
        self._is_used = True
        return reply

    def is_reusable(self) -> bool:
        """Return whether another exchange may follow."""
        transport = self._transport
        return (
            self._is_kept
            and transport is not None
            and not transport.is_closing()
            and self._loop.time() < self.expires
        )

    def abort(self) -> None:
        """Close the connection at once; the running exchange, if any, is broken."""
        self._is_kept = False
        self._fail(self._broken_exchange(None))
        if self._transport is not None:
            self._transport.abort()

    # -- callbacks of the transport ------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(
            asyncio.Transport, transport
        )  # uvloop's transports lack this base class
        self._on_made(self)

    def data_received(self, data: bytes) -> None:
        """Read on in the answer."""
        if self._waiter is None:
            self.abort()
            return
        answer = self._answer
        answer.feed(data)
        if answer.failure is not None:
            self._fail(answer.failure)
        elif answer.is_done:
            self._settle()
        elif answer.is_refusal and self._refusal_timer is None:
            self._refusal_timer = self._loop.call_later(REFUSAL_SECONDS, self._settle)

    def eof_received(self) -> None:
        """Take the end of the server's data for the end of the connection."""
        self._end(None)
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """End the running exchange, if any."""
        self._is_kept = False
        self._end(error)
        self._on_lost(self)
        if not self.lost.done():
            self.lost.set_result(None)

    # -- how an exchange ends --------------------------------------------------------------------

    def _settle(self) -> None:
        """Hand over the answer; keep the connection only if nothing at all is left over."""
        waiter = self._take_waiter()
        transport = self._transport
        if waiter is None or transport is None:
            return
        answer = self._answer
        if answer.has_ended and answer.keeps_open and not transport.get_write_buffer_size():
            self._is_kept = True
            self.expires = self._loop.time() + answer.seconds_kept(KEEP_ALIVE)
        else:
            transport.abort()
        if not waiter.done():
            waiter.set_result(answer.reply())

    def _end(self, error: Exception | None) -> None:
        """End the exchange because the connection ends, which may be the end of the answer too."""
        answer = self._answer
        if answer.is_refusal or (answer.ends_with_connection and error is None):
            self._settle()
        else:
            self._fail(self._broken_exchange(error))

    def _fail(self, error: Exception) -> None:
        waiter = self._take_waiter()
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)

    def _broken_exchange(self, error: Exception | None) -> BrokenExchange:
        return BrokenExchange(
            is_stale=self._is_used and not self._answer.has_begun,
            is_begun=self._answer.has_head,
            reason=error.strerror if isinstance(error, OSError) else None,
        )

    def _take_waiter(self) -> asyncio.Future[HttpReply] | None:
        if self._refusal_timer is not None:
            self._refusal_timer.cancel()
            self._refusal_timer = None
        waiter, self._waiter = self._waiter, None
        return waiter
