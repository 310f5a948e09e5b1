"""Services of a single good or bad behaviour each, for the kits: plain functions of a request.

`prolocutor.testing.behaviours:echo` and so on are their dotted names.
"""

from __future__ import annotations

import sys
import time
from typing import Any


def echo(request: Any) -> Any:
    """Return the request; `{"seconds": n}` takes so long, `{"raise": text}` raises."""
    if isinstance(request, dict):
        time.sleep(request.get("seconds", 0))
        if "raise" in request:
            raise ValueError(request["raise"])
    return request


def echo_batch(requests: list[Any]) -> list[Any]:
    """Return the requests; a `"bad"` reply becomes an object outside of JSON."""
    return [object() if request == "bad" else request for request in requests]


def short_batch(requests: list[Any]) -> list[Any]:
    """Return the requests without the last."""
    return requests[:-1]


def nothing(request: Any) -> None:
    """Return None."""


def raises(request: Any) -> Any:
    """Raise an error."""
    raise LookupError("the cupboard is bare")


def exits(request: Any) -> Any:
    """Try to end the interpreter."""
    sys.exit(3)


def not_a_number(request: Any) -> Any:
    """Return a number outside of JSON, deep in the reply."""
    return [{"text": "hi", "confidence": float("nan")}]


def not_plain(request: Any) -> Any:
    """Return an object outside of JSON."""
    return {"when": object()}


def too_large(request: Any) -> Any:
    """Return 50 MB."""
    return "x" * 50_000_000


def too_deep(request: Any) -> Any:
    """Return a list nested in itself a hundred times."""
    reply: list[Any] = []
    for _ in range(100):
        reply = [reply]
    return reply
