"""The connection of a client: uvicorn's protocols with limits on reading, memory and waiting.

docs/adr/0017-uvicorns-protocols.md lists the gaps of uvicorn itself.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from prolocutor.web.connection_places import SPARE_CONNECTIONS, ConnectionPlaces
from prolocutor.web.error_table import ErrorResponse, HttpError, error_response
from prolocutor.web.requests import ABORT, WHOLE_BODY

_TOO_LARGE: Final = error_response(
    HttpError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the headers are too large")
)
_TOO_SLOW: Final = error_response(
    HttpError(HTTPStatus.REQUEST_TIMEOUT, "the headers did not come in time")
)
_NOT_HTTP: Final = ErrorResponse(400, "this is not HTTP", "bad_request")
_NO_ADDRESS: Final = ErrorResponse(
    400, "a request has version 1.1, one header Host and a path", "bad_request"
)
_NO_HANDSHAKE: Final = ErrorResponse(400, "this is not a handshake of a WebSocket", "bad_request")
_NO_ANSWER: Final = ErrorResponse(503, "the WebSocket was not accepted in time", "overloaded")
_TOO_MANY: Final = ErrorResponse(503, "too many connections are open", "overloaded")

_HOST: Final = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[\w.~-]+)(?::\d*)?|")
"""A host and its port (RFC 9110); never several of them, nor a user at one."""

_VERSIONS: Final = ("1.1", "1.0")

_MAX_QUEUED: Final = 1
"""Requests of a connection that wait behind the one that is answered; no more are parsed."""

_HEALTH: Final = "/health/"

_PIECE_BYTES: Final = 2_048
"""Bytes of WebSocket frames that are parsed before a look at whether their messages are taken."""

_SPARE_PATIENCE: Final = 2.0
"""Seconds for a connection beyond the limits to ask for the health of the server."""

_IDLE_FRAMES: Final = 1_000
"""Pings, pongs and pieces of messages of a WebSocket between two pings of ours (20 s)."""

_MIN_TAKEN_BYTES: Final = 8_192
"""Bytes that a client takes within `limits.patience` seconds while it is behind, or is cut off."""


class BoundedHttpProtocol(HttpToolsProtocol):
    """An HTTP/1.1 connection: its requests are answered by the app in turn, in order.

    A head has to arrive in time and within its size; invalid HTTP is refused with a JSON body; a
    few requests wait in a queue, and further requests are not parsed; a client with its side closed
    still gets its responses; the server does not read while the client does not read.
    """

    def __init__(self, *args: Any, places: ConnectionPlaces, **named: Any) -> None:
        super().__init__(*args, **named)
        self._limits = places.limits
        self._places = places
        self._spare = places.spare
        self._address = ""
        self._is_holding = False
        self._unread = b""  # has come, and is parsed from `_at` on
        self._at = 0
        self._head_size = 0
        self._is_in_body = self._is_head_timed = False
        self._body_left = 0  # of a body whose length is known
        self._body_size = 0  # of the body that is coming
        self._answered: RequestResponseCycle | None = None
        self._refusal: ErrorResponse | None = None
        self._is_half_closed = False
        self._deadline: float | None = None  # for the next head to be complete
        self._timer: asyncio.TimerHandle | None = None

    # -- callbacks of the transport -----------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Take a connection; beyond the limits, refuse the oldest connection without a place."""
        super().connection_made(transport)
        self.flow = self._flow = _HeldFlow(transport)
        self._reader = _ReaderWatch(transport, self.loop, self._limits.patience)
        self._address = self.client[0] if self.client else ""
        patience = self._limits.patience
        if not self._places.take(self._address):
            patience = min(patience, _SPARE_PATIENCE)
            self._spare[self] = None
            if len(self._spare) > SPARE_CONNECTIONS:
                next(iter(self._spare))._refuse(_TOO_MANY)
        self._wait_for_head(patience)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the unfinished exchanges."""
        if self in self._spare:
            del self._spare[self]
        else:
            self._places.leave(self._address)
        self._places.hold(self.transport, self._address, 0)
        self._deadline = None
        if self._timer is not None:
            self._timer.cancel()
        self._reader.stop()
        self._unread = b""
        if self._is_in_body:
            self.cycle.body = bytearray()  # the collector of garbage may be long in coming
        self.pipeline.clear()
        super().connection_lost(exc)
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Parse the received data as far as the queue has places."""
        self._unread = self._unread[self._at :] + data if self._unread else data
        self._at = 0
        self._parse()
        self._note_held()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection of a client that has closed its side but waits for responses.

        After the beginning of its response a client's closing means it has left.
        """
        answered = self._answered
        is_waiting = answered is not None and not answered.response_started
        self._is_half_closed = is_waiting and not self.cycle.more_body
        return self._is_half_closed

    def pause_writing(self) -> None:
        """Hold responses back, and stop reading requests."""
        super().pause_writing()
        self._reader.start()
        self._note_held()

    def resume_writing(self) -> None:
        """Let responses go on."""
        self._reader.stop()
        super().resume_writing()
        if self._answered is not None and not self._is_answering():
            self._go_on()
        self._note_held()

    def _note_held(self) -> None:
        """Note the size of this client's data in memory, without the request in work."""
        size = sum(len(cycle.body) for cycle, _ in self.pipeline) if self.pipeline else 0
        if self._is_in_body:
            size += self._body_size
        if self._flow.has_backlog:
            size += len(self._unread) - self._at
        if self._flow.write_paused:
            size += self.transport.get_write_buffer_size()
        if size or self._is_holding:
            self._is_holding = bool(size)
            self._places.hold(self.transport, self._address, size)

    # -- parsing ------------------------------------------------------------------------------

    def _parse(self) -> None:
        """Feed the parser a single head or body at a time; it cannot stop within its input."""
        while self._unread and not self.transport.is_closing():
            if len(self.pipeline) >= _MAX_QUEUED or self.flow.write_paused or self._refusal:
                self._flow.has_backlog = True
                self._flow.pause_reading()
                return
            piece = self._next_piece()
            if not self._is_in_body:
                self._head_size += len(piece)
                if self._head_size > self._limits.head:
                    self._refuse(_TOO_LARGE)
                    return
            self._parse_piece(piece)
        self._flow.has_backlog = False
        if self._head_size and not self._is_head_timed:
            self._is_head_timed = True
            self._wait_for_head(self._limits.patience)

    def _next_piece(self) -> bytes | memoryview:
        """Return the data up to the end of a head, or of a body of known length."""
        data, start = self._unread, self._at
        if self._body_left:
            end = start + self._body_left
        else:
            header_end = data.find(b"\r\n\r\n", start)
            end = len(data) if header_end < 0 else header_end + 4
        if end < len(data):
            self._at = end
            return memoryview(data)[start:end]
        self._unread, self._at = b"", 0
        return memoryview(data)[start:] if start else data

    def _parse_piece(self, piece: bytes | memoryview) -> None:
        try:
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserUpgrade as upgrade:
                self._unread = bytes(piece[upgrade.args[0] :]) + self._unread[self._at :]
                self._at = 0
                self._see_to_upgrade()
        except httptools.HttpParserError:
            if self._is_in_body and self.cycle is self._answered:
                self._break_off(self.cycle)
            else:
                self._refuse(_NOT_HTTP)

    def _break_off(self, cycle: RequestResponseCycle) -> None:
        """Close the connection of a request with an invalid body, with one response."""
        cycle.disconnected = True
        cycle.message_event.set()
        if cycle.response_started:
            self.transport.close()
        else:
            _write_refusal(self.transport, _NOT_HTTP)

    def on_headers_complete(self) -> None:
        """Queue the request, whose body may follow; refuse it without a place."""
        self._deadline = None
        self._head_size, self._is_head_timed = 0, False
        # Blanks after a value are not part of it (RFC 9110, 5.5); the parser leaves them there.
        self.headers[:] = [(name, value.rstrip(b" \t")) for name, value in self.headers]
        if not self._is_addressed():
            self._refuse(_NO_ADDRESS)
            raise ValueError("not addressed as it should be")
        if self.parser.should_upgrade() and not self._should_upgrade():
            return
        if self in self._spare:
            self._check_place()
        super().on_headers_complete()
        if self.parser.should_upgrade():
            return
        self._is_in_body, self._body_size = True, 0
        lengths = [value for name, value in self.headers if name == b"content-length"]
        self._body_left = int(lengths[0]) if lengths else 0
        cycle = self.cycle
        cast("Any", self.scope)["extensions"] = {WHOLE_BODY: partial(_whole_body, cycle)}
        if self in self._spare:
            cycle.keep_alive = False

    def _is_addressed(self) -> bool:
        """Return whether a request names a single host and a path, for agreement with proxies."""
        hosts = [value for name, value in self.headers if name == b"host"]
        version = self.parser.get_http_version()
        if version not in _VERSIONS or not (self.url.startswith(b"/") or self.url == b"*"):
            return False
        if not hosts:
            return version == "1.0"
        return len(hosts) == 1 and _HOST.fullmatch(hosts[0]) is not None

    def _check_place(self) -> None:
        """Refuse a request of a connection without a place, except for the health routes."""
        if self._places.take(self._address):
            del self._spare[self]
        elif not self.url.startswith(_HEALTH.encode()):
            self._refuse(_TOO_MANY)
            raise ValueError("no place for this request")

    def on_body(self, body: bytes) -> None:
        """Add a piece of the body."""
        self._body_left = max(0, self._body_left - len(body))
        self._body_size += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note the end of a request."""
        self._is_in_body = False
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _see_to_upgrade(self) -> None:
        """Become a WebSocket, or ignore the upgrade (such as h2c) and parse the head without it.

        A server may stay with HTTP/1.1, but the parser stops at a head with an upgrade.
        """
        is_for_websocket = self._should_upgrade()
        if self.parser.get_method() == b"CONNECT" or (is_for_websocket and self._is_answering()):
            self._refuse(_NOT_HTTP)
            return
        if is_for_websocket:
            self._stop_timer()
            self._unread = b""
            self.handle_websocket_upgrade()
            return
        lines = [b"%b %b HTTP/1.1" % (self.parser.get_method(), self.url)]
        lines += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.parser.feed_data(b"\r\n".join([*lines, b"", b""]))

    # -- answering ----------------------------------------------------------------------------

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._line_up(cycle, app)

    def _line_up(
        self, cycle: RequestResponseCycle, app: Any, *, is_following: bool = False
    ) -> None:
        """Begin a request in its turn, a request for the health routes at once."""
        self._answered = cycle
        if not is_following and cycle.scope["path"].startswith(_HEALTH):
            self._begin(cycle, app)
        else:
            begin = partial(self._begin, cycle, app)
            self._places.turns.take(begin, is_following=is_following)

    def _begin(self, cycle: RequestResponseCycle, app: Any) -> None:
        if not cycle.disconnected:
            super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Go on with the next request, unless the client has yet to read this response."""
        if not self.flow.write_paused:
            self._go_on()

    def _go_on(self) -> None:
        if self.transport.is_closing():
            return
        if self.pipeline:
            self._line_up(*self.pipeline.pop(), is_following=True)
        if self._unread:
            self._parse()
        if self._is_holding:
            self._note_held()
        self.flow.resume_reading()
        if self._is_answering():
            return
        if self._refusal is not None:
            _write_refusal(self.transport, self._refusal)
        elif self._is_half_closed:
            self.transport.close()
        elif not self._is_head_timed:
            self._wait_for_head(self.timeout_keep_alive)

    def _is_answering(self) -> bool:
        return self._answered is not None and not self._answered.response_complete

    def _refuse(self, refusal: ErrorResponse) -> None:
        """Close the connection with a JSON response, after the responses in progress."""
        if self._is_answering():
            self._refusal = self._refusal or refusal
        elif not self.transport.is_closing():
            _write_refusal(self.transport, refusal)

    # -- limits of time -----------------------------------------------------------------------

    def _wait_for_head(self, seconds: float) -> None:
        """Limit the time for the next head. A single timer serves many requests."""
        deadline = self.loop.time() + seconds
        if self._timer is not None and self._timer.when() > deadline:
            self._stop_timer()
        self._deadline = deadline
        if self._timer is None:
            self._timer = self.loop.call_later(seconds, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        left = self._deadline - self.loop.time()
        if left > 0:
            self._timer = self.loop.call_later(left, self._on_time)
        elif self in self._spare:
            self._refuse(_TOO_MANY)
        elif self._head_size:
            self._refuse(_TOO_SLOW)
        else:
            self.transport.close()

    def _stop_timer(self) -> None:
        self._deadline = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class BoundedWebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket, which the app can abort by an ASGI extension.

    Its handshake has to be valid, and to be answered in time; the server does not read while a
    message waits for the app, or the client does not read.
    """

    def __init__(self, *args: Any, places: ConnectionPlaces, **named: Any) -> None:
        super().__init__(*args, **named)
        self._places = places
        self._patience = places.limits.patience
        self._unread = memoryview(b"")
        self._address = ""
        self._idle_frames = 0
        self._is_holding = False

    def connection_made(self, transport: Any) -> None:
        """Limit the time for the handshake."""
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._reader = _ReaderWatch(transport, self.loop, self._patience)
        self._timer = self.loop.call_later(self._patience, self._on_time)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake the app."""
        self._places.leave(self._address)
        self._places.hold(self.transport, self._address, 0)
        self._timer.cancel()
        self._reader.stop()
        self._unread, self.frames = memoryview(b""), []
        self.conn.reader.buffer.clear()  # the collector of garbage may be long in coming
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the received data until a message is complete."""
        self._unread = memoryview(bytes(self._unread) + data)
        self._parse()
        if not self.handshake_initiated and not self.transport.is_closing():
            _write_refusal(self.transport, _NO_HANDSHAKE)

    def pause_writing(self) -> None:
        """Hold messages back, and stop reading messages."""
        super().pause_writing()
        self.transport.pause_reading()
        self._reader.start()
        self._note_held()

    def resume_writing(self) -> None:
        """Let messages go on."""
        self._reader.stop()
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()
        self._parse()

    def _note_held(self) -> None:
        """Note the size of this client's data in memory, without the waiting messages."""
        size = len(self._unread) + sum(map(len, self.frames)) + len(self.conn.reader.buffer)
        if not self.writable.is_set():
            size += self.transport.get_write_buffer_size()
        if size or self._is_holding:
            self._is_holding = bool(size)
            self._places.hold(self.transport, self._address, size)

    def handle_ping(self) -> None:
        """Answer a ping."""
        super().handle_ping()
        self._count_idle_frame()

    def handle_pong(self, event: Any) -> None:
        """Note a pong."""
        super().handle_pong(event)
        self._count_idle_frame()

    def send_keepalive_ping(self) -> None:
        """Ask whether the client is there; it may send as many frames as before."""
        self._idle_frames = 0
        super().send_keepalive_ping()

    def _count_idle_frame(self) -> None:
        """Close the socket of a client that sends many frames without a message."""
        self._idle_frames += 1
        if self._idle_frames > _IDLE_FRAMES and not self.close_sent:
            self.conn.fail(1008, "too many frames without a message")
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.close()

    def handle_connect(self, event: Any) -> None:
        """Start the handshake, with the extension in its scope."""
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions = cast("dict[str, Any]", self.scope["extensions"])
            extensions[ABORT] = self.transport.abort

    def handle_cont(self, event: Any) -> None:
        """Add a piece to a message, without overhead for small pieces."""
        pieces = cast("list[Any]", self.frames)
        if not isinstance(pieces[0], bytearray):
            pieces[0] = bytearray(pieces[0])
        pieces[0] += event.data
        if event.fin:
            pieces[0] = bytes(pieces[0])
            self.send_receive_event_to_app()
        else:
            self._count_idle_frame()

    async def receive(self) -> Any:
        """Return the next message; read more data if no message waits."""
        if not self.queue.empty():
            await asyncio.sleep(0)  # others come to their turn between two messages
        message = await super().receive()
        if not self.writable.is_set() and not self.transport.is_closing():
            self.transport.pause_reading()
        self._parse()
        return message

    async def send(self, message: Any) -> None:
        """Send a message of the app; a complete refusal ends the handshake.

        Otherwise, uvicorn would log an error.
        """
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            self.handshake_complete = True

    def _parse(self) -> None:
        while self._unread and not (self.read_paused or self.transport.is_closing()):
            if not self.writable.is_set():
                break
            piece, self._unread = self._unread[:_PIECE_BYTES], self._unread[_PIECE_BYTES:]
            super().data_received(bytes(piece))
        self._note_held()

    def _on_time(self) -> None:
        if not self.handshake_complete and not self.transport.is_closing():
            _write_refusal(self.transport, _NO_ANSWER)


class _HeldFlow(FlowControl):
    """The flow of a connection, which does not read while its client does not read."""

    has_backlog = False
    """Whether some received bytes are not parsed yet."""

    def resume_reading(self) -> None:
        if not (self.write_paused or self.has_backlog or self._transport.is_closing()):
            super().resume_reading()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.resume_reading()


class _ReaderWatch:
    """Cuts off a client far behind that reads almost nothing."""

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, patience: float
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._patience = patience
        self._timer: asyncio.TimerHandle | None = None
        self._waiting = 0

    def start(self) -> None:
        self._waiting = self._transport.get_write_buffer_size()
        self._timer = self._loop.call_later(self._patience, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        if self._transport.get_write_buffer_size() > self._waiting - _MIN_TAKEN_BYTES:
            self._transport.abort()
        else:
            self.start()


def _whole_body(cycle: RequestResponseCycle) -> bytes | None:
    """Return the body of a request if it has come as a whole, else None."""
    if cycle.more_body:
        return None
    body, cycle.body = bytes(cycle.body), bytearray()
    cycle.message_event.clear()
    return body


def _write_refusal(transport: asyncio.Transport, refusal: ErrorResponse) -> None:
    body = refusal.encode_body()
    transport.write(
        b"%bcontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
        % (STATUS_LINE[refusal.status], len(body), body)
    )
    transport.close()
