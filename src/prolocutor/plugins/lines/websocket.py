"""WebSocketConnector: a service behind a WebSocket, asked in messages of JSON.

Each request is a text message (the native body), each reply another, in the same order. Words of
an unfinished reply may come before it, each as `{"delta": TEXT}`; `{"error": TEXT}` in place of a
reply is a failure.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Final

from msgspec import Meta
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from prolocutor.background import BackgroundTasks
from prolocutor.bounds import Seconds, about
from prolocutor.connectors.parts.sockets import (
    PING_SECONDS,
    SocketAddress,
    SocketOpener,
    close_socket,
    closing_error,
    is_open,
)
from prolocutor.contracts.connector import AgentOptions, BearerKey, Headers, Replies, Request
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.dialog.plain import MAX_BYTES
from prolocutor.errors import ServiceError, ServiceUnreachable
from prolocutor.plugins.lines.line_calls import LineCall, LineCalls, is_late, write_line

log = logging.getLogger(__name__)

BACKOFF: Final = (0.5, 15.0)


class WebSocketConnector:
    """The way to `ws://host/path` (or wss), over a lasting connection.

    Many calls may be under way; answers come in their order. While the answer of an abandoned call
    is to come, the next call opens another connection. A broken connection fails its calls; the
    next call reconnects, with growing pauses after failures.
    """

    def __init__(self, options: WebSocketService, *, name: str) -> None:
        self.name = name
        address = SocketAddress(options.url, key=options.key, headers=options.headers)
        self._opener = SocketOpener(address, max_message=MAX_BYTES + 4096, ping=options.ping)
        self._greetings = options.greetings
        self._line: _SocketLine | None = None
        self._lines: set[_SocketLine] = set()
        self._tasks = BackgroundTasks("opening of a connection")
        self._opening: asyncio.Task[_SocketLine | ServiceError] | None = None
        self._wait = self._not_before = 0.0
        self._last: ServiceError = ServiceUnreachable("not opened yet")

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Send the requests and wait for the replies."""
        timeout = requests[0].timeout
        until = asyncio.get_running_loop().time() + timeout
        line = self._line
        if line is not None and line.is_held:
            line.retire()
        if line is None or not line.is_open:
            line = await self._find_line(until)
        calls: list[LineCall] = []
        try:
            if not await line.write(requests, calls):  # closed just now
                line = await self._find_line(until)
                if not await line.write(requests, calls):
                    raise line.end
            answers = [await call.answer for call in calls]
        except asyncio.CancelledError:
            self._leave(line, calls, until, timeout)
            raise
        if not any(isinstance(answer, ServiceUnreachable) for answer in answers):
            self._wait = 0.0
        return answers

    async def aclose(self) -> None:
        """Close the connection."""
        await self._tasks.aclose()
        self._opening = None
        await asyncio.gather(*(line.aclose() for line in tuple(self._lines)))
        self._line = None

    async def _find_line(self, until: float) -> _SocketLine:
        """Return the connection, opened if need be; concurrent calls wait for the same opening."""
        loop = asyncio.get_running_loop()
        while self._line is None or not self._line.is_open:
            if self._opening is None:
                rest = self._not_before - loop.time()
                if loop.time() + rest > until:
                    what = f"{self._last}; it is tried again in {rest:.1f} s"
                    raise ServiceUnreachable(what, sent=False)
                if rest > 0:
                    await asyncio.sleep(rest)
                    continue
                self._opening = self._tasks.start(self._open_line(), awaited=True)
            opened = await asyncio.shield(self._opening)
            if isinstance(opened, ServiceError):
                raise opened
            if not opened.is_open:
                raise opened.end
        return self._line

    async def _open_line(self) -> _SocketLine | ServiceError:
        loop = asyncio.get_running_loop()
        first, longest = BACKOFF
        self._not_before = loop.time() + self._wait
        self._wait = min(2 * self._wait, longest) if self._wait else first
        try:
            socket = await self._opener.open()
        except ServiceError as error:
            self._last = error
            return error
        finally:
            self._opening = None
        line = _SocketLine(socket, self._opener.address.shown, self.name, self._greetings)
        self._lines.add(line)
        line.reading.add_done_callback(lambda _: self._lines.discard(line))
        self._line = line
        return line

    def _leave(
        self, line: _SocketLine, calls: list[LineCall], until: float, timeout: float
    ) -> None:
        """Let answers that nobody waits for come until they are late; then open another line."""
        for call in calls:
            call.answer.cancel()

        def retire() -> None:
            if any(not call.is_settled for call in calls):
                if self._line is line:
                    self._line = None
                line.retire()

        if is_late(until, timeout):
            retire()
        else:
            asyncio.get_running_loop().call_at(until, retire)


class _SocketLine:
    """A connection, and the calls with answers on it."""

    def __init__(self, socket: ClientConnection, shown: str, name: str, greetings: int) -> None:
        self.is_open = True
        self.end: ServiceError = ServiceUnreachable(f"{shown} closed the connection")
        self._socket = socket
        self._shown = shown
        self._name = name
        self._greetings = greetings
        self._calls = LineCalls()
        self.reading: Final = BackgroundTasks(name).start(self._read())

    @property
    def is_held(self) -> bool:
        """Whether the answer of an abandoned call is still to come."""
        return self._calls.has_abandoned

    async def write(self, requests: Sequence[Request], calls: list[LineCall]) -> bool:
        """Send requests and add their calls; return False if it is closed and nothing was sent."""
        for request in requests:
            line = write_line(request).decode()
            if not self.is_open or not is_open(self._socket):
                self.is_open = False
                return bool(calls)
            calls.append(self._calls.add(request.deltas))
            try:
                await self._socket.send(line)
            except ConnectionClosed:
                self._close(ServiceUnreachable(f"{self._shown} closed the connection"))
        return True

    def retire(self) -> None:
        """Take no more calls, and close once nobody waits for an answer."""
        self.is_open = False
        if self._calls.is_abandoned:
            self._close(ServiceUnreachable(f"{self._shown} did not answer in time"))

    async def aclose(self) -> None:
        """Close the connection."""
        self._close(ServiceUnreachable("the connection is being closed"))
        await asyncio.wait([self.reading])

    async def _read(self) -> None:
        """Hand messages over until the connection ends."""
        wrong = None
        try:
            while wrong is None and (self.is_open or not self._calls.is_abandoned):
                wrong = self._take((await self._socket.recv(decode=False)).strip())
        except ConnectionClosed:
            self.end = closing_error(self._socket, self._shown)
        except asyncio.CancelledError:
            pass
        finally:
            self.is_open = False
            if wrong is not None:
                log.warning("%s: %s %s; it is opened anew", self._name, self._shown, wrong)
                self.end = ServiceUnreachable(f"{self._shown} {wrong}")
            self._calls.fail(self.end)
            await close_socket(self._socket)

    def _take(self, line: bytes) -> str | None:
        if self._greetings:
            self._greetings -= 1
            return None
        return self._calls.take(line) if line else None

    def _close(self, how: ServiceError) -> None:
        self.is_open = False
        self.end = how
        self._calls.fail(how)
        self.reading.cancel()


class WebSocketService(AgentOptions, frozen=True, kw_only=True):
    """A service that answers lines of JSON over a WebSocket."""

    makes: ClassVar[Callable[..., Any]] = WebSocketConnector

    url: Annotated[str, about("Its address, ws:// or wss://.", what="a URL")]
    key: BearerKey = None
    headers: Headers = None
    ping: Annotated[
        Seconds, about("The time between pings, which the server must answer; 0 for no pings.")
    ] = PING_SECONDS
    greetings: Annotated[
        Annotated[int, Meta(ge=0)],
        about(
            "The number of messages that the server sends of its own accord when a "
            "connection opens."
        ),
    ] = 0

    @classmethod
    def guess(cls, call: object) -> str | None:
        """Return how the address of a WebSocket is written."""
        is_one = isinstance(call, str) and re.match(r"wss?://", call)
        return f"websocket, call: {call}" if is_one else None

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Recognize a WebSocket that opens as a service with answers in lines of JSON."""
        if not probe.url.startswith("ws"):
            return None
        opened = await probe.greet(probe.url)
        if opened.status != 101:
            return None
        how = "it greeted by itself" if opened.body else "it said nothing by itself"
        return FoundService(
            what="a WebSocket",
            call={"url": probe.url, "greetings": 1} if opened.body else probe.url,
            certainty=0.2,
            notes=[f"it is taken for a service that answers lines of JSON; {how}"],
        )
