"""The trace of a turn, stored so that a second run of the turn continues it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import context
from opentelemetry.trace import SpanContext, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_HEADER = "traceparent"


def current_traceparent() -> str | None:
    """Return the `traceparent` (W3C) of the recording span; None without such a span."""
    if not get_current_span().is_recording():
        return None
    headers: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(headers)
    return headers.get(_HEADER)


@contextmanager
def continue_trace(traceparent: str | None) -> Iterator[None]:
    """Make the calls of services within the block part of this trace."""
    if traceparent is None:
        yield
        return
    token = context.attach(_read_context(traceparent))
    try:
        yield
    finally:
        context.detach(token)


def read_span_context(traceparent: str) -> SpanContext | None:
    """Return the span of a `traceparent`; None if it is malformed."""
    span_context = get_current_span(_read_context(traceparent)).get_span_context()
    return span_context if span_context.is_valid else None


def _read_context(traceparent: str) -> context.Context:
    return TraceContextTextMapPropagator().extract({_HEADER: traceparent}, context.Context())
