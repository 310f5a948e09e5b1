"""HttpPeer: an MCP server behind a URL (streamable HTTP).

A request is a POST. Its answer is a JSON message, or a stream of events with the message at its
end; requests of the server in that stream are answered by POSTs of their own. A stream that breaks
off is resumed after its last id, if it has ids.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Final

import msgspec
from msgspec import UNSET, Raw

from prolocutor.background import BackgroundTasks
from prolocutor.connectors.parts.connecting import Network
from prolocutor.connectors.parts.event_stream import MAX_STREAM_BYTES, MAX_STREAM_LINES
from prolocutor.connectors.parts.http_answer import EVENT_STREAM, HttpReply
from prolocutor.connectors.parts.http_client import HttpClient, refusal_text
from prolocutor.errors import BadReply, ServiceError, ServiceRefused, ServiceUnreachable
from prolocutor.json_rpc import (
    RpcFault,
    RpcMessage,
    read_batch,
    read_message,
    rpc_notification,
    rpc_request,
)
from prolocutor.plugins.mcp.connector.peer import NO_HEADERS, ServerAsks, SessionLost, read_result
from prolocutor.plugins.mcp.oauth.discovery import TokenNeeded, read_challenge
from prolocutor.plugins.mcp.wire.headers import header_value
from prolocutor.plugins.mcp.wire.protocol import (
    METHOD_HEADER,
    NAME_HEADER,
    NAMED_BY,
    SESSION_HEADER,
    VERSION_HEADER,
    VERSION_KEY,
    is_stateless,
)

_BREAK: Final = re.compile(rb"\r\n|\n|\r")

log = logging.getLogger(__name__)

MAX_RESULT: Final = 4_000_000
"""Most bytes of one message of a server."""

MAX_RESUMES: Final = 2
"""Times that a broken stream is resumed."""

LINGER_SECONDS: Final = 0.25
"""Seconds for which the end of a stream is waited for once its answer is there."""

MAX_KNOWN: Final = 100
CLOSE_TIMEOUT: Final = 1.0
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0
"""Seconds until a session's own stream is opened again."""

MAX_HEARD: Final = 64_000_000


class ServerEvent(msgspec.Struct, frozen=True):
    """An event: its data lines, joined, and its type."""

    data: bytes
    event: str = "message"


class ServerEvents:
    """A stream of events (`BodyStream`).

    `take` gets each event and returns whether to stop. `last_id` is the id to resume after, None if
    the server gives no ids; `retry` is the pause before that in seconds. `BadReply` is raised for
    more than `max_bytes` bytes or an endless line.
    """

    kinds: Final = frozenset({EVENT_STREAM})

    def __init__(
        self, take: Callable[[ServerEvent], bool], *, max_bytes: int = MAX_STREAM_BYTES
    ) -> None:
        self.last_id: str | None = None
        self.retry: float | None = None
        self._take = take
        self._max_bytes = max_bytes
        self._bytes = self._lines = 0
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._event = ""

    def feed(self, piece: bytes) -> bool:
        """Read a piece of the stream; return whether to stop."""
        self._bytes += len(piece)
        if self._bytes > self._max_bytes:
            raise BadReply(f"a stream of more than {self._max_bytes:,} bytes")
        if b"\n" not in piece and b"\r" not in piece and not self._rest.endswith(b"\r"):
            self._rest.extend(piece)
            return False
        text = bytes(self._rest) + piece
        # A line that ends in a carriage return may go on with its line feed in the next piece.
        held = text.endswith(b"\r")
        *lines, rest = _BREAK.split(text[:-1] if held else text)
        self._rest = bytearray(rest)
        if held:
            self._rest += b"\r"
        self._lines += len(lines)
        if self._lines > MAX_STREAM_LINES:
            raise BadReply(f"a stream of more than {MAX_STREAM_LINES:,} lines")
        return any(self._read(line) for line in lines)

    def _read(self, line: bytes) -> bool:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._event = value.decode(errors="replace")
        elif field == b"id" and b"\0" not in value:
            self.last_id = value.decode(errors="replace")
        elif field == b"retry" and value.isdigit():
            self.retry = min(int(value[:9]) / 1000, 60.0)
        return False

    def _dispatch(self) -> bool:
        data, event = b"\n".join(self._data), self._event
        self._data, self._event = [], ""
        return bool(data) and self._take(ServerEvent(data, event or "message"))


class HttpPeer:
    """An MCP server behind `url`; `headers` are sent with every request.

    `asks` answers requests of the server; `tools_changed` is called when the server's tools change.
    """

    has_headers: ClassVar = True

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        asks: ServerAsks,
        tools_changed: Callable[[], None],
    ) -> None:
        self.version = ""
        self.token: str | None = None
        """Who asks, by OAuth; it goes out with every request."""
        self._session: str | None = None
        self._known: dict[tuple[str, str, str, str | None], Mapping[str, str]] = {}
        self._asks = asks
        self._tools_changed = tools_changed
        self._tasks = BackgroundTasks("MCP over HTTP")
        self._client = HttpClient(
            url,
            headers={
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                **headers,
            },
        )

    async def open(self, patience: float) -> bool:
        """Do nothing: requests open connections as needed."""
        del patience
        return False

    async def request(
        self, id_: int, method: str, params: Any, headers: Mapping[str, str] = NO_HEADERS
    ) -> Raw:
        """Post a request; return its result."""
        if method == "initialize":
            self.version, self._session = "", None
        body = rpc_request(id_, method, params)
        call = _HttpCall(self, id_)
        try:
            reply = await call.post(body, {**self._headers(method, params), **headers})
            if method == "initialize" and (given := reply.headers.get(SESSION_HEADER.encode())):
                self._session = given.decode("latin-1").strip()
        except asyncio.CancelledError:
            if method != "initialize" and not is_stateless(self.version):
                self._tasks.start(self.notify("notifications/cancelled", {"requestId": id_}))
            raise
        return call.result(reply)

    async def notify(self, method: str, params: Any) -> None:
        """Post a notification; after the handshake listen to unasked messages of the server."""
        await self._post(rpc_notification(method, params))
        if method == "notifications/initialized" and self._session is not None:
            self._tasks.start(self._listen(self._session))

    async def renew(self) -> None:
        """Forget the session and its version."""
        self.version, self._session = "", None

    async def aclose(self) -> None:
        """End the session and close the connections."""
        await self._tasks.aclose()
        if self._session is not None:
            with suppress(ServiceError, TimeoutError):
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await self.exchange(b"", self._headers(), method="DELETE")
            self._session = None
        await self._client.aclose()

    async def exchange(
        self,
        body: bytes,
        headers: Mapping[str, str],
        stream: ServerEvents | None = None,
        *,
        method: str | None = None,
    ) -> HttpReply:
        """Send an HTTP request; return the answer."""
        if self.token is not None:
            headers = {**headers, "Authorization": f"Bearer {self.token}"}
        return await self._client.exchange(
            body, headers, max_bytes=MAX_RESULT, stream=stream, method=method
        )

    def confine(self) -> Collection[Network] | None:
        """Return the networks that servers named by this server may be in; None for all."""
        return self._client.confine()

    def take(self, message: RpcMessage, within: int | None) -> None:
        """Handle a message that a server sends beside the answer to a request."""
        if message.is_request:
            self._tasks.start(self._answer_message(message, within))
        elif message.is_notification and message.method == "notifications/tools/list_changed":
            self._tools_changed()

    def lost(self) -> SessionLost:
        """Forget the session; return the error for it."""
        self._session = None
        return SessionLost("the server does not know the session any more")

    @property
    def has_session(self) -> bool:
        """Whether the server gave a session."""
        return self._session is not None

    def resuming(self, last_id: str) -> dict[str, str]:
        """Return the headers that resume a stream after an event."""
        return {**self._headers(), "Last-Event-ID": last_id}

    async def _listen(self, session: str) -> None:
        """Listen to the stream of the session, if any, until it ends."""
        wait = FIRST_WAIT
        while self._session == session:
            stream = ServerEvents(self._hear, max_bytes=MAX_HEARD)
            try:
                reply = await self.exchange(b"", self._headers(), stream, method="GET")
                if not reply.is_streamed:
                    return
                wait = FIRST_WAIT if stream.retry is None else stream.retry
            except ServiceError:
                wait = min(2 * wait, LONGEST_WAIT)
            await asyncio.sleep(wait)

    def _hear(self, event: ServerEvent) -> bool:
        with suppress(RpcFault):
            message = read_message(event.data)
            if message.method is not UNSET:
                self.take(message, None)
        return False

    async def _answer_message(self, message: RpcMessage, within: int | None) -> None:
        await self._post(await self._asks(message, within))

    async def _post(self, body: bytes) -> None:
        with suppress(ServiceError):
            await self.exchange(body, self._headers())

    def _headers(self, method: str = "", params: Any = None) -> Mapping[str, str]:
        name = NAMED_BY.get(method)
        named = str(params[name]) if name else ""
        key = (method, named, self.version, self._session)
        found = self._known.get(key)
        if found is None:
            if len(self._known) > MAX_KNOWN:
                self._known.clear()
            found = self._known[key] = self._made_headers(method, named, params)
        return found

    def _made_headers(self, method: str, named: str, params: Any) -> dict[str, str]:
        headers = {}
        if self._session is not None:
            headers["Mcp-Session-Id"] = self._session
        version = self.version
        if method == "server/discover":
            version = params["_meta"][VERSION_KEY]
        if version and method != "initialize":
            headers[VERSION_HEADER] = version
            if is_stateless(version) and method:
                headers[METHOD_HEADER] = method
                if named:
                    headers[NAME_HEADER] = header_value(named)
        return headers


class _HttpCall:
    """A request in flight, and its answer so far."""

    def __init__(self, peer: HttpPeer, id_: int) -> None:
        self._peer = peer
        self._id = id_
        self._answer: RpcMessage | None = None
        self._task = asyncio.current_task()
        self._lingering: asyncio.TimerHandle | None = None
        self._is_cut = False

    async def post(self, body: bytes, headers: Mapping[str, str]) -> HttpReply:
        """Send the request; resume its stream if it breaks off."""
        stream = ServerEvents(self._take)
        reply: HttpReply | None = None
        for attempt in range(MAX_RESUMES + 1):
            try:
                reply = await self._exchange(body, headers, stream, attempt > 0) or reply
            except ServiceUnreachable:
                if stream.last_id is None or attempt == MAX_RESUMES:
                    raise
            if self._answer is not None or stream.last_id is None:
                break
            if reply is not None and not reply.is_streamed:
                break
            await asyncio.sleep(1.0 if stream.retry is None else stream.retry)
            headers = self._peer.resuming(stream.last_id)
        return reply or HttpReply(200, b"", is_streamed=True)

    def result(self, reply: HttpReply) -> Raw:
        """Return the server's result."""
        if reply.status // 100 != 2:
            raise self._refusal(reply)
        if not reply.is_streamed:
            if not reply.body.strip():
                raise BadReply(f"status {reply.status} without an answer")
            self._read(reply.body)
        answer = self._answer
        if answer is None and reply.is_streamed:
            raise ServiceUnreachable("the stream ended without an answer")
        if answer is None:
            raise BadReply("the answer belongs to another request")
        return read_result(answer)

    async def _exchange(
        self, body: bytes, headers: Mapping[str, str], stream: ServerEvents, resumes: bool
    ) -> HttpReply | None:
        """Send an HTTP request; return None for a stream that continues after the answer."""
        try:
            if resumes:
                return await self._peer.exchange(b"", headers, stream, method="GET")
            return await self._peer.exchange(body, headers, stream)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._is_cut and task is not None and not task.uncancel():
                return None
            raise
        finally:
            if self._lingering is not None:
                self._lingering.cancel()
                self._lingering = None

    def _take(self, event: ServerEvent) -> bool:
        if event.event == "message":
            self._read(event.data)
        if self._answer is not None and self._lingering is None and self._task is not None:
            # Most servers end the stream now; then the connection can be used again.
            loop = self._task.get_loop()
            self._lingering = loop.call_later(LINGER_SECONDS, self._cut)
        return False

    def _cut(self) -> None:
        """Stop reading the stream."""
        if self._task is not None and not self._is_cut:
            self._is_cut = True
            self._task.cancel()

    def _read(self, data: bytes) -> None:
        try:
            for one in read_batch(data) or (data,):
                message = read_message(one)
                if message.method is not UNSET:
                    self._peer.take(message, self._id)
                elif message.id == self._id or message.id == str(self._id):
                    self._answer = message
        except RpcFault as fault:
            raise BadReply(str(fault)) from None

    def _refusal(self, reply: HttpReply) -> Exception:
        """Return the error for a status other than 2xx: the server's own error, if any."""
        challenge = read_challenge(reply.status, reply.headers.get(b"www-authenticate"))
        if challenge is not None:
            return TokenNeeded(refusal_text(reply), status=reply.status, challenge=challenge)
        unknown = reply.status == 404 or (reply.status == 400 and b"session" in reply.body.lower())
        if unknown and self._peer.has_session:
            return self._peer.lost()
        with suppress(RpcFault, msgspec.MsgspecError):
            error = read_message(reply.body).error
            if error is not None and reply.status < 500:
                return RpcFault(error.code, error.message, error.data)
        return ServiceRefused(refusal_text(reply), status=reply.status)
