"""The headers that change from call to call: the turn, the idempotency key, the trace."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from urllib.parse import quote

from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from prolocutor.contracts.connector import Request


def call_headers(requests: Sequence[Request]) -> dict[str, str]:
    """Return the headers of one POST for these requests.

    `X-Turn-Id`; `Idempotency-Key`, of a batch the first request's key, `+` and a digest of all
    keys, so that another batch never has the same; `traceparent` within a
    recording span, or where a trace is continued.
    """
    first = requests[0]
    key = first.key
    if len(requests) > 1:
        keys = "\n".join([request.key for request in requests])
        key += "+" + hashlib.blake2b(keys.encode(), digest_size=8).hexdigest()
    headers = {"X-Turn-Id": _sent(first.turn_id), "Idempotency-Key": _sent(key)}
    span = get_current_span()
    if span.is_recording() or span.get_span_context().is_remote:
        TraceContextTextMapPropagator().inject(headers)
    return headers


def _sent(value: str) -> str:
    """Write what a header cannot carry in percent-encoding."""
    return value if value.isascii() and value.isprintable() else quote(value, safe="/+")
