"""HeldCall: a call that a worker has accepted, and the headers that tell its outcome."""

from __future__ import annotations

import time
from typing import Any, Final

import msgspec
from nats.aio.msg import Msg

from prolocutor.contracts.connector import DeltaSink
from prolocutor.dialog.plain import Plain, decode
from prolocutor.errors import BadReply, NoPlace, ServiceError, ServiceRefused
from prolocutor.plugins.nats import wire

LONGEST: Final = 3600.0
"""The time limit in seconds of a call whose caller gives none."""
BAD_REQUEST: Final = 400


class HeldCall:
    """A call that a worker has accepted: a `Request` for its connector."""

    __slots__ = (
        "_value",
        "beat",
        "deadline",
        "deltas",
        "key",
        "message",
        "outcome",
        "service",
        "taken",
        "timeout",
        "turn_id",
    )

    def __init__(self, service: str, message: Msg, seconds: float) -> None:
        headers = message.headers or {}
        self.service = service
        self.deltas: DeltaSink | None = None
        self.message = message
        self.timeout = seconds
        self.turn_id: str = headers.get(wire.TURN, "")
        self.key: str = headers.get(wire.KEY, "")
        self.taken = self.beat = time.monotonic()
        self.deadline = self.taken + seconds
        self.outcome: Plain | ServiceError | None = None
        """The reply or error; None while it runs, and for a call that was answered too late."""
        self._value: Any = None

    def is_json(self) -> bool:
        """Return whether the body is JSON."""
        try:
            self._value = (decode(self.message.data),)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return False
        return True

    def value(self) -> Any:
        """Return a decoded copy of the request's body."""
        value, self._value = self._value, None
        return decode(self.message.data) if value is None else value[0]

    def body(self) -> bytes:
        """Return the request's body, JSON in bytes."""
        return self.message.data


def seconds_left(header: str | None) -> float:
    """Return how many seconds the caller waits, from a header in milliseconds."""
    try:
        return LONGEST if header is None else min(float(header) / 1000, LONGEST)
    except ValueError:
        return LONGEST


def error_headers(error: ServiceError) -> dict[str, str]:
    """Return the headers of an answer that reports an error."""
    if isinstance(error, BadReply):
        return {wire.ERROR: "bad_reply", wire.PATH: error.path}
    kind: wire.WorkerError = "raised"
    if isinstance(error, NoPlace):
        kind = "busy"
    elif isinstance(error, ServiceRefused) and error.status == BAD_REQUEST:
        kind = "bad_request"
    return {wire.ERROR: kind}
