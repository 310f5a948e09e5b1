"""Common parts of calls over a network: headers, and several requests at once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import quote

from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from prolocutor.contracts.connector import Replies, Request
from prolocutor.dialog.plain import Plain
from prolocutor.errors import ServiceError


async def each_alone(
    ask: Callable[[Request], Awaitable[Plain | ServiceError]], requests: Sequence[Request]
) -> Replies:
    """Send all requests at the same time; with several requests an error stands in its reply's
    place.

    A single request raises its error.
    """
    if len(requests) == 1:
        return (await ask(requests[0]),)
    return await asyncio.gather(*[_catch_error(ask(request)) for request in requests])


async def _catch_error(asked: Awaitable[Plain | ServiceError]) -> Plain | ServiceError:
    try:
        return await asked
    except ServiceError as error:
        return error


def call_headers(requests: Sequence[Request]) -> dict[str, str]:
    """Return the headers of a POST for these requests.

    `X-Turn-Id`; `Idempotency-Key`, of a batch the first request's key, `+` and a digest of all
    keys, for different keys of batches; `traceparent` within a recording span, or for a continued
    trace.
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
    """Percent-encode characters forbidden in headers."""
    return value if value.isascii() and value.isprintable() else quote(value, safe="/+")
