"""CallWatch: sees the calls of services whole: the request, what goes over a wire, the reply.

Where nobody watches, calls cost nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from time import monotonic
from typing import Any, Final, Protocol

import msgspec

from prolocutor.contracts.connector import Request

MOST_SHOWN: Final = 200_000
"""Bytes that are kept of one body."""


class WireExchange(msgspec.Struct, kw_only=True):
    """One request over HTTP and its answer, as the bytes of their bodies; headers are left out.

    `url` is without user, password and query. `status` is 0 where no answer came. `seconds` are
    those until its end, `first` those until the first words of a streamed answer.
    """

    url: str
    request: bytes
    began: float
    status: int = 0
    reply: bytes = b""
    seconds: float = 0.0
    first: float | None = None

    def end(self, status: int, reply: bytes) -> None:
        """Note the answer; a streamed one has come by `add` already."""
        self.status = status
        self.reply = self.reply or reply[:MOST_SHOWN]
        self.seconds = monotonic() - self.began

    def add(self, piece: bytes) -> None:
        """Note a piece of a streamed answer."""
        if self.first is None:
            self.first = monotonic() - self.began
        if len(self.reply) < MOST_SHOWN:
            self.reply += piece


wire_exchanges: Final[ContextVar[list[WireExchange] | None]] = ContextVar("wire", default=None)
"""Where connectors note what they send for the call that runs; None where nobody watches it."""


class CallWatch(Protocol):
    """Watches the calls of all services of one assistant; it must not block and must not raise."""

    def begin(
        self, stage: str, request: Request, wire: list[WireExchange]
    ) -> Callable[[Any], None]:
        """Take note of a call, and return what takes its reply or its error.

        `wire` fills while the call runs.
        """
