"""What a server of several tenants answers itself: health, and figures for its own operators."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import Stopping
from prolocutor.observe.joined_metrics import joined
from prolocutor.observe.metrics import CONTENT_TYPE
from prolocutor.web.asgi import Receive, Scope, Send
from prolocutor.web.authentication import AccessPolicy, Authenticator
from prolocutor.web.builtin_routes import HealthStatus
from prolocutor.web.error_table import ErrorResponse, error_response
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.openapi import document
from prolocutor.web.operations import Operation, TypedRequest
from prolocutor.web.requests import AsgiRequest, refuse_socket, send_response
from prolocutor.web.routing import RouteTable
from prolocutor.web.served_tenant import ServedTenant

audit = logging.getLogger("prolocutor.audit")

_NAME: Final = "tenants"


class TenantState(msgspec.Struct, frozen=True):
    """One tenant: whether its turns are taken, and why it could not be started, if so."""

    name: str
    ready: bool
    fault: str | None


class TenantStates(msgspec.Struct, frozen=True):
    """The tenants of the server."""

    tenants: list[TenantState]


class TenantOverview:
    """An ASGI app of the server itself. Its keys open nothing of a tenant's."""

    def __init__(
        self, tenants: Sequence[ServedTenant], auth: AccessPolicy, limits: ListenerLimits
    ) -> None:
        self._tenants = tenants
        self._limits = limits
        self._authenticator = Authenticator(auth, wrong_keys=limits.wrong_keys)
        show_metrics = Operation(self.metrics, produces="text/plain")
        routes = [
            Route("GET", "/health/live", Operation(self.health_live), "all"),
            Route("GET", "/health/ready", Operation(self.health_ready, errors=[Stopping]), "all"),
            Route("GET", "/openapi.json", Operation(self.openapi), "all"),
            Route("GET", "/metrics", show_metrics, "operators"),
            Route("GET", "/tenants", Operation(self.tenants), "operators"),
        ]
        self._routes = RouteTable(routes)
        self._document = document(_NAME, {"server": routes})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; there are no WebSockets here."""
        if scope["type"] == "websocket":
            await receive()
            path = scope["path"]
            try:
                self._routes.find_socket(path)
            except Exception as error:
                await refuse_socket(scope, send, error_response(error))
            return
        try:
            response = await self._respond(scope, receive)
        except Exception as error:
            response = error_response(error).response()
        await send_response(send, response)

    async def health_live(self, _: TypedRequest[None, None]) -> HealthStatus:
        """Return whether the process answers at all."""
        return HealthStatus("live")

    async def health_ready(self, _: TypedRequest[None, None]) -> HealthStatus | HttpResponse:
        """Return whether any tenant's turns are taken; each tenant says so for itself."""
        if any(await self._ready()):
            return HealthStatus("ready")
        what = "no tenant is ready"
        return ErrorResponse(503, what, "not_ready", headers={"Retry-After": "1"}).response()

    async def openapi(self, _: TypedRequest[None, None]) -> dict[str, Any]:
        """Return this document; each tenant has one of its own."""
        return self._document

    async def metrics(self, _: TypedRequest[None, None]) -> HttpResponse:
        """Return the figures of all tenants for Prometheus, labelled (operators of the server)."""
        figures = {one.name: None if one.app is None else one.app.metrics for one in self._tenants}
        return HttpResponse(joined(figures), content_type=CONTENT_TYPE)

    async def tenants(self, _: TypedRequest[None, None]) -> TenantStates:
        """Return which tenants are served, and why others are not (operators of the server)."""
        ready = await self._ready()
        return TenantStates(
            [
                TenantState(one.name, is_ready, one.fault)
                for one, is_ready in zip(self._tenants, ready, strict=True)
            ]
        )

    async def _ready(self) -> list[bool]:
        return await asyncio.gather(*(one.is_ready() for one in self._tenants))

    async def _respond(self, scope: Scope, receive: Receive) -> HttpResponse:
        method, path = scope["method"], scope["path"]
        if method == "OPTIONS":
            return HttpResponse(status=204, headers={"Allow": self._routes.methods(path)})
        route, params = self._routes.find(method, path)
        request = AsgiRequest(scope, receive, params, self._limits)
        if route.access != "all":
            client = scope.get("client")
            peer = client[0] if client else None
            address = self._authenticator.addresses.find(scope["headers"], peer)
            request.visitor = self._authenticator.admit(
                request.headers, scope["query_string"], peer, route.access, address=address
            )
            if path != "/metrics":
                audit.info("%s at %s: %s %r", request.visitor.name, address, method, path)
        return await route.answer(request)
