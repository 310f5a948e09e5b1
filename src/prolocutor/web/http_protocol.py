"""HttpProtocol: one connection of an HTTP/1.1 client to the listener.

httptools parses, as in uvicorn's protocol, whose place it takes: that one writes the head and the
body of a response apart, and has a timer, an event and a round of the loop for each request.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

import httptools
import uvicorn
from uvicorn.server import ServerState

from prolocutor.pipeline.calls import start_now
from prolocutor.web.asgi import App, Scope
from prolocutor.web.connection_flow import ConnectionFlow
from prolocutor.web.error_table import ErrorResponse, HttpError, error_response
from prolocutor.web.http_exchange import HttpExchange, status_line
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.requests import WHOLE_BODY

log = logging.getLogger(__name__)

_TOO_LARGE: Final = HttpError(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the headers are too large"
)
_TOO_SLOW: Final = HttpError(HTTPStatus.REQUEST_TIMEOUT, "the headers did not come in time")
_NOT_HTTP: Final = ErrorResponse(400, "this is not HTTP", "bad_request")
_TOO_MANY: Final = ErrorResponse(503, "too many connections are open", "overloaded")

_BUFFERED: Final = 65_536
"""Bytes of a body that wait for the app before no more are read."""


class HttpProtocol(asyncio.Protocol):
    """One connection: its requests are answered by the app one at a time, in order.

    A head has to arrive in time and within its size; what is no HTTP is refused as JSON.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limits: ListenerLimits,
    ) -> None:
        self._config = config
        self._state: Any = server_state
        self._app_state = app_state
        self._app: App = config.loaded_app
        self._limits = limits
        self._loop = _loop or asyncio.get_running_loop()
        self._parser = self._new_parser()
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._is_in_head = True
        self._head_size = 0
        self._has_ended_one = False
        self._read: HttpExchange | None = None  # the one whose body is being read
        self._answered: HttpExchange | None = None  # the one that the app answers
        self._queue: deque[HttpExchange] = deque()
        self._deadline: float | None = None  # for the next head to be complete
        self._timer: asyncio.TimerHandle | None = None

    # -- callbacks of the transport -----------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Take a connection unless too many are open."""
        self._transport: asyncio.Transport = transport
        self._flow = ConnectionFlow(transport)
        self._client = _address(transport.get_extra_info("peername"))
        self._server = _address(transport.get_extra_info("sockname"))
        self._state.connections.add(self)
        if len(self._state.connections) > self._limits.connections:
            self._refuse(_TOO_MANY)
        else:
            self._wait_for_head(self._limits.patience)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the exchanges that are not over."""
        self._state.connections.discard(self)
        self._deadline = None
        if self._timer is not None:
            self._timer.cancel()
        if self._answered is not None:
            self._answered.leave()
        self._queue.clear()
        self._flow.release()

    def data_received(self, data: bytes) -> None:
        """Feed the parser, then begin to answer; a head that is incomplete gets a time limit."""
        self._has_ended_one = False
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._see_to_upgrade(memoryview(data)[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(_NOT_HTTP)
        if self._is_in_head:
            if not self._head_size:
                self._wait_for_head(self._limits.patience)
            # Where a request ended in these data, most of them may be its body.
            self._head_size += 1 if self._has_ended_one else len(data)
            if self._head_size > self._limits.head:
                self._refuse(error_response(_TOO_LARGE))
        if self._queue and self._answered is None:
            self._answer_next()

    def pause_writing(self) -> None:
        """Hold responses back."""
        self._flow.hold()

    def resume_writing(self) -> None:
        """Let responses go on."""
        self._flow.release()

    # -- callbacks of the parser --------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Start to read a head."""
        self._is_in_head, self._head_size = True, 0
        self._url, self._headers = b"", []

    def on_url(self, url: bytes) -> None:
        """Add a piece of the address."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header."""
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Queue the request, whose body may follow; refuse a head that is too large."""
        self._is_in_head = False
        self._deadline = self._read = None
        size, awaits_leave = len(self._url), False
        for name, value in self._headers:
            size += len(name) + len(value)
            if name == b"expect":
                awaits_leave = value.lower() == b"100-continue"
        if size > self._limits.head:
            self._refuse(error_response(_TOO_LARGE))
            raise ValueError("head too large")
        if self._parser.should_upgrade():
            return
        scope = self._scope()
        keeps_open = scope["http_version"] != "1.0" and self._parser.should_keep_alive()
        self._read = exchange = HttpExchange(
            self._flow,
            scope,
            self._state.default_headers,
            keeps_open=keeps_open,
            awaits_leave=awaits_leave,
        )
        scope["extensions"] = {WHOLE_BODY: exchange.whole_body}
        if self._answered is not None or self._queue:
            self._flow.pause_reading()
        self._queue.append(exchange)

    def on_body(self, body: bytes) -> None:
        """Add a piece of the body."""
        if self._read is not None and self._read.take(body) > _BUFFERED:
            self._flow.pause_reading()

    def on_message_complete(self) -> None:
        """Note the end of a request."""
        self._has_ended_one = True
        if self._read is not None:
            self._read.end()

    # -- answering ----------------------------------------------------------------------------

    def shutdown(self) -> None:
        """Close the connection, after the response that is being made if there is one."""
        if self._answered is None:
            self._transport.close()
        else:
            self._answered.keeps_open = False

    def _answer_next(self) -> None:
        """Start the app on the oldest request that waits, in a task whose first step runs now."""
        if self._answered is None and self._queue:
            exchange = self._answered = self._queue.popleft()
            task = start_now(self._answer(exchange), self._loop, None)
            if not task.done():
                self._state.tasks.add(task)
                task.add_done_callback(self._state.tasks.discard)

    async def _answer(self, exchange: HttpExchange) -> None:
        try:
            await self._app(exchange.scope, exchange.receive, exchange.send)
            if not (exchange.is_over or exchange.is_gone):
                raise RuntimeError("the app ended without a whole response")
        except Exception:
            log.exception("the app raised, or did not end its response")
            exchange.fail()
        except BaseException:
            exchange.fail()
            raise
        finally:
            self._answered = None
            self._go_on(exchange.keeps_open)

    def _go_on(self, keeps_open: bool) -> None:
        """Close the connection after an exchange, or let it have the next one."""
        if self._transport.is_closing():
            return
        if not keeps_open:
            self._transport.close()
        elif self._queue:
            self._loop.call_soon(self._answer_next)
        else:
            self._flow.resume_reading()
            if self._deadline is None:
                self._wait_for_head(self._config.timeout_keep_alive)

    def _scope(self) -> Scope:
        address = httptools.parse_url(self._url)
        if address.path is None:
            raise ValueError("an address without a path")
        path = address.path.decode("ascii")
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": self._parser.get_http_version(),
            "server": self._server,
            "client": self._client,
            "scheme": "http",
            "root_path": "",
            "method": self._parser.get_method().decode("ascii"),
            "path": unquote(path) if "%" in path else path,
            "raw_path": address.path,
            "query_string": address.query or b"",
            "headers": self._headers,
        }

    # -- refusals, upgrades, limits of time ---------------------------------------------------

    def _refuse(self, refused: ErrorResponse) -> None:
        """Refuse what is no request, as JSON, and close the connection."""
        self._queue.clear()
        if self._transport.is_closing():
            return
        body = refused.encoded()
        self._transport.write(
            b"%bcontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
            % (status_line(refused.status), len(body), body)
        )
        self._transport.close()

    def _see_to_upgrade(self, rest: memoryview) -> None:
        """Become a WebSocket, or parse the head again as if it had asked for nothing: h2c, say.

        A server may stay with HTTP/1.1; the parser stops at such a head all the same.
        """
        while not self._transport.is_closing():
            if self._is_for_websocket():
                self._become_websocket()
                return
            if self._parser.get_method() == b"CONNECT":
                self._refuse(_NOT_HTTP)
                return
            head = self._head(without=b"upgrade")
            self._parser = self._new_parser()
            try:
                self._parser.feed_data(head)
                self._parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
            except httptools.HttpParserError:
                self._refuse(_NOT_HTTP)

    def _is_for_websocket(self) -> bool:
        headers = dict(self._headers)
        tokens = headers.get(b"connection", b"").lower().split(b",")
        upgrades = b"upgrade" in [token.strip() for token in tokens]
        return upgrades and headers.get(b"upgrade", b"").lower() == b"websocket"

    def _become_websocket(self) -> None:
        """Hand the connection over to the protocol of WebSockets, with the head as it came."""
        self._state.connections.discard(self)
        self._stop_timer()
        make: Any = self._config.ws_protocol_class
        protocol = make(config=self._config, server_state=self._state, app_state=self._app_state)
        protocol.connection_made(self._transport)
        protocol.data_received(self._head())
        self._transport.set_protocol(protocol)

    def _head(self, without: bytes = b"") -> bytes:
        """Return the head that was read, without one of its headers."""
        lines = [b"%b %b HTTP/1.1" % (self._parser.get_method(), self._url)]
        lines += [b"%b: %b" % header for header in self._headers if header[0] != without]
        return b"\r\n".join([*lines, b"", b""])

    def _new_parser(self) -> httptools.HttpRequestParser:
        parser = httptools.HttpRequestParser(self)
        parser.set_dangerous_leniencies(lenient_data_after_close=True)
        return parser

    def _wait_for_head(self, seconds: float) -> None:
        """Limit the time for the next head. One timer serves many requests."""
        deadline = self._loop.time() + seconds
        if self._timer is not None and self._timer.when() > deadline:
            self._stop_timer()
        self._deadline = deadline
        if self._timer is None:
            self._timer = self._loop.call_later(seconds, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        left = self._deadline - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._on_time)
        elif self._is_in_head and self._head_size:
            self._refuse(error_response(_TOO_SLOW))
        else:
            self._transport.close()

    def _stop_timer(self) -> None:
        self._deadline = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _address(info: object) -> tuple[str, int] | None:
    return (str(info[0]), int(info[1])) if isinstance(info, tuple) else None
