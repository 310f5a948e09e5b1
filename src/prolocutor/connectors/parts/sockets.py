"""How WebSockets of other programs are opened: addresses, headers, errors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

import aiohttp
from yarl import URL

from prolocutor.connectors.parts.http_address import header_lines, tls_context
from prolocutor.errors import ConfigError, ServiceError, ServiceRefused, ServiceUnreachable

OPENING: Final = 10.0
PING: Final = 20.0
_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


class SocketAddress:
    """Where a WebSocket is, and the headers that open it; `ConfigError` for what is no address.

    `key` is sent as a bearer token. `shown` is the address for messages, without what is secret.
    """

    def __init__(
        self, url: str, *, key: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        try:
            found = URL(url)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{url!r} is no URL: {error}") from None
        if found.scheme not in _SCHEMES or not found.host:
            raise ConfigError(f"{url!r} is no WebSocket; write it as ws://host:port/path")
        self.url: Final = found.with_scheme(_SCHEMES[found.scheme]).with_fragment(None)
        self.shown: Final = str(self.url.with_user(None).with_query(None))
        bearer = {"Authorization": f"Bearer {key}"} if key else {}
        self.headers: Final = {"User-Agent": "prolocutor", **bearer, **(headers or {})}
        header_lines(self.headers)


class SocketOpener:
    """Opens sockets to one server, over one HTTP session that is made when it is needed."""

    def __init__(self, address: SocketAddress, *, max_message: int, ping: float) -> None:
        self.address = address
        self._max_message = max_message
        self._ping = ping
        self._session: aiohttp.ClientSession | None = None

    async def open(self, url: URL | None = None) -> aiohttp.ClientWebSocketResponse:
        """Open a socket, at another URL if one is given; `ServiceError` if it cannot be opened."""
        shown = self.address.shown
        try:
            async with asyncio.timeout(OPENING):
                return await self._made().ws_connect(
                    url or self.address.url,
                    headers=self.address.headers,
                    heartbeat=self._ping or None,
                    max_msg_size=self._max_message,
                    timeout=aiohttp.ClientWSTimeout(ws_close=2.0),
                )
        except aiohttp.WSServerHandshakeError as error:
            raise _refused(shown, error.status) from None
        except TimeoutError:
            raise ServiceUnreachable(f"{shown} did not open within {OPENING:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            said = str(error) or type(error).__name__
            raise ServiceUnreachable(f"{shown} cannot be opened: {said}") from None

    async def aclose(self) -> None:
        """Close the session with all its sockets."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _made(self) -> aiohttp.ClientSession:
        if self._session is None:
            secure = tls_context() if self.address.url.scheme == "wss" else True
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=secure), cookie_jar=_NO_COOKIES()
            )
        return self._session


_NO_COOKIES: Final = aiohttp.DummyCookieJar


def _refused(shown: str, status: int) -> ServiceError:
    if status < 400:
        return ServiceUnreachable(f"{shown} is no WebSocket: status {status}")
    return ServiceRefused(f"{shown} answered with status {status}", status=status)


def end_of(socket: aiohttp.ClientWebSocketResponse, shown: str) -> ServiceUnreachable:
    """Return why a socket is closed."""
    error = socket.exception()
    if isinstance(error, aiohttp.WebSocketError):
        return ServiceUnreachable(f"{shown} sent what cannot be taken: {error}")
    if error is not None:
        return ServiceUnreachable(f"{shown} broke off: {str(error) or type(error).__name__}")
    code = f" with code {socket.close_code}" if socket.close_code else ""
    return ServiceUnreachable(f"{shown} closed the connection{code}")
