"""HTTP requests and responses, between ASGI and the channels."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

from prolocutor.contracts.http import HttpResponse, Visitor
from prolocutor.dialog import plain
from prolocutor.errors import BadInput
from prolocutor.web.asgi import Message, Receive, Scope, Send
from prolocutor.web.authentication import ANONYMOUS
from prolocutor.web.error_table import ErrorResponse, HttpError
from prolocutor.web.limits import InFlight, ListenerLimits

log = logging.getLogger(__name__)


WHOLE_BODY: Final = "prolocutor.whole_body"
"""The ASGI extension by which our server gives a body that has come as a whole: no wait, no timer
(`web/connections.py`)."""

DISCARD_FACTOR: Final = 16
"""Up to so many times the allowed size is read and discarded, so that the sender can read the
response."""

NO_SNIFFING: Final = (b"x-content-type-options", b"nosniff")
"""The header that forbids browsers to guess another content type."""

ABORT: Final = "prolocutor.abort"
"""The ASGI extension by which our server aborts a connection (`web/connections.py`)."""

SERVICE_RESTART: Final = 1012
"""The code that closes a socket whose client can connect again at once, here or elsewhere."""


class AsgiConnection:
    """The common part of a request and a WebSocket's handshake: path, query and headers."""

    def __init__(
        self, scope: Scope, params: Mapping[str, str], visitor: Visitor = ANONYMOUS
    ) -> None:
        self.visitor = visitor
        self.params = params
        self.path: str = scope["path"]
        self.root: str = scope.get("root_path", "")
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self._query_string: bytes = scope["query_string"]

    def header(self, name: str) -> str | None:
        """Return the value of a header by its lower-case name."""
        value = self.headers.get(name.encode("latin-1"))
        # Blanks around a value are not part of it (RFC 9110, 5.5); not every server removes them.
        return None if value is None else str(value, "latin-1").strip(" \t")

    def query(self, name: str) -> str | None:
        """Return the last value of a query parameter."""
        return self._parameters.get(name) if self._query_string else None

    @cached_property
    def _parameters(self) -> dict[str, str]:
        return dict(parse_qsl(self._query_string.decode("latin-1"), keep_blank_values=True))


class AsgiRequest(AsgiConnection):
    """An HTTP request (`contracts.http.HttpRequest`)."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        params: Mapping[str, str],
        limits: ListenerLimits,
        visitor: Visitor = ANONYMOUS,
    ) -> None:
        super().__init__(scope, params, visitor)
        self.method: str = scope["method"]
        self._receive = receive
        self._limits = limits
        self._whole: Callable[[], bytes | None] | None = (scope.get("extensions") or {}).get(
            WHOLE_BODY
        )

    async def body(self) -> bytes:
        """Read the whole body; raise `HttpError` (413, 408) if it is too large or too slow."""
        if self._whole is not None and (body := self._whole()) is not None:
            if len(body) > self._limits.body:
                raise self._too_large()
            return body
        try:
            async with asyncio.timeout(self._limits.patience):
                return await self._read(self._limits.body)
        except TimeoutError:
            raise HttpError(
                HTTPStatus.REQUEST_TIMEOUT, "the body did not come in time", {"Connection": "close"}
            ) from None

    async def left(self) -> None:
        """Wait until the client has left, or the response is sent; read the body first."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _read(self, limit: int) -> bytes:
        declared = self.headers.get(b"content-length")
        if declared is not None and declared.isdigit() and int(declared[:18]) > limit:
            if b"expect" not in self.headers:
                await self._discard(0, True)
            raise self._too_large()
        body, more = await self._piece()
        if not more and len(body) <= limit:
            return body
        pieces, size = [body], len(body)
        while more and size <= limit:
            body, more = await self._piece()
            pieces.append(body)
            size += len(body)
        if size > limit:
            await self._discard(size, more)
            raise self._too_large()
        return b"".join(pieces)

    async def _discard(self, size: int, more: bool) -> None:
        """Read on within limits: a client cut off while it sends misses the response."""
        while more and size < DISCARD_FACTOR * self._limits.body:
            piece, more = await self._piece()
            size += len(piece)

    async def _piece(self) -> tuple[bytes, bool]:
        message = await self._receive()
        if message["type"] != "http.request":
            raise BadInput("the client left before its request was complete")
        return message.get("body", b""), message.get("more_body", False)

    def _too_large(self) -> HttpError:
        return HttpError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body has more than the {self._limits.body:,} bytes allowed",
            {"Connection": "close"},
        )


def json_response(value: Any, status: int = 200) -> HttpResponse:
    """Return a response with a Struct, or another JSON value, as its body."""
    return HttpResponse(plain.encode(value), status)


async def send_response(send: Send, response: HttpResponse, kind: str = "http.response") -> None:
    """Send a response, piece by piece if its body is an iterator."""
    body = response.body
    headers = [(b"content-type", response.content_type.encode("latin-1"))]
    if "X-Content-Type-Options" not in response.headers:
        headers.append(NO_SNIFFING)
    for name, value in response.headers.items():
        headers.append((name.lower().encode("latin-1"), value.encode("latin-1")))
    headers += [(b"set-cookie", cookie.encode("latin-1")) for cookie in response.cookies]
    start = {"type": f"{kind}.start", "status": response.status, "headers": headers}
    if isinstance(body, bytes):
        if response.status != HTTPStatus.NO_CONTENT:
            headers.append((b"content-length", b"%d" % len(body)))
        await send(start)
        await send({"type": f"{kind}.body", "body": body})
        return
    await send(start)
    await send({"type": f"{kind}.body", "body": b"", "more_body": True})  # the head goes with it
    async for piece in body:
        await send({"type": f"{kind}.body", "body": piece, "more_body": True})
    await send({"type": f"{kind}.body", "body": b""})


async def refuse_socket(scope: Scope, send: Send, refused: ErrorResponse) -> None:
    """Refuse a handshake, with an HTTP response if the server can send it."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008})
    else:
        await send_response(send, refused.response(), "websocket.http.response")


class AsgiWebSocket(AsgiConnection):
    """An open WebSocket (`contracts.channel.Socket`).

    `send` never waits: messages go to an outbox, which `write` empties. If it grows beyond
    `limits.outbox` bytes, because the client does not read, the connection is aborted. A message
    counts as in flight until the next message is requested.
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
        """Queue a message; it is lost if the client has disconnected."""
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

        A client is disconnected after `limits.patience` seconds without reading.
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
        """Return a context to count as a request in flight; a shutdown waits for its end."""
        return self._in_flight

    def stop(self) -> None:
        """Take no further message; the message in hand is still answered."""
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
        self.close(SERVICE_RESTART, "the assistant is shutting down")

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
        """Note the disconnection of the client, and wake all tasks in wait for it."""
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
