"""The routes of every listener: health, metrics, icons and the OpenAPI document."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.services import ServiceStatus
from prolocutor.contracts.channel import Channel, Route
from prolocutor.contracts.http import HttpResponse
from prolocutor.errors import NotFound, Stopping, StoreAway
from prolocutor.observe.metrics import CONTENT_TYPE, TurnMetrics
from prolocutor.web.asgi import Receive, Scope, Send
from prolocutor.web.error_table import ErrorResponse, error_response
from prolocutor.web.limits import InFlight, ListenerLimits
from prolocutor.web.openapi import document
from prolocutor.web.operations import Operation, TypedRequest
from prolocutor.web.requests import AsgiRequest, json_response, refuse_socket, send_response
from prolocutor.web.routing import RouteTable

MAX_BYTES: Final = 1_000_000

_ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)
_TYPES: Final = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
}
_HEADERS: Final = {
    "Cache-Control": "max-age=3600",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
}

_BREAKER: Final = {"closed": 0.0, "half-open": 1.0, "open": 2.0}


class MonitoringApp:
    """An ASGI app for the given routes only, and for every client of its address."""

    def __init__(self, routes: Sequence[Route], limits: ListenerLimits) -> None:
        self._routes = RouteTable(routes)
        self.limits = limits

    def is_unlimited(self, address: str) -> bool:
        """Return False: monitoring has few connections, so no address needs more."""
        return False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and refuse every WebSocket."""
        if scope["type"] == "websocket":
            refused = error_response(NotFound("there are no WebSockets here"))
            await refuse_socket(scope, send, refused)
            return
        try:
            route, params = self._routes.find(scope["method"], scope["path"])
            response = await route.answer(AsgiRequest(scope, receive, params, self.limits))
        except Exception as error:
            response = error_response(error).response()
        await send_response(send, response)


class IconName(msgspec.Struct, frozen=True):
    """The parameters of a request for an icon."""

    name: str


class Icons:
    """The icons of services: a file each, or an address elsewhere."""

    def __init__(self, services: Iterable[ServiceStatus]) -> None:
        self._icons = {service.name: service.icon for service in services if service.icon}

    async def show_icon(self, request: TypedRequest[IconName, None]) -> HttpResponse:
        """Return the picture of a service."""
        name = request.params.name
        icon = self._icons.get(name)
        if icon is None:
            raise NotFound(f"there is no icon of {name!r:.80}", field="name")
        if _ADDRESS.match(icon):
            return HttpResponse(status=302, headers={"Location": icon})
        file = Path(icon)
        kind = _TYPES.get(file.suffix.lower())
        if kind is None:
            raise NotFound(f"the icon of {name!r:.80} is not a picture", field="name")
        return HttpResponse(await asyncio.to_thread(_read, file, name), 200, kind, _HEADERS)


def _read(file: Path, name: str) -> bytes:
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError:
        raise NotFound(f"the icon of {name!r:.80} cannot be read", field="name") from None
    if len(content) > MAX_BYTES:
        raise NotFound(f"the icon of {name!r:.80} is larger than {MAX_BYTES:,} bytes", field="name")
    return content


class HealthStatus(msgspec.Struct, frozen=True):
    """Whether the process answers, or whether turns are taken."""

    status: Literal["live", "ready"]


class BuiltinRoutes:
    """The routes of a listener beside the routes of its channels."""

    def __init__(
        self,
        assistant: Assistant,
        channels: Sequence[Channel],
        in_flight: InFlight,
        metrics: TurnMetrics | None,
        is_ready: Callable[[], Awaitable[bool]],
    ) -> None:
        self._is_ready = is_ready
        self._assistant = assistant
        self._metrics = metrics
        icons = Icons(assistant.services())
        show_icon = Operation(
            icons.show_icon,
            errors=[NotFound],
            produces="image/*",
            statuses={302: "The picture is at another address."},
        )
        self.monitoring = [
            Route("GET", "/health/live", Operation(self.health_live), "all"),
            Route("GET", "/health/ready", Operation(self.health_ready, errors=[Stopping]), "all"),
        ]
        self.routes = [
            *self.monitoring,
            Route("GET", "/openapi.json", Operation(self.openapi), "all"),
            Route("GET", "/icons/{name}", show_icon, "all"),
        ]
        if metrics is not None:
            watch(metrics, assistant, in_flight)
            show_metrics = Operation(self.metrics, produces="text/plain")
            show = Route("GET", "/metrics", show_metrics, "operators")
            self.monitoring.append(show)
            self.routes.append(show)
        self._channels = channels
        self._document: HttpResponse | None = None

    async def health_live(self, _: TypedRequest[None, None]) -> HealthStatus:
        """Return whether the process answers at all."""
        return HealthStatus("live")

    async def health_ready(self, _: TypedRequest[None, None]) -> HealthStatus | HttpResponse:
        """Return whether turns are taken and can be stored."""
        if await self._is_ready():
            return HealthStatus("ready")
        what = "the assistant is starting or shutting down, or cannot store turns"
        code = StoreAway.code if self._assistant.life.is_cut_off else "not_ready"
        return ErrorResponse(503, what, code, headers={"Retry-After": "1"}).response()

    async def openapi(self, _: TypedRequest[None, None]) -> dict[str, Any] | HttpResponse:
        """Return this document."""
        if self._document is None:  # in a thread: it takes as long as many turns
            self._document = await asyncio.to_thread(self._make_document)
        return self._document

    def _make_document(self) -> HttpResponse:
        routes = {channel.name: channel.routes for channel in self._channels}
        return json_response(document(self._assistant.name, {"listener": self.routes, **routes}))

    async def metrics(self, _: TypedRequest[None, None]) -> HttpResponse:
        """Return figures for Prometheus (operators)."""
        assert self._metrics is not None
        return HttpResponse(self._metrics.text(), content_type=CONTENT_TYPE)


def watch(metrics: TurnMetrics, assistant: Assistant, in_flight: InFlight) -> None:
    """Add gauges to the metrics, which are read together with the metrics."""
    metrics.watch(
        "prolocutor_strays",
        "Cancelled calls that run on",
        lambda: len(assistant.engine.prepared.strays),
    )
    metrics.watch("prolocutor_busy", "People whose turns run or wait", lambda: assistant.turns.busy)
    metrics.watch("prolocutor_requests", "Requests being answered", lambda: len(in_flight))
    metrics.watch(
        "prolocutor_calls_in_flight",
        "Calls that run now, by service",
        lambda: {service.name: service.in_flight for service in assistant.services()},
    )
    metrics.watch(
        "prolocutor_breaker_state",
        "0 closed, 1 half-open, 2 open, by service",
        lambda: {service.name: _BREAKER[service.breaker] for service in assistant.services()},
    )
    metrics.watch(
        "prolocutor_unreadable_people",
        "People of whom what is stored could not be read since the start",
        lambda: len(assistant.store_health.unreadable),
    )
    metrics.watch(
        "prolocutor_learning_failed",
        "Routers and rankers that cannot learn all, or whose new models cannot be written or read",
        lambda: sum(bool(model.source.problem) for model in assistant.models),
    )
    for gauge in () if assistant.sharing is None else assistant.sharing.gauges():
        metrics.watch(*gauge)
