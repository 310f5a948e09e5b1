"""Serves an app on an address until a signal arrives, and then shuts down in order."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, Final, Protocol

import uvicorn

from prolocutor.contracts.channel import Openable
from prolocutor.errors import ConfigError
from prolocutor.web.asgi import Receive, Scope, Send
from prolocutor.web.connection_places import ConnectionPlaces
from prolocutor.web.connections import (
    BoundedHttpProtocol,
    BoundedWebSocketProtocol,
)
from prolocutor.web.limits import ListenerLimits

log = logging.getLogger(__name__)

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_PONG_SECONDS: Final = 60.0
"""Seconds for the pong of a WebSocket: longer than most turns keep a client from reading."""

_UNREAD_MILLISECONDS: Final = 60_000
"""Milliseconds after which a connection is cut whose client acknowledges nothing."""

_BUFFER_BYTES: Final = 262_144
"""Bytes that the system buffers of a connection in each direction; by itself it takes megabytes."""

_UNSENT_BYTES: Final = 16_384
"""Bytes that the system takes of a connection beyond those that its client takes."""

_MAX_ACCEPTED: Final = 32
"""Connections that are accepted in one pass of the event loop; uvloop takes one for each handle."""

_LAST_SECONDS: Final = 1.0
"""Seconds for responses that were not sent within the grace period."""


class ServedApp(Openable, Protocol):
    """An ASGI app for `serve`, such as a listener."""

    limits: ListenerLimits
    stopping: bool
    """Whether no new requests are taken."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or serve a WebSocket."""

    def check_may_listen(self, addresses: Collection[str]) -> None:
        """Raise `ConfigError` for addresses where no visitor would be admitted."""

    def is_unlimited(self, address: str) -> bool:
        """Return whether an address has no limit: many clients share it, or an operator uses it."""

    async def drain(self) -> None:
        """Take no new requests, and wait for the requests in flight."""


async def serve(
    app: ServedApp,
    host: str = "127.0.0.1",
    port: int = 4242,
    *,
    grace: float = 10.0,
    on_ready: Callable[[str], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then let requests in flight end for `grace` seconds.

    `on_ready` gets the URL once requests are taken; port 0 means a free port. A second signal ends
    the grace period. With `stop`, wait for this event instead of signals. Raise `ConfigError` if
    the address is not available, or needs keys.
    """
    sockets = bind(host, port)
    try:
        app.check_may_listen([each.getsockname()[0] for each in sockets])
        await app.open()
        try:
            await _serve(app, sockets, host, grace, on_ready, stop)
        finally:
            await app.close()
    finally:
        for each in sockets:
            each.close()


class BesideApp(Protocol):
    """An ASGI app beside another app, without an opening."""

    limits: ListenerLimits

    def is_unlimited(self, address: str) -> bool:
        """Return whether many people share an address, such as a proxy's."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or refuse a WebSocket."""


@asynccontextmanager
async def served_beside(app: BesideApp, host: str, port: int) -> AsyncIterator[str]:
    """Serve an app during the context, at the returned URL, without handling signals.

    Raise `ConfigError` if the address is not available.
    """
    sockets = bind(host, port)
    server = _server(app)
    try:
        await _start(server, sockets)
        yield _url(host, sockets[0])
    finally:
        await _close_connections(server)
        for each in sockets:
            each.close()


def bind(host: str, port: int) -> list[socket.socket]:
    """Bind every address of a host name; raise `ConfigError` if it is impossible."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ConfigError(f"the host {host!r} is unknown: {error.strerror}", key="host") from None
    bound: list[socket.socket] = []
    failed: OSError | None = None
    for family, _, _, _, address in dict.fromkeys(addresses):
        where = (address[0], bound[0].getsockname()[1], *address[2:]) if bound else address
        try:
            bound.append(_bound(family, where))
        except OSError as error:
            failed = error
            if error.errno == errno.EADDRINUSE:
                break
    if failed is not None and (not bound or failed.errno == errno.EADDRINUSE):
        for each in bound:
            each.close()
        raise _cannot_bind(host, port, failed)
    return bound


def _bound(family: int, address: Any) -> socket.socket:
    # With its protocol named, asyncio sends what is written at once (TCP_NODELAY).
    one = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            one.setsockopt(socket.SOL_SOCKET, buffer, _BUFFER_BYTES)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_MILLISECONDS)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
        one.bind(address)
        one.listen(1)
        one.setblocking(False)
    except OSError:
        one.close()
        raise
    return one


def _cannot_bind(host: str, port: int, error: OSError) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return ConfigError(f"port {port} of {host} is in use; choose another one", key="port")
    if error.errno == errno.EACCES:
        return ConfigError(f"port {port} of {host} is not for ordinary users", key="port")
    return ConfigError(f"cannot listen on {host}, port {port}: {error.strerror}", key="host")


async def _serve(
    app: ServedApp,
    sockets: Sequence[socket.socket],
    host: str,
    grace: float,
    on_ready: Callable[[str], None] | None,
    stop: asyncio.Event | None,
) -> None:
    server = _server(app)
    hurry = asyncio.Event()
    with _signals(hurry) if stop is None else nullcontext((stop, _nothing)) as (stop, restore):
        await _start(server, sockets)
        try:
            if on_ready is not None:
                on_ready(_url(host, sockets[0]))
            await _keep_time(server, stop, restore)
            await _drain(app, grace, hurry)
        finally:
            app.stopping = True
            await _close_connections(server)


async def _start(server: uvicorn.Server, sockets: Sequence[socket.socket]) -> None:
    more = [each.dup() for each in sockets for _ in range(_MAX_ACCEPTED)]
    await server.startup(more)


def _server(app: ServedApp | BesideApp) -> uvicorn.Server:
    limits = app.limits
    places = ConnectionPlaces(limits, app.is_unlimited)
    config = uvicorn.Config(
        app,
        http=partial(BoundedHttpProtocol, places=places),  # type: ignore[arg-type]
        ws=partial(BoundedWebSocketProtocol, places=places),  # type: ignore[arg-type]
        ws_max_size=limits.body,
        ws_per_message_deflate=False,
        ws_ping_timeout=_PONG_SECONDS,
        timeout_keep_alive=limits.keep_alive,
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    return server


async def _keep_time(
    server: uvicorn.Server, stop: asyncio.Event, restore: Callable[[], None]
) -> None:
    """Update the header `Date` every second until it is time to stop.

    Signal handlers replaced by a service are restored on the way.
    """
    while not stop.is_set():
        await server.on_tick(0)
        restore()
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await stop.wait()


async def _drain(app: ServedApp, grace: float, hurry: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        hurrying = group.create_task(hurry.wait())
        draining = group.create_task(app.drain())
        done, _ = await asyncio.wait(
            (hurrying, draining), timeout=grace, return_when=asyncio.FIRST_COMPLETED
        )
        if draining not in done:
            log.warning("stopped while requests were being answered")
        hurrying.cancel()
        draining.cancel()


async def _close_connections(server: uvicorn.Server) -> None:
    """Close every connection; unsent responses get another second."""
    state = server.server_state
    for listening in server.servers:
        listening.close()
    for connection in list(state.connections):
        connection.shutdown()
    with suppress(TimeoutError):
        async with asyncio.timeout(_LAST_SECONDS):
            while state.connections or state.tasks:  # noqa: ASYNC110 (uvicorn has no event)
                await asyncio.sleep(0.005)
    for task in list(state.tasks):
        task.cancel()


@contextmanager
def _signals(hurry: asyncio.Event) -> Iterator[tuple[asyncio.Event, Callable[[], None]]]:
    """Return the event set by the first signal, and a function to restore signal handlers.

    A second signal sets `hurry`.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    taken: dict[signal.Signals, Any] = {}

    def on_signal() -> None:
        (hurry if stop.is_set() else stop).set()

    for each in _SIGNALS:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(each, on_signal)
            taken[each] = signal.getsignal(each)

    def restore() -> None:
        for each, handler in taken.items():
            if signal.getsignal(each) != handler:
                log.error("code of a service replaced the handler of %s; restored", each.name)
                loop.add_signal_handler(each, on_signal)
                taken[each] = signal.getsignal(each)

    try:
        yield stop, restore
    finally:
        for each in taken:
            loop.remove_signal_handler(each)


def _nothing() -> None:
    """Restore no handlers: signals are not ours."""


def _url(host: str, one: socket.socket) -> str:
    url_host = f"[{host}]" if ":" in host else host
    return f"http://{url_host}:{one.getsockname()[1]}"
