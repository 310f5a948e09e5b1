"""AlmondConnector: another Almond (or Genie) as a skill, over its WebSocket of conversations.

Source: the Almond Dialog API; both generations of its wire are understood (`almond_conversation`).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from prolocutor.background import BackgroundTasks
from prolocutor.bounds import Seconds, about
from prolocutor.connectors.parts.asking import PeerQuestion, make_hypothesis, read_question
from prolocutor.connectors.parts.network_calls import each_alone
from prolocutor.connectors.parts.sockets import (
    PING_SECONDS,
    SocketAddress,
    SocketOpener,
    close_socket,
    closing_error,
    is_open,
)
from prolocutor.connectors.parts.url import Url
from prolocutor.contracts.connector import (
    AgentOptions,
    BearerKey,
    Confidence,
    Headers,
    Replies,
    Request,
)
from prolocutor.contracts.probe import FoundService, UrlProbe
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.plain import MAX_BYTES, JsonObject, Plain, check, encode
from prolocutor.errors import BadReply, ServiceError, ServiceRaised, ServiceUnreachable

CONVERSATION: Final = "/api/conversation"
CONVERSATION_KEY: Final = "almond_conversation:"
"""The bot's attribute with the conversation id that an Almond gave; its service's name is added."""

DEFAULT_CONFIDENCE: Final = 0.5
MAX_CONNECTIONS: Final = 64
IDLE_SECONDS: Final = 300.0
"""Seconds after which an idle connection may be closed."""

log = logging.getLogger(__name__)

MAX_MESSAGES: Final = 100
MAX_TURN_BYTES: Final = 4_000_000
OPENING_QUIET: Final = 2.0
"""Seconds to wait for the first messages of a new connection."""

SILENT_SECONDS: Final = 0.3
"""Seconds after which the first generation's `askSpecial` without a message ends a turn."""

SETTLED_SHARE: Final = 0.8
"""The part of a time-out after which a turn without `askSpecial` is taken as it is."""

_CONTROL: Final = frozenset({"id", "new-device", "hypothesis", "ping", "req-subproto"})


class AlmondConnector:
    """The way to `ws://host/api/conversation` (the path of an address without a path).

    A dialog is a conversation of the peer, named by the dialog's id (or by `?id=` of the address,
    for all dialogs), with a connection of its own. Of more than `connections` connections the
    longest idle is closed, like any connection idle for `idle` seconds; it is opened again when
    needed. All messages until `askSpecial` make a hypothesis of `confidence`; the peer's ask
    becomes our ask, and the answer goes back as a value. `key` is sent as a bearer token.
    """

    def __init__(self, options: AlmondServer, *, name: str) -> None:
        self.name = name
        address = SocketAddress(options.url, key=options.key, headers=options.headers)
        self._url = address.url
        if self._url.path in ("", "/"):
            self._url = self._url.replace_path(CONVERSATION)
        scheme = "https" if self._url.is_secure else "http"
        self._home = Url(scheme=scheme, host=self._url.host, port=self._url.port)
        self._parameters = self._url.parameters
        self._opener = SocketOpener(address, max_message=MAX_BYTES, ping=options.ping)
        self._confidence = options.confidence
        self._connections = options.connections
        self._idle = options.idle
        self._conversations: OrderedDict[str, AlmondConversation] = OrderedDict()
        self._reading = BackgroundTasks(address.shown)

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Say each request in its conversation."""
        return await each_alone(self._ask, requests)

    async def aclose(self) -> None:
        """Close the connections; break off those that were left before and are not closed yet."""
        conversations = [*self._conversations.values()]
        self._conversations.clear()
        await asyncio.gather(*(conversation.aclose() for conversation in conversations))
        await self._reading.aclose()

    async def _ask(self, request: Request) -> Plain:
        question = read_question(request)
        if not question.text.strip() and question.parsed is None:
            return check([])  # of which an Almond takes no notice
        given = self._parameters.get("id") or self._parameters.get("conversationId")
        kept = question.kept.get(CONVERSATION_KEY + self.name)
        id_ = given or (kept if isinstance(kept, str) else question.dialog_id)
        conversation = self._conversation(given or question.dialog_id, id_)
        said = await conversation.say(_frame(question), request.timeout)
        hypothesis = make_hypothesis("", said.messages, said.ask, self._confidence, self._home)
        if hypothesis is None:
            return check([])
        if conversation.id not in (given, question.dialog_id):
            hypothesis["bot_attributes"] = {CONVERSATION_KEY + self.name: conversation.id}
        return check([hypothesis])

    def _conversation(self, key: str, id_: str) -> AlmondConversation:
        """Return the conversation of a dialog, and close idle conversations."""
        now = asyncio.get_running_loop().time()
        found = self._conversations.get(key)
        if found is None:
            found = AlmondConversation(self._opener, self._url, id_, self._reading)
            self._conversations[key] = found
        self._conversations.move_to_end(key)
        found.last_used = now
        for other, conversation in [*self._conversations.items()]:
            rested = now - conversation.last_used > self._idle
            if not rested and len(self._conversations) <= self._connections:
                break
            if conversation is not found and not conversation.is_busy:
                del self._conversations[other]
                conversation.close()
        return found


def _frame(question: PeerQuestion) -> JsonObject:
    """Return a client's frame: the text, or its parsed form with the text as title."""
    if question.parsed is None:
        return {"type": "command", "text": question.text}
    frame: dict[str, Any] = {"type": "parsed", "json": question.parsed}
    return {**frame, "title": question.text} if question.text else frame


class AlmondServer(AgentOptions, frozen=True, kw_only=True):
    """An Almond or Genie, by its WebSocket."""

    makes: ClassVar[Callable[..., Any]] = AlmondConnector

    url: Annotated[str, about("Its address.", what="a URL")]
    key: BearerKey = None
    headers: Headers = None
    confidence: Confidence = DEFAULT_CONFIDENCE
    connections: Annotated[
        Annotated[int, Meta(ge=1)],
        about(
            "The greatest number of open connections; beyond it the connection that was "
            "idle longest is closed."
        ),
    ] = MAX_CONNECTIONS
    idle: Annotated[Seconds, about("The time after which an idle connection may be closed.")] = (
        IDLE_SECONDS
    )
    ping: Annotated[Seconds, about("The time between pings; 0 for no pings.")] = PING_SECONDS

    @classmethod
    def guess(cls, call: object) -> str | None:
        """Return how the address of a conversation is written."""
        if not isinstance(call, str):
            return None
        is_one = re.match(r"genie:|wss?://[^?]*/(conversation|anonymous)/?(\?|$)", call)
        return f"almond, call: {call.removeprefix('genie:')}" if is_one else None

    @classmethod
    async def recognize(cls, probe: UrlProbe) -> FoundService | None:
        """Open a conversation, in which an Almond speaks first."""
        is_named = probe.path.endswith("/conversation")
        is_socket = probe.url.startswith("ws")
        url = probe.base() if is_named or is_socket else probe.base() + CONVERSATION
        url = url if is_socket else f"ws{url.removeprefix('http')}"
        quiet = f"id=probe-{new_id()}&hide_welcome=1&skip_history=1"
        frame = (await probe.greet(f"{url}?{quiet}")).json()
        if not isinstance(frame, dict) or frame.get("type") not in ("id", "askSpecial", "text"):
            return None
        return FoundService(what="an Almond", call=url, certainty=1.0 if is_named else 0.5)


class AlmondSaid(msgspec.Struct):
    """The messages of an Almond in a turn, and its ask."""

    messages: list[JsonObject]
    ask: Any = None


class AlmondConversation:
    """One conversation; one turn at a time. `id` is the peer's name of it, once known."""

    def __init__(self, opener: SocketOpener, url: Url, id_: str, reading: BackgroundTasks) -> None:
        self.id = id_
        self._reading = reading
        self.last_used = 0.0
        self._opener = opener
        self._url = url
        self._turns = asyncio.Lock()
        self._line: _AlmondLine | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a turn is running or waiting."""
        return self._turns.locked()

    async def say(self, frame: JsonObject, timeout: float) -> AlmondSaid:
        """Send a frame and return the messages until `askSpecial`; raise `ServiceError` on failure.

        A cancelled call closes the connection, so that late messages are not taken for an answer.
        """
        until = asyncio.get_running_loop().time() + SETTLED_SHARE * timeout
        async with self._turns:
            try:
                line = await self._open_line()
                said = await line.say(frame, until)
                if said is None:  # closed just now
                    line = await self._open_line()
                    said = await line.say(frame, until)
                if said is None:
                    raise line.end
                return said
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Close the connection without waiting."""
        line, self._line = self._line, None
        if line is not None:
            line.reading.cancel()

    async def aclose(self) -> None:
        """Close the connection."""
        line = self._line
        self.close()
        if line is not None:
            await asyncio.wait([line.reading])

    async def _open_line(self) -> _AlmondLine:
        if self._line is None or not self._line.is_open:
            own = {"id": self.id, "skip_history": "1", "hide_welcome": "1"}
            socket = await self._opener.open(self._url.replace_parameters(**own))
            self._line = _AlmondLine(socket, self._opener.address.shown, self._reading)
            await asyncio.wait([self._line.ready], timeout=OPENING_QUIET)
            self._line.begin()
            if self._line.id is not None:
                self.id = self._line.id
        return self._line


class _Turn:
    """The messages received between an input and `askSpecial`."""

    def __init__(self, *, echoes: bool) -> None:
        self.said: asyncio.Future[AlmondSaid | ServiceError] = (
            asyncio.get_running_loop().create_future()
        )
        self._messages: list[JsonObject] = []
        self._bytes = 0
        self._waits_for_echo = echoes
        self._was_echoed = False

    def take(self, kind: str, frame: JsonObject, size: int) -> None:
        """Take a frame."""
        if kind == "command":
            if self._waits_for_echo:  # messages before the echo belong to an earlier turn
                self._messages.clear()
            self._waits_for_echo = False
            self._was_echoed = True
        elif kind == "askSpecial":
            self._end(AlmondSaid(self._messages, frame.get("ask", frame.get("what"))))
        elif kind == "error":
            words = frame.get("error") or frame.get("message") or frame.get("code") or ""
            self.settle(ServiceRaised(f"it answered with an error: {words!s:.300}"))
        elif kind not in _CONTROL and not kind.startswith("protocol:"):
            self._bytes += size
            if len(self._messages) >= MAX_MESSAGES or self._bytes > MAX_TURN_BYTES:
                self.settle(BadReply(f"more than {MAX_MESSAGES} messages, or too many bytes"))
            else:
                self._messages.append(frame)

    def take_as_it_is(self) -> None:
        """Settle with the messages so far, if any: some turns end without `askSpecial`."""
        if self._messages:
            self.settle(AlmondSaid(self._messages))

    def _end(self, said: AlmondSaid) -> None:
        """Settle, unless `askSpecial` may belong to a turn before this one."""
        if said.messages or self._was_echoed:
            self.settle(said)
        elif not self._waits_for_echo:
            asyncio.get_running_loop().call_later(SILENT_SECONDS, self._end_silent, said)

    def _end_silent(self, said: AlmondSaid) -> None:
        if not self._messages:
            self.settle(said)

    def settle(self, outcome: AlmondSaid | ServiceError) -> None:
        """Set the outcome, unless it is set already."""
        if not self.said.done():
            self.said.set_result(outcome)


class _AlmondLine:
    """One connection; messages outside of a turn are ignored."""

    def __init__(self, socket: ClientConnection, shown: str, reading: BackgroundTasks) -> None:
        loop = asyncio.get_running_loop()
        self.id: str | None = None
        self.is_open = True
        self.ready: asyncio.Future[None] = loop.create_future()
        self.end: ServiceError = ServiceUnreachable(f"{shown} closed the connection")
        self._socket = socket
        self._shown = shown
        self._turn: _Turn | None = None
        self.reading: Final = reading.start(self._read())

    def begin(self) -> None:
        """Count messages from now on as the answer."""
        if not self.ready.done():
            self.ready.set_result(None)

    async def say(self, frame: JsonObject, until: float) -> AlmondSaid | None:
        """Send a frame and return the answer; None if the connection was already closed."""
        if not self.is_open or not is_open(self._socket):
            self.is_open = False
            return None
        turn = self._turn = _Turn(echoes=self.id is not None)
        timer = asyncio.get_running_loop().call_at(until, turn.take_as_it_is)
        try:
            try:
                await self._socket.send(encode(frame).decode())
            except ConnectionClosed:
                self.is_open = False
                return None
            said = await turn.said
        finally:
            timer.cancel()
            self._turn = None
        if isinstance(said, ServiceError):
            raise said
        return said

    async def _read(self) -> None:
        """Take frames until the connection ends."""
        try:
            while True:
                await self._take(await self._socket.recv(decode=False))
        except ConnectionClosed:
            self.end = closing_error(self._socket, self._shown)
        except ServiceError as error:
            self.end = error
        except asyncio.CancelledError:
            pass
        finally:
            self.is_open = False
            self.begin()
            if self._turn is not None:
                self._turn.settle(self.end)
            await close_socket(self._socket)

    async def _take(self, data: bytes) -> None:
        try:
            frame: Any = msgspec.json.decode(data)
        except (ValueError, RecursionError) as error:
            raise BadReply(f"not JSON: {error}") from None
        kind = frame.get("type") if isinstance(frame, dict) else None
        if not isinstance(kind, str):
            raise BadReply("a frame of an Almond is an object with a type")
        if kind == "id" and isinstance(frame.get("id"), str):
            self.id = frame["id"]
        elif kind == "ping":
            await self._socket.send('{"type":"ping"}')
        if not self.ready.done():
            if kind == "askSpecial":
                self.begin()
        elif self._turn is not None:
            self._turn.take(kind, frame, len(data))
