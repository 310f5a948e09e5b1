"""The one listener: an ASGI app made of an assistant and its channels."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any, Final

from starlette.middleware.cors import CORSMiddleware

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel, HttpResponse
from prolocutor.errors import ConfigError, Overloaded, Stopping
from prolocutor.observe.metrics import TurnMetrics
from prolocutor.web.asgi import App, Receive, Scope, Send
from prolocutor.web.authentication import ANONYMOUS, AccessPolicy, Authenticator
from prolocutor.web.builtin_routes import BuiltinRoutes
from prolocutor.web.error_table import ErrorResponse, HttpError, error_response
from prolocutor.web.in_flight import InFlight
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.requests import AsgiRequest, send_response
from prolocutor.web.routing import SOCKET, RouteTable
from prolocutor.web.websockets import AsgiWebSocket

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_HEADERS: Final = ("Authorization", "Content-Type", "Idempotency-Key")


def make_app(
    assistant: Assistant,
    channels: Sequence[Channel] = (),
    *,
    auth: AccessPolicy | None = None,
    limits: ListenerLimits | None = None,
    origins: Collection[str] = (),
    metrics: TurnMetrics | None = None,
) -> Listener:
    """Make the ASGI app of an assistant: its channels, `/health`, `/metrics`, `/openapi.json`.

    `origins` (`https://example.org`, or `*`) are the sites whose pages may talk to it. `metrics`
    has to be among the assistant's observers; without it there is no `/metrics`.
    """
    return Listener(
        assistant, channels, auth or AccessPolicy(), limits or ListenerLimits(), origins, metrics
    )


class Listener:
    """An ASGI app made of doors. It admits visitors, finds routes, and answers for their errors.

    It starts the assistant in `open` if nobody has, and then also closes it.
    """

    def __init__(
        self,
        assistant: Assistant,
        channels: Sequence[Channel],
        auth: AccessPolicy,
        limits: ListenerLimits,
        origins: Collection[str],
        metrics: TurnMetrics | None,
    ) -> None:
        self.limits = limits
        self.authenticator = Authenticator(auth, origins, [channel.prefix for channel in channels])
        self.stopping = False
        self._assistant = assistant
        self._channels = _distinct(channels)
        self._in_flight = InFlight()
        self._sockets: set[AsgiWebSocket] = set()
        self._opened = AsyncExitStack()
        builtin = BuiltinRoutes(assistant, channels, self._in_flight, metrics, self._is_ready)
        doors = (route for channel in channels for route in channel.routes)
        self._routes = RouteTable([*builtin.routes, *doors])
        self._http: App = self._answer
        if origins:
            self._http = CORSMiddleware(
                self._answer, allow_origins=origins, allow_methods=_METHODS, allow_headers=_HEADERS
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, serve a socket, or live through the server's life."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._converse(scope, receive, send)
        else:
            await self._live(receive, send)

    async def open(self) -> None:
        """Start the assistant if nobody has, then open the channels."""
        async with AsyncExitStack() as opened:
            if not self._assistant.ready:
                await self._assistant.start()
                opened.push_async_callback(self._assistant.aclose)
            for channel in self._channels:
                await channel.open()
                opened.push_async_callback(channel.close)
            self._opened = opened.pop_all()

    async def drain(self) -> None:
        """Take nothing new, and wait until all that was taken is answered."""
        self.stopping = True
        for socket in self._sockets:
            socket.stop()
        await self._in_flight.empty()

    async def close(self) -> None:
        """Close the channels, and the assistant if it was started here."""
        self.stopping = True
        await self._opened.aclose()

    # -- over HTTP --------------------------------------------------------------------------

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._in_flight:
            try:
                response = await self._respond(scope, receive)
            except Exception as error:
                response = error_response(error).response()
            await send_response(send, response)

    async def _respond(self, scope: Scope, receive: Receive) -> HttpResponse:
        method, path = scope["method"], scope["path"]
        if method == "OPTIONS":
            return HttpResponse(status=204, headers={"Allow": self._routes.methods(path)})
        route, params = self._routes.find(method, path)
        visitor = ANONYMOUS
        if route.access != "all":
            visitor = self.authenticator.admit(*self._shown(scope), route.access)
            self._check_room()
        request = AsgiRequest(scope, receive, visitor, params, self.limits)
        response: HttpResponse = await route.answer(request)
        return response

    # -- over WebSockets --------------------------------------------------------------------

    async def _converse(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        try:
            route, params = self._routes.find(SOCKET, scope["path"])
            visitor = self.authenticator.admit_socket(*self._shown(scope), route.access)
            self._check_room()
        except Exception as error:
            return await _refuse(scope, send, error_response(error))
        await send({"type": "websocket.accept"})
        socket = AsgiWebSocket(scope, receive, send, visitor, params, self.limits, self._in_flight)
        self._sockets.add(socket)
        try:
            async with asyncio.TaskGroup() as group:
                writer = group.create_task(socket.write())
                await _serve(route.answer, socket)
                if socket.gone:
                    writer.cancel()
        finally:
            self._sockets.discard(socket)

    # -- for both ---------------------------------------------------------------------------

    def _shown(self, scope: Scope) -> tuple[dict[bytes, bytes], bytes, str | None]:
        """Return what a visitor shows at the door: headers, query and address."""
        query = scope["query_string"]
        if len(query) > self.limits.query:
            raise HttpError(HTTPStatus.REQUEST_URI_TOO_LONG, "the query is too long")
        client = scope.get("client")
        return dict(scope["headers"]), query, client[0] if client else None

    def _check_room(self) -> None:
        if self.stopping:
            raise Stopping("the assistant is shutting down")
        if len(self._in_flight) > self.limits.requests:
            raise Overloaded("too many requests are being answered already")

    def _is_ready(self) -> bool:
        return self._assistant.ready and not self.stopping

    async def _live(self, receive: Receive, send: Send) -> None:
        """Open and close as the server of somebody else says (ASGI's lifespan)."""
        await receive()
        try:
            await self.open()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})


async def _serve(answer: Any, socket: AsgiWebSocket) -> None:
    """Let a channel serve a socket; what it raises is told before the socket is closed."""
    try:
        await answer(socket)
        socket.close()
    except Exception as error:
        socket.send(error_response(error).encoded().decode())
        socket.close(1011, "internal error")


async def _refuse(scope: Scope, send: Send, refusal: ErrorResponse) -> None:
    """Refuse a handshake, with an answer over HTTP where the server knows how."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008})
    else:
        await send_response(send, refusal.response(), "websocket.http.response")


def _distinct(channels: Sequence[Channel]) -> list[Channel]:
    prefixes = [channel.prefix for channel in channels]
    for channel in channels:
        if prefixes.count(channel.prefix) > 1:
            what = f"two doors give their users the prefix {channel.prefix!r}"
            raise ConfigError(what, key=f"doors.{channel.name}")
    return list(channels)
