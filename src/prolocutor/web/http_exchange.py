"""HttpExchange: one HTTP request and its response, as ASGI has them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from http import HTTPStatus
from typing import Final

from prolocutor.web.asgi import Message, Scope
from prolocutor.web.connection_flow import ConnectionFlow

_BODILESS: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_ERROR: Final = b"something went wrong here"


class HttpExchange:
    """One request, as much of it as has come, and its response, as much of it as was sent.

    The head of the response is written with the first piece of its body: one packet for most.
    `defaults` are the headers that every response has.
    """

    __slots__ = ("_arrived", "_awaits_leave", "_defaults", "_flow", "_has_news", "_head",
                 "_is_bodiless", "_is_chunked", "_is_whole", "_left_out", "_pieces", "_size",
                 "_started", "is_gone", "is_over", "keeps_open", "scope")  # fmt: skip

    def __init__(
        self,
        flow: ConnectionFlow,
        scope: Scope,
        defaults: Sequence[tuple[bytes, bytes]],
        *,
        keeps_open: bool,
        awaits_leave: bool,
    ) -> None:
        self.scope = scope
        self.keeps_open = keeps_open
        """Whether the connection may be used again."""
        self.is_over = False
        """Whether the whole response was written."""
        self.is_gone = False
        """Whether the client has left before."""
        self._flow = flow
        self._defaults = defaults
        self._awaits_leave = awaits_leave  # the client sends its body when it reads 100
        self._pieces: list[bytes] = []
        self._size = 0
        self._is_whole = False
        self._has_news = False
        self._arrived: asyncio.Event | None = None
        self._started = False
        self._head = b""
        self._is_bodiless = self._is_chunked = False
        self._left_out: int | None = None

    # -- the request --------------------------------------------------------------------------

    def take(self, piece: bytes) -> int:
        """Add a piece of the body; return how many bytes wait for the app."""
        if self.is_over:
            return 0
        self._pieces.append(piece)
        self._size += len(piece)
        self._wake()
        return self._size

    def end(self) -> None:
        """Note that all of the body has come."""
        self._is_whole = True
        self._wake()

    def leave(self) -> None:
        """Note that the connection is closed."""
        self.is_gone = not self.is_over
        self._wake()

    def whole_body(self) -> bytes | None:
        """Return the body if all of it has come and none was received yet."""
        return self._taken() if self._is_whole and self._has_news else None

    async def receive(self) -> Message:
        """Return the next piece of the body; after it wait for the end (ASGI's `receive`)."""
        if self._awaits_leave and not self._started:
            self._awaits_leave = False
            self._flow.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not (self._has_news or self.is_over or self.is_gone):
            self._flow.resume_reading()
            self._arrived = self._arrived or asyncio.Event()
            self._arrived.clear()
            await self._arrived.wait()
        if self.is_over or self.is_gone:
            return {"type": "http.disconnect"}
        body = self._taken()
        return {"type": "http.request", "body": body, "more_body": not self._is_whole}

    def _taken(self) -> bytes:
        body = b"".join(self._pieces)
        self._pieces.clear()
        self._size, self._has_news = 0, False
        return body

    def _wake(self) -> None:
        self._has_news = True
        if self._arrived is not None:
            self._arrived.set()

    # -- the response -------------------------------------------------------------------------

    async def send(self, message: Message) -> None:
        """Write what the app says; what a client that has left would get is lost (ASGI's `send`).

        Raise `RuntimeError` for a response that is not one of HTTP.
        """
        if self._flow.is_held:
            await self._flow.writable()
        if self.is_gone:
            return
        if message["type"] == "http.response.start":
            self._start(message["status"], message.get("headers", ()))
        else:
            self._write(message.get("body", b""), message.get("more_body", False))

    def fail(self) -> None:
        """End a response that the app did not end: by status 500, or by closing the connection."""
        self.keeps_open = False
        is_unsent = bool(self._head) or not self._started
        if is_unsent and not self.is_gone:
            self._started = False
            self._start(500, [(b"content-length", b"%d" % len(_ERROR))])
            self._write(_ERROR, False)

    def _start(self, status: int, headers: Sequence[tuple[bytes, bytes]]) -> None:
        if self._started:
            raise RuntimeError("a second response to one request")
        length, says_close = None, False
        lines = [status_line(status)]
        for name, value in (*self._defaults, *headers):
            if name == b"content-length":
                length = int(value)
            elif name == b"connection":
                says_close = b"close" in value.lower()
            lines.append(b"%b: %b\r\n" % (name, value))
        if says_close or not self.keeps_open:
            self.keeps_open = False
            lines += [] if says_close else [b"connection: close\r\n"]
        self._is_bodiless = self.scope["method"] == "HEAD" or status in _BODILESS
        if not self._is_bodiless:
            self._left_out = length
            self._is_chunked = length is None and self.scope["http_version"] == "1.1"
            if self._is_chunked:
                lines.append(b"transfer-encoding: chunked\r\n")
            elif length is None:
                self.keeps_open = False
        head = b"".join(lines)
        if head.count(b"\n") != len(lines) or head.count(b"\r") != len(lines):
            raise RuntimeError("a line break in a header")
        self._head, self._started = head + b"\r\n", True

    def _write(self, body: bytes, more: bool) -> None:
        if self.is_over or not self._started:
            raise RuntimeError("a body without its response")
        data = b"" if self._is_bodiless else body
        if self._left_out is not None:
            self._left_out -= len(data)
            if self._left_out < 0 or (self._left_out and not more):
                raise RuntimeError("a body that is longer or shorter than it says")
        elif self._is_chunked:
            data = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
            data = data if more else data + b"0\r\n\r\n"
        if self._head:
            data, self._head = self._head + data, b""
        if data:
            self._flow.write(data)
        if not more:
            self.is_over = True
            self._wake()


@cache
def status_line(status: int) -> bytes:
    """Return the first line of a response."""
    known = status in HTTPStatus.__members__.values()
    return b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode() if known else b"")
