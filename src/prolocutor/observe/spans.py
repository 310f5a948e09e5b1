"""Spans: turns and their services as OpenTelemetry traces, made from the record at a turn's end."""

from __future__ import annotations

from time import monotonic
from typing import Final

from opentelemetry import context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    NoOpTracer,
    NoOpTracerProvider,
    ProxyTracerProvider,
    SpanKind,
    Tracer,
    TracerProvider,
    get_tracer_provider,
    set_span_in_context,
)
from opentelemetry.trace.status import Status, StatusCode

from prolocutor.contracts.observer import ServiceRecord, TurnRecord
from prolocutor.observe.trace_context import span_context_of

_NAME = "prolocutor"

_LOOK_AFTER: Final = 1.0
"""Seconds between two looks for the provider of the process: each one reads the environment."""


class TurnSpans:
    """An observer that makes a span of each turn and of each service in it, with their true times.

    A turn that was cut off and ran again is in the trace of its first run, and linked to it.

    It does nothing until the application has set a tracer provider, or passes one here. It looks
    for the application's once a second.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._provider = provider
        self._tracer: Tracer | None = None
        self._look_at = 0.0

    def turn_ended(self, record: TurnRecord) -> None:
        """Make the spans of one turn."""
        tracer = self._find_tracer()
        if tracer is None:
            return
        began = round(record.started * 1e9)
        first = None if record.traceparent is None else span_context_of(record.traceparent)
        parent = context.Context()
        if first is not None:
            parent = set_span_in_context(NonRecordingSpan(first), parent)
        span = tracer.start_span(
            "turn",
            parent,
            SpanKind.SERVER,
            links=[] if first is None else [Link(first, {"prolocutor.run": "first"})],
            start_time=began,
            attributes={
                "prolocutor.turn_id": record.turn_id,
                "prolocutor.dialog_id": record.dialog_id,
                "prolocutor.channel": record.channel,
                "prolocutor.by": record.by,
                "prolocutor.active_skill": record.active_skill,
                "prolocutor.attempt": record.attempt,
            },
        )
        if record.by == "fallback":
            span.set_status(Status(StatusCode.ERROR, "no service had an answer"))
        for one in record.services:
            if one.started is not None and one.ended is not None:
                _add_service(tracer, set_span_in_context(span, context.Context()), one, began)
        span.end(began + round(record.seconds * 1e9))

    def breaker_changed(self, service: str, state: str) -> None:
        """Do nothing: a breaker belongs to no turn."""

    def _find_tracer(self) -> Tracer | None:
        if self._tracer is None and monotonic() >= self._look_at:
            self._look_at = monotonic() + _LOOK_AFTER
            provider = self._provider or get_tracer_provider()
            if isinstance(provider, ProxyTracerProvider | NoOpTracerProvider):
                return None
            tracer = provider.get_tracer(_NAME)
            if isinstance(tracer, NoOpTracer):
                return None
            self._tracer = tracer
        return self._tracer


def _add_service(tracer: Tracer, parent: context.Context, one: ServiceRecord, began: int) -> None:
    assert one.started is not None
    assert one.ended is not None
    span = tracer.start_span(
        f"{one.stage} {one.name}",
        parent,
        SpanKind.CLIENT,
        start_time=began + round(one.started * 1e9),
        attributes={
            "prolocutor.service": one.name,
            "prolocutor.stage": one.stage,
            "prolocutor.outcome": one.outcome,
            "prolocutor.calls": one.calls,
        },
    )
    if one.failed:
        span.set_status(Status(StatusCode.ERROR, one.error or one.outcome))
    span.end(began + round(one.ended * 1e9))
