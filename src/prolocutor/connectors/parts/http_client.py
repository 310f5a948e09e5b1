"""HttpClient: requests to a URL over a pool of connections.

No cookies, no redirects; bodies and heads of a bounded size. Time-outs are the caller's, who
cancels. Only here errors of the layers below become a `ServiceError`.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections import deque
from collections.abc import Collection, Mapping
from time import monotonic
from typing import Final, NoReturn

from prolocutor.connectors.parts.connecting import (
    Network,
    address_network,
    connect_by_proxy,
    connect_socket,
    find_addresses,
    is_ip_address,
    reachable_networks,
)
from prolocutor.connectors.parts.http_answer import MAX_EXCERPT, BodyStream, HttpReply
from prolocutor.connectors.parts.http_connection import BrokenExchange, HttpConnection
from prolocutor.connectors.parts.url import HttpAddress, Url, tls_context
from prolocutor.contracts.calls import WireExchange, running_effect, wire_exchanges
from prolocutor.errors import ServiceRefused, ServiceUnreachable

_Origin = tuple[str, int, ssl.SSLContext | None]

MAX_CONNECTIONS = 100


class PoolClosed(Exception):
    """The pool was closed while a call waited for a connection."""


class HttpPool:
    """At most `most` connections to a server, idle or in use.

    `acquire` takes an idle connection, the latest used first, or opens a connection, or waits;
    callers are served in order. Every acquired connection must be released.
    """

    def __init__(
        self,
        address: HttpAddress,
        most: int,
        tls: ssl.SSLContext | None,
        proxy: str | None = None,
        within: Collection[Network] | None = None,
    ) -> None:
        self.within = within
        """The networks that the server may be in; None for all."""
        self.network: Network | None = None
        """The network that the last answer came from; None before it, and behind a proxy."""
        self._address = address
        self._proxy = proxy
        self._most = most
        self._tls = tls
        self._taken = 0  # connections in use, idle, or being opened
        self._idle: dict[HttpConnection, None] = {}  # ordered, the latest used last
        self._open: set[HttpConnection] = set()
        self._waiting: deque[asyncio.Future[HttpConnection | None]] = deque()
        self._sweep: asyncio.TimerHandle | None = None
        self._is_closed = False

    async def acquire(self, *, fresh: bool = False) -> HttpConnection:
        """Return a connection for an exchange; with `fresh` a new connection.

        Raise `OSError` if opening fails, `PoolClosed` after `aclose`.
        """
        if self._is_closed:
            raise PoolClosed
        if not self._waiting:
            while self._idle:
                connection, _ = self._idle.popitem()
                if not fresh and connection.is_reusable():
                    return connection
                connection.abort()
                if fresh:
                    return await self._connect()
                self._taken -= 1
            if self._taken < self._most:
                self._taken += 1
                return await self._connect()
        handed = await self._wait()
        if handed is not None:
            if not fresh and handed.is_reusable():
                return handed
            handed.abort()
        return await self._connect()

    def release(self, connection: HttpConnection) -> None:
        """Keep a reusable connection for the next call, else forget it."""
        if self._is_closed or not connection.is_reusable():
            connection.abort()
            self._give_place(None)
        else:
            self._give_place(connection)

    def add_room(self, connections: int) -> int:
        """Allow so many connections more, or fewer; return how many are allowed now."""
        self._most += connections
        return self._most

    async def aclose(self) -> None:
        """Close all connections, and wait until they are closed."""
        self._is_closed = True
        if self._sweep is not None:
            self._sweep.cancel()
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(PoolClosed())
        self._idle.clear()
        connections = list(self._open)
        for connection in connections:
            connection.abort()
        if connections:
            await asyncio.wait([connection.lost for connection in connections])

    async def _wait(self) -> HttpConnection | None:
        """Wait for a connection, or for None: the right to open a connection."""
        waiter: asyncio.Future[HttpConnection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.cancelled():
                if waiter in self._waiting:
                    self._waiting.remove(waiter)
            elif waiter.exception() is None:  # given in the same step: hand it on
                connection = waiter.result()
                if connection is None:
                    self._give_place(None)
                else:
                    self.release(connection)
            raise

    def _give_place(self, connection: HttpConnection | None) -> None:
        """Hand a connection, or the right to open a connection, to the first waiting caller."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return
        if connection is None:
            self._taken -= 1
            return
        self._idle[connection] = None
        if self._sweep is None:
            self._schedule_sweep(connection.expires)

    async def _connect(self) -> HttpConnection:
        """Open a connection in a place already taken."""
        try:
            connection = await self._open_connection()
        except BaseException:
            self._give_place(None)
            raise
        if self._is_closed:
            connection.abort()
            self._give_place(None)
            raise PoolClosed
        return connection

    async def _open_connection(self) -> HttpConnection:
        """Open a connection to the first answering address of the host."""
        loop = asyncio.get_running_loop()
        host, port = self._address.host, self._address.port
        name = host if self._tls is not None else None
        connection = HttpConnection(loop, self._open.add, self._lost)
        try:
            if self._proxy is None and is_ip_address(host):
                await find_addresses(host, port, self.within)
                self.network = address_network(host)
                await loop.create_connection(
                    lambda: connection, host, port, ssl=self._tls, server_hostname=name
                )
                return connection
            if self._proxy is not None:
                connected = await connect_by_proxy(self._proxy, host, port)
            else:
                connected = await connect_socket(host, port, self.within)
                self.network = address_network(connected.getpeername()[0])
            await loop.create_connection(
                lambda: connection, sock=connected, ssl=self._tls, server_hostname=name
            )
        except BaseException:
            # The loop closes a socket it opened, and uvloop does not say so when cancelled.
            connection.abort()
            self._open.discard(connection)
            raise
        return connection

    def _lost(self, connection: HttpConnection) -> None:
        """Forget a closed connection; the place of a connection in use is freed at its release."""
        self._open.discard(connection)
        if connection in self._idle:
            del self._idle[connection]
            self._give_place(None)

    def _schedule_sweep(self, when: float) -> None:
        self._sweep = asyncio.get_running_loop().call_at(when, self._close_expired)

    def _close_expired(self) -> None:
        """Close the expired idle connections."""
        self._sweep = None
        for connection in list(self._idle):
            if not connection.is_reusable():
                connection.abort()
        left = [connection.expires for connection in self._idle if connection.is_reusable()]
        if left:
            self._schedule_sweep(min(left))


class SharedPool:
    """A client's share of an `HttpPool`, with room for `most` connections.

    Services of the same server are often asked in turn, over each other's connections. The clients
    of an event loop share a pool, which closes with the last of them.
    """

    def __init__(self, address: HttpAddress, most: int, tls: ssl.SSLContext | None) -> None:
        self._address = address
        self._most = most
        self._tls = tls
        self._pool: HttpPool | None = None
        self._is_closed = False

    async def acquire(self, *, fresh: bool = False) -> HttpConnection:
        """Return a connection as `HttpPool` does; `PoolClosed` after `aclose`."""
        if self._is_closed:
            raise PoolClosed
        pool = self._pool or self._join()
        return await pool.acquire(fresh=fresh)

    def release(self, connection: HttpConnection) -> None:
        """Return a connection."""
        assert self._pool is not None, "nothing was acquired"
        self._pool.release(connection)

    async def aclose(self) -> None:
        """End the share; close all connections if it was the last."""
        pool, was_closed, self._is_closed = self._pool, self._is_closed, True
        if pool is not None and not was_closed and not pool.add_room(-self._most):
            for pools in _POOLS.values():
                if pools.get(self._origin) is pool:
                    del pools[self._origin]
            await pool.aclose()

    @property
    def _origin(self) -> _Origin:
        return self._address.host, self._address.port, self._tls

    def _join(self) -> HttpPool:
        for loop in [loop for loop in _POOLS if loop.is_closed()]:
            del _POOLS[loop]
        pools = _POOLS.setdefault(asyncio.get_running_loop(), {})
        pool = self._pool = pools.get(self._origin) or HttpPool(self._address, 0, self._tls)
        pools[self._origin] = pool
        pool.add_room(self._most)
        return pool


_POOLS: Final[dict[asyncio.AbstractEventLoop, dict[_Origin, HttpPool]]] = {}
"""The pools of each event loop that runs, by server."""


class HttpClient:
    """The way to a URL. `headers` go out with every request.

    A request is sent a second time only if its idle connection turns out to be closed before a byte
    of the answer. `tls`: the context for https; by default it verifies certificates and host names.
    `shared`: shared clients of the same server use the same connections, up to the sum of their
    `max_connections`. `by_proxy`: https goes through the environment's proxy, if any. `within`: the
    networks allowed for the server, checked for the address of each connection; not for shared
    connections.
    """

    def __init__(
        self,
        url: str | Url,
        *,
        headers: Mapping[str, str] | None = None,
        max_connections: int = MAX_CONNECTIONS,
        tls: ssl.SSLContext | None = None,
        shared: bool = False,
        by_proxy: bool = False,
        within: Collection[Network] | None = None,
    ) -> None:
        self._address = HttpAddress(url, headers or {})
        context = (tls or tls_context()) if self._address.is_tls else None
        self._by_proxy = by_proxy
        self._pool: HttpPool | SharedPool
        if shared:
            self._pool = SharedPool(self._address, max_connections, context)
        else:
            proxy = self._address.environment_proxy() if by_proxy and context is not None else None
            self._pool = HttpPool(self._address, max_connections, context, proxy, within)

    async def post(
        self,
        body: bytes,
        headers: Mapping[str, str],
        *,
        max_bytes: int,
        stream: BodyStream | None = None,
    ) -> HttpReply:
        """Send a POST and return the answer with status 2xx. A body of the stream's `kinds` goes
        to `stream`, if given. Raise `ServiceUnreachable`, `ServiceRefused` (with the status) or
        `BadReply` otherwise.
        """
        reply = await self.exchange(body, headers, max_bytes=max_bytes, stream=stream)
        if reply.status // 100 != 2:
            raise ServiceRefused(refusal_text(reply), status=reply.status)
        return reply

    async def exchange(
        self,
        body: bytes,
        headers: Mapping[str, str],
        *,
        max_bytes: int,
        stream: BodyStream | None = None,
        method: str | None = None,
        target: str | None = None,
    ) -> HttpReply:
        """Send a request, by default a POST; return any answer.

        `target` is another path of the same server, with its query, in place of the URL's. Other
        statuses than 2xx do not raise; of their bodies only the start is kept.
        """
        head = self._address.call_head(headers, method, target)
        request = b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)
        seen = wire_exchanges.get()
        if seen is None:
            return await self._exchange_twice(request, max_bytes, stream)
        exchange = WireExchange(url=self._address.shown, request=body, began=monotonic())
        seen.append(exchange)
        watched = stream and _SeenStream(stream, exchange)
        reply = await self._exchange_twice(request, max_bytes, watched)
        exchange.end(reply.status, reply.body)
        return reply

    async def _exchange_twice(
        self, request: bytes, max_bytes: int, stream: BodyStream | None
    ) -> HttpReply:
        """Send a request, again where its idle connection was closed before."""
        try:
            try:
                once = running_effect.get() is not None  # a new connection is never stale
                return await self._exchange(request, max_bytes, stream, fresh=once)
            except BrokenExchange as broken:
                if not broken.is_stale:
                    raise
                return await self._exchange(request, max_bytes, stream, fresh=True)
        except BrokenExchange as broken:
            self._raise_broken(broken)
        except PoolClosed:
            raise ServiceUnreachable(f"the client of {self._address.shown} is closed") from None

    def confine(self) -> Collection[Network] | None:
        """Return the networks an answering server may lead to, and be in from now on: none
        less public than its own. None: any network.
        """
        pool = self._pool
        if isinstance(pool, HttpPool) and pool.network is not None:
            pool.within = reachable_networks(pool.network)
            return pool.within
        return None

    async def aclose(self) -> None:
        """Close the client's own connections; waiting calls fail."""
        await self._pool.aclose()

    async def _exchange(
        self, request: bytes, max_bytes: int, stream: BodyStream | None, *, fresh: bool = False
    ) -> HttpReply:
        try:
            connection = await self._pool.acquire(fresh=fresh)
        except OSError as error:
            raise self._unreachable(error) from None
        try:
            return await connection.exchange(request, max_bytes, stream)
        finally:
            self._pool.release(connection)

    def _unreachable(self, error: OSError) -> ServiceUnreachable:
        shown = self._address.shown
        if isinstance(error, ssl.SSLCertVerificationError):
            return ServiceUnreachable(
                f"the certificate of {shown} is not accepted: {error.verify_message}",
                sent=False,
            )
        reason = system_text(error)
        proxy = not self._by_proxy and self._address.environment_proxy()
        hint = " (a proxy is set in the environment, but proxies are not used)" if proxy else ""
        what = f"cannot connect to {shown}: {reason[:MAX_EXCERPT]}{hint}"
        return ServiceUnreachable(what, sent=False)

    def _raise_broken(self, broken: BrokenExchange) -> NoReturn:
        shown = self._address.shown
        reason = f": {broken.reason}" if broken.reason else ""
        if broken.is_begun:
            what = f"{shown} broke off in the middle of its reply"
        else:
            what = f"{shown} closed the connection without a reply"
        raise ServiceUnreachable(what + reason) from None


class _SeenStream:
    """A stream in front of a stream, which notes the bytes passing by."""

    def __init__(self, stream: BodyStream, seen: WireExchange) -> None:
        self.kinds = stream.kinds
        self._stream = stream
        self._seen = seen

    def feed(self, piece: bytes) -> bool:
        """Note a piece and pass it on."""
        self._seen.add(piece)
        return self._stream.feed(piece)


def system_text(error: OSError) -> str:
    """Return the system's text of an error, without asyncio's additions."""
    if error.errno and not isinstance(error, ssl.SSLError | socket.gaierror):
        return os.strerror(error.errno)
    return error.strerror or str(error) or type(error).__name__


def refusal_text(reply: HttpReply) -> str:
    """Return the message for an answer with a status other than 2xx."""
    if reply.is_redirect:
        return f"status {reply.status}: a redirect, which is not followed"
    excerpt = " ".join(reply.body.decode(errors="replace").split())[:MAX_EXCERPT]
    return f"status {reply.status}: {excerpt}" if excerpt else f"status {reply.status}"
