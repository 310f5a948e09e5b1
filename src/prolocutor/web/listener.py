"""The listener: an ASGI app made of an assistant and its channels."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from http import HTTPStatus
from typing import Final, Protocol

from prolocutor.assistant.archive import note_prefixes
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.sharing import SharedCount
from prolocutor.background import BackgroundTasks
from prolocutor.contracts.channel import Channel, Openable
from prolocutor.contracts.http import REQUEST_QUOTA, Access, HttpResponse, Visitor, WebSocket
from prolocutor.contracts.store import RecordStore
from prolocutor.errors import ConfigError, Forbidden, Overloaded, PersonMoved, Stopping, StoreError
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.web.asgi import App, Message, Receive, Scope, Send, follow_lifespan
from prolocutor.web.audit_trail import AuditTrail
from prolocutor.web.authentication import (
    SESSION_ENDED,
    AccessPolicy,
    Authenticator,
    Headers,
    SessionAdmission,
    SessionFinder,
    is_loopback,
)
from prolocutor.web.builtin_routes import BuiltinRoutes
from prolocutor.web.client_address import client_name
from prolocutor.web.cors import CrossOrigin
from prolocutor.web.error_table import HttpError, error_response
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.limits import InFlight, ListenerLimits
from prolocutor.web.requests import (
    SERVICE_RESTART,
    AsgiRequest,
    AsgiWebSocket,
    refuse_socket,
    send_response,
)
from prolocutor.web.routing import RouteTable
from prolocutor.web.visitor_quota import VisitorQuota, VisitorQuotaTable

log = logging.getLogger(__name__)

audit = logging.getLogger("prolocutor.audit")
"""The acts of operators: who, from where, which request; never its contents."""


RETRY_SECONDS: Final = 1.0
"""Seconds until a door that waits for the store is opened again."""


class Admit(Protocol):
    """A function to identify visitors (`Authenticator.admit`)."""

    def __call__(
        self,
        headers: Headers,
        query: bytes,
        client: str | None,
        access: Access,
        *,
        address: str | None,
    ) -> Visitor:
        """Return the visitor; raise an error to refuse them."""


class Listener:
    """The ASGI app of an assistant: its channels, `/health`, `/metrics`, `/openapi.json`.

    It finds routes, admits visitors, and reports errors. `open` also starts the assistant if it is
    not running yet, and `close` then closes it. `origins` (`https://example.org`, or `*`) are the
    sites whose pages may talk to it. `metrics` has to be among the assistant's observers; without
    it there is no `/metrics`. `ring` has the keys in the store, if any; a channel opens it.
    `sessions` are the sessions of people who sign in, by one of the channels.
    """

    def __init__(
        self,
        assistant: Assistant,
        channels: Sequence[Channel] = (),
        *,
        auth: AccessPolicy | None = None,
        limits: ListenerLimits | None = None,
        origins: Collection[str] = (),
        metrics: TurnMetrics | None = None,
        ring: KeyRing | None = None,
        sessions: SessionFinder | None = None,
    ) -> None:
        _check_prefixes(channels)
        limits = limits or ListenerLimits()
        self._sessions = sessions
        self.limits = limits
        self.metrics = metrics
        prefixes = [channel.prefix for channel in channels]
        self.authenticator = Authenticator(
            auth or AccessPolicy(), origins, prefixes, limits.wrong_keys, ring
        )
        self._quotas = VisitorQuotaTable(limits)
        self.shared_quotas: SharedCount | None = None
        """The quotas that replicas count together, while it is open."""
        self._trail = AuditTrail(assistant.store)
        self._admit_any: Admit = partial(self.authenticator.admit, any_secret=True)
        self.stopping = False
        self.assistant = assistant
        self._channels = channels
        self._names = DoorNames(assistant.store, prefixes)
        self._in_flight = InFlight()
        self._sockets: set[AsgiWebSocket] = set()
        self._opened = AsyncExitStack()
        self._opening = BackgroundTasks("opening of doors")
        builtin = BuiltinRoutes(assistant, channels, self._in_flight, metrics, self.is_ready)
        doors = (route for channel in channels for route in channel.routes)
        self._routes = RouteTable([*builtin.routes, *doors])
        self.monitoring = builtin.monitoring
        """The routes that a port without keys may have."""
        self._http: App = CrossOrigin(self._answer, origins) if origins else self._answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, serve a WebSocket, or follow the server's lifespan."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._serve(scope, receive, send)
        else:
            await follow_lifespan(self, receive, send)

    def check_may_listen(self, addresses: Collection[str]) -> None:
        """Raise `ConfigError` for addresses where no visitor would be admitted."""
        self.authenticator.check_may_listen(addresses)

    def is_unlimited(self, address: str) -> bool:
        """Return whether an address has no limit: many clients share it, or an operator uses it."""
        keeper = self.authenticator
        return keeper.addresses.trusts(address) or (keeper.trusts(address) and is_loopback(address))

    async def is_ready(self) -> bool:
        """Return whether turns are taken and can be stored."""
        if not self.assistant.ready or self.stopping or self._opening:
            return False
        return await self.assistant.store_health.check() is None

    async def open(self) -> None:
        """Start the assistant if it is not running, then open the channels.

        A channel in need of the store is opened later if the store is away.
        """
        try:
            await self._open_channels()
        except BaseException:
            await self._opened.aclose()
            raise

    async def _open_channels(self) -> None:
        closing = self._opened.push_async_callback
        if not self.assistant.started:
            await self.assistant.start()
            closing(self.assistant.aclose)
        for channel in (self._names, *self._channels):
            if isinstance(channel, Openable):
                try:
                    await self._open_channel(channel)
                except StoreError as error:
                    if not self._opening:
                        log.warning("doors wait for the store: %s", error)
                    self._opening.start(self._open_late(channel))
        if (sharing := self.assistant.sharing) is not None:
            rates = {**self._quotas.rates(), "wrong keys": self.authenticator.wrong}
            self.shared_quotas = sharing.share_quotas(
                rates, self._quotas.sockets(), lambda: self.assistant.ready
            )
            self.shared_quotas.start()
            closing(self.shared_quotas.aclose)
        self._trail.start()
        closing(self._trail.aclose)

    async def _open_channel(self, channel: Openable) -> None:
        self.assistant.life.check_open()
        await channel.open()
        self._opened.push_async_callback(channel.close)

    async def _open_late(self, channel: Openable) -> None:
        while True:
            await asyncio.sleep(RETRY_SECONDS)
            with suppress(StoreError, Stopping):
                return await self._open_channel(channel)

    async def drain(self) -> None:
        """Take no new requests, and wait for the requests in flight."""
        self.stopping = True
        for socket in self._sockets:
            socket.stop()
        await self._in_flight.empty()

    async def close(self) -> None:
        """Close the channels, and the assistant if it was started here."""
        self.stopping = True
        await self._opening.aclose()
        await self._opened.aclose()

    # -- HTTP -------------------------------------------------------------------------------

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        in_flight, address = self._in_flight, self._client_address(scope)
        name = client_name(address)
        in_flight.begin(name)
        try:
            response = await self._respond(scope, receive, address)
        except Exception as error:
            response = self._routes.refused(scope["path"], error)
        finally:
            in_flight.end(name)
        if isinstance(response.body, bytes):
            await send_response(send, response)
            return

        async def send_outside(message: Message) -> None:
            """Send a message; the request is not in flight while it waits for the reader."""
            in_flight.end(name)
            try:
                await send(message)
            finally:
                in_flight.begin(name)

        in_flight.begin(name)
        try:
            await send_response(send_outside, response)
        finally:
            in_flight.end(name)

    async def _respond(self, scope: Scope, receive: Receive, address: str) -> HttpResponse:
        method, path = scope["method"], scope["path"]
        if method == "OPTIONS":
            return HttpResponse(status=204, headers={"Allow": self._routes.methods(path)})
        route, params = self._routes.find(method, path)
        request = AsgiRequest(scope, receive, params, self.limits)
        if route.access != "all":
            admit = self._admit_any if route.any_secret else self.authenticator.admit
            if self._sessions is not None:
                writes = method not in ("GET", "HEAD")
                admit = await self._find_session_visitor(scope, request, writes=writes) or admit
            self._admit(admit, scope, request, route.access, method in ("GET", "HEAD"), address)
        elif method not in ("GET", "HEAD"):
            self._check_room(address)
        return await route.answer(request)

    # -- WebSockets -------------------------------------------------------------------------

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        try:
            route, params = self._routes.find_socket(scope["path"])
            socket = AsgiWebSocket(scope, receive, send, params, self.limits, self._in_flight)
            admit: Admit = self.authenticator.admit_socket
            if self._sessions is not None:
                admit = await self._find_session_visitor(scope, socket, writes=True) or admit
            address = self._client_address(scope)
            quota = self._admit(admit, scope, socket, route.access, route.reads, address)
            opened = quota.open_socket()
        except Exception as error:
            await refuse_socket(scope, send, error_response(error))
            return
        self._sockets.add(socket)
        try:
            await send({"type": "websocket.accept"})
            async with asyncio.TaskGroup() as group:
                writer = group.create_task(socket.write())
                watching = self._watch_session(group, socket)
                await _converse(route.answer, socket)
                if watching is not None:
                    watching.cancel()
                if socket.gone:
                    writer.cancel()
        finally:
            self._sockets.discard(socket)
            opened.close()

    def _watch_session(
        self, group: asyncio.TaskGroup, socket: AsgiWebSocket
    ) -> asyncio.Task[None] | None:
        """Close a socket when the session of its visitor ends."""
        sessions = self._sessions
        if sessions is None or socket.visitor.session is None:
            return None

        async def watch(finder: SessionFinder) -> None:
            await finder.wait_for_end(socket.visitor)
            socket.close(SESSION_ENDED, "the session has ended")

        return group.create_task(watch(sessions), name="session of a socket")

    # -- both -------------------------------------------------------------------------------

    def _admit(
        self,
        admit: Admit,
        scope: Scope,
        request: AsgiRequest | AsgiWebSocket,
        access: Access,
        reads: bool,
        address: str,
    ) -> VisitorQuota:
        """Set the visitor and the quota of a request; raise an error to refuse it."""
        query, client = scope["query_string"], scope.get("client")
        if len(query) > self.limits.query:
            raise HttpError(
                HTTPStatus.REQUEST_URI_TOO_LONG, "the query string of the URL is too long"
            )
        peer = client[0] if client else None
        if scope.get("http_version") == "1.0":
            # nginx proxies with HTTP/1.0: the peer is a proxy, not a person at this machine
            peer = None
        visitor = admit(request.headers, query, peer, access, address=address)
        if visitor.scopes is not None and not visitor.may(access, reads=reads):
            raise Forbidden("the scopes of this key or session do not reach so far")
        if access == "operators" and scope["path"] != "/metrics":
            what = scope.get("method", "WebSocket")
            audit.info("%s at %s: %s %r", visitor.name, address, what, scope["path"])
            if what not in ("GET", "HEAD") or request.params:
                self._trail.note(visitor.name, address, what, scope["path"])
        request.visitor = visitor
        if self.stopping:
            raise Stopping("the assistant is shutting down")
        self._check_room(None if visitor.kind == "operator" else address)
        quota = self._quotas.find_quota(visitor, address)
        REQUEST_QUOTA.set(quota)
        return quota

    def _client_address(self, scope: Scope) -> str:
        """Return the address of a client; "" if it is unknown."""
        client, addresses = scope.get("client"), self.authenticator.addresses
        peer = client[0] if client else None
        return addresses.find(scope["headers"], peer) if addresses.any_trusted else peer or ""

    def _check_room(self, address: str | None) -> None:
        """Raise `Overloaded` for too many requests in flight, in total or from an address."""
        if len(self._in_flight) > self.limits.requests:
            raise Overloaded("too many requests are being answered already")
        if address is not None:
            number = self._in_flight.by_address.get(client_name(address), 0)
            if number > self.limits.address_requests:
                raise Overloaded("too many requests of your address are being answered already")

    async def _find_session_visitor(
        self, scope: Scope, request: AsgiRequest | AsgiWebSocket, *, writes: bool
    ) -> Admit | None:
        """Return the admission of a session's visitor; None without a session."""
        sessions, headers = self._sessions, request.headers
        if sessions is None or b"cookie" not in headers:
            return None
        if self.authenticator.sends_secret(headers, scope["query_string"]):
            return None
        visitor = await sessions.find(request.header("cookie"))
        return None if visitor is None else SessionAdmission(visitor, sessions.url, writes=writes)


async def _converse(answer: Callable[[WebSocket], Awaitable[None]], socket: AsgiWebSocket) -> None:
    """Let a channel serve a WebSocket; send its error before the socket is closed."""
    try:
        await answer(socket)
        socket.close()
    except Exception as error:
        group = error if isinstance(error, ExceptionGroup) else ExceptionGroup("", [error])
        if group.subgroup(PersonMoved) is not None:
            socket.close(SERVICE_RESTART, "connect again")
            return
        socket.send(error_response(error).encode_body().decode())
        socket.close(1011, "internal error")


class DoorNames:
    """Notes the prefixes of the doors, by which their persons are found even without the doors."""

    def __init__(self, store: RecordStore, prefixes: Collection[str]) -> None:
        self._store = store
        self._prefixes = prefixes

    async def open(self) -> None:
        """Note the prefixes."""
        await note_prefixes(self._store, self._prefixes)

    async def close(self) -> None:
        """Do nothing: the notes stay."""


def _check_prefixes(channels: Sequence[Channel]) -> None:
    prefixes = [channel.prefix for channel in channels]
    for channel in channels:
        if prefixes.count(channel.prefix) > 1:
            what = f"two doors give their users the prefix {channel.prefix!r}"
            raise ConfigError(what, key=f"doors.{channel.name}")
