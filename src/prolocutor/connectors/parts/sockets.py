"""Opens WebSockets of other programs: addresses, headers, errors."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Final

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.frames import DATA_OPCODES, Frame
from websockets.protocol import Event, State

from prolocutor.connectors.parts.connecting import Network, connect_socket
from prolocutor.connectors.parts.http_answer import MAX_HEAD
from prolocutor.connectors.parts.http_connection import PacedReading
from prolocutor.connectors.parts.url import Url, header_lines, tls_context
from prolocutor.errors import ConfigError, ServiceError, ServiceRefused, ServiceUnreachable

OPEN_TIMEOUT: Final = 10.0
CLOSE_TIMEOUT: Final = 2.0
"""Seconds that opening and closing a socket may take."""

PING_SECONDS: Final = 20.0
"""Seconds in which `IDLE_FRAMES` frames may come that end no message."""

IDLE_FRAMES: Final = 1_000
_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


class SocketAddress:
    """The address of a WebSocket, and the headers of its opening; raise `ConfigError` for an
    invalid address.

    `key` is sent as a bearer token. `shown` is the address for messages, without secrets.
    """

    def __init__(
        self, url: str, *, key: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        try:
            found = Url.read(url)
        except (AttributeError, TypeError, ValueError):
            what = f"{url!r} is not a WebSocket; write it as ws://host:port/path"
            raise ConfigError(what) from None
        scheme = _SCHEMES[found.scheme]
        self.url: Final = msgspec.structs.replace(found, scheme=scheme, fragment="")
        self.shown: Final = self.url.shown
        bearer = {"Authorization": f"Bearer {key}"} if key else {}
        self.headers: Final = {**bearer, **(headers or {})}
        header_lines(self.headers)


class SocketOpener:
    """Opens sockets to a server, `within` these networks, if given.

    `ping`: seconds between pings, 0 for no pings.
    """

    def __init__(
        self,
        address: SocketAddress,
        *,
        max_message: int,
        ping: float,
        within: Collection[Network] | None = None,
    ) -> None:
        self.address = address
        self._within = within
        self._max_message = max_message
        self._ping = ping or None

    async def open(self, url: Url | None = None) -> ClientConnection:
        """Open a socket, at another URL if given; raise `ServiceError` if opening fails."""
        shown = self.address.shown
        target = url or self.address.url
        tls = tls_context() if target.is_secure else None
        try:
            async with asyncio.timeout(OPEN_TIMEOUT):
                return await connect(
                    str(target),
                    create_connection=_BoundedConnection,
                    sock=await connect_socket(target.host, target.port, self._within),
                    ssl=tls,
                    additional_headers=self.address.headers,
                    user_agent_header="prolocutor",
                    compression=None,
                    open_timeout=None,
                    close_timeout=CLOSE_TIMEOUT,
                    ping_interval=self._ping,
                    ping_timeout=self._ping,
                    max_size=self._max_message,
                )
        except TimeoutError:
            what = f"{shown} did not open within {OPEN_TIMEOUT:g} s"
            raise ServiceUnreachable(what, sent=False) from None
        except (WebSocketException, OSError, EOFError, ValueError) as error:
            refused = error.__cause__ if isinstance(error, ValueError) else error  # a redirect
            if isinstance(refused, InvalidStatus):
                raise _refusal(shown, refused.response.status_code) from None
            said = str(error) or type(error).__name__
            raise ServiceUnreachable(f"{shown} cannot be opened: {said}", sent=False) from None


class _BoundedConnection(ClientConnection, PacedReading):
    """A connection with bounds on its server.

    It may send `MAX_HEAD` bytes in all until the socket is open, and then `IDLE_FRAMES` frames
    in `PING_SECONDS` without the end of a message.

    For a refusal whose body comes in many chunks websockets takes time by the square of its length.

    """

    _opening_size = 0
    _idle_frames = 0
    _idle_since = 0.0

    def data_received(self, data: bytes) -> None:
        """Read on, unless the opening is too long."""
        if self.protocol.state is State.CONNECTING:
            self._opening_size += len(data)
            if self._opening_size > MAX_HEAD:
                self.transport.abort()
                return
        super().data_received(data)

    def process_event(self, event: Event) -> None:
        """Take a frame; break off after too many frames without the end of a message."""
        if isinstance(event, Frame) and not (event.opcode in DATA_OPCODES and event.fin):
            now = self.loop.time()
            if now > self._idle_since + PING_SECONDS:
                self._idle_since, self._idle_frames = now, 0
            self._idle_frames += 1
        if self._idle_frames > IDLE_FRAMES:
            self.transport.abort()
        else:
            super().process_event(event)


def _refusal(shown: str, status: int) -> ServiceError:
    if status < 400:
        return ServiceUnreachable(f"{shown} is not a WebSocket: status {status}", sent=False)
    return ServiceRefused(f"{shown} answered with status {status}", status=status)


def is_open(socket: ClientConnection) -> bool:
    """Return whether a socket takes messages."""
    return socket.state is State.OPEN


async def close_socket(socket: ClientConnection) -> None:
    """Close a socket in good order; break it off if that is cancelled."""
    try:
        await socket.close()
    except asyncio.CancelledError:
        socket.transport.abort()
        raise


def closing_error(socket: ClientConnection, shown: str) -> ServiceUnreachable:
    """Return why a socket is closed."""
    error = socket.protocol.parser_exc
    if error is not None and not isinstance(error, EOFError):
        return ServiceUnreachable(f"{shown} sent a bad frame: {error}")
    if socket.protocol.close_rcvd is None:
        return ServiceUnreachable(f"{shown} broke off")
    return ServiceUnreachable(f"{shown} closed the connection with code {socket.close_code}")
