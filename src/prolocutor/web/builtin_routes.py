"""What the listener answers for itself: health, metrics, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel, HttpRequest, HttpResponse, Route
from prolocutor.observe.metrics import CONTENT_TYPE, TurnMetrics
from prolocutor.web.error_table import ErrorResponse
from prolocutor.web.icons import Icons
from prolocutor.web.in_flight import InFlight
from prolocutor.web.openapi import document
from prolocutor.web.requests import json_response

_BREAKER: Final = {"closed": 0.0, "half-open": 1.0, "open": 2.0}


class BuiltinRoutes:
    """The routes that every listener has."""

    def __init__(
        self,
        assistant: Assistant,
        channels: Sequence[Channel],
        in_flight: InFlight,
        metrics: TurnMetrics | None,
        is_ready: Callable[[], bool],
    ) -> None:
        self._is_ready = is_ready
        self._metrics = metrics
        icons = Icons(step.guard.service for step in assistant.engine.prepared.every())
        self._document = document(assistant.name, channels, metrics is not None)
        self.routes = [
            Route("GET", "/health/live", self._live, "all"),
            Route("GET", "/health/ready", self._ready, "all"),
            Route("GET", "/openapi.json", self._openapi, "all"),
            Route("GET", "/icons/{name}", icons.show, "all"),
        ]
        if metrics is not None:
            watch(metrics, assistant, in_flight)
            self.routes.append(Route("GET", "/metrics", self._show_metrics, "operators"))

    async def _live(self, _: HttpRequest) -> HttpResponse:
        return json_response({"status": "live"})

    async def _ready(self, _: HttpRequest) -> HttpResponse:
        if self._is_ready():
            return json_response({"status": "ready"})
        what = "the assistant is starting or shutting down"
        return ErrorResponse(503, what, "not_ready", headers={"Retry-After": "1"}).response()

    async def _openapi(self, _: HttpRequest) -> HttpResponse:
        return json_response(self._document)

    async def _show_metrics(self, _: HttpRequest) -> HttpResponse:
        assert self._metrics is not None
        return HttpResponse(self._metrics.text(), content_type=CONTENT_TYPE)


def watch(metrics: TurnMetrics, assistant: Assistant, in_flight: InFlight) -> None:
    """Let the metrics look at what is going on now, whenever they are asked for."""
    prepared = assistant.engine.prepared
    metrics.watch("prolocutor_strays", "Cancelled calls that run on", lambda: len(prepared.strays))
    metrics.watch("prolocutor_busy", "People whose turns run or wait", lambda: assistant.busy)
    metrics.watch("prolocutor_requests", "Requests being answered", lambda: len(in_flight))
    metrics.watch(
        "prolocutor_calls_in_flight",
        "Calls that run now, by service",
        lambda: {step.name: step.guard.in_flight for step in prepared.every()},
    )
    metrics.watch(
        "prolocutor_breaker_state",
        "0 closed, 1 half-open, 2 open, by service",
        lambda: {step.name: _BREAKER[step.guard.breaker.state] for step in prepared.every()},
    )
