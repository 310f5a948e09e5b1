"""AlmondConversation: a conversation with an Almond over a connection that can be reopened.

The first generation (1.x) opens with a welcome and `askSpecial`. The second (2.x, Genie) opens with
`id`, earlier messages and `askSpecial`; it echoes each input as a `command`, and the answer follows
the echo. A turn ends with `askSpecial`: the kind of answer that is asked for, or null.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from prolocutor.background import BackgroundTasks
from prolocutor.connectors.parts.sockets import SocketOpener, closing_error, is_open
from prolocutor.connectors.parts.url import Url
from prolocutor.dialog.plain import JsonObject, encode
from prolocutor.errors import BadReply, ServiceError, ServiceRaised, ServiceUnreachable

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


class AlmondSaid(msgspec.Struct):
    """The messages of an Almond in a turn, and its ask."""

    messages: list[JsonObject]
    ask: Any = None


class AlmondConversation:
    """One conversation; one turn at a time. `id` is the peer's name of it, once known."""

    def __init__(self, opener: SocketOpener, url: Url, id_: str) -> None:
        self.id = id_
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
            self._line = _AlmondLine(socket, self._opener.address.shown)
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

    def __init__(self, socket: ClientConnection, shown: str) -> None:
        loop = asyncio.get_running_loop()
        self.id: str | None = None
        self.is_open = True
        self.ready: asyncio.Future[None] = loop.create_future()
        self.end: ServiceError = ServiceUnreachable(f"{shown} closed the connection")
        self._socket = socket
        self._shown = shown
        self._turn: _Turn | None = None
        self.reading: Final = BackgroundTasks(shown).start(self._read())

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
            await self._socket.close()

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
