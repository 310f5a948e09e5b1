"""CallLog: the requests to services and their replies, word for word, of the latest turns."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, Final

import msgspec

from prolocutor.contracts.calls import MOST_SHOWN, WireExchange
from prolocutor.contracts.connector import Request
from prolocutor.contracts.observer import TurnRecord
from prolocutor.dialog.plain import Plain
from prolocutor.errors import ServiceError

MOST_BYTES: Final = 16_000_000
"""The most bytes of all kept calls; the oldest turns are dropped first."""
MOST_CALLS: Final = 200
"""The most kept calls of a turn."""
SAMPLING_INTERVAL: Final = 16
"""One turn of so many has the size of its requests measured."""

_SECRET: Final = re.compile(
    r'("[^"]*(?:secret|token|password|passwd|api_?key|authorization)[^"]*"\s*:\s*")(?:[^"\\]|\\.)+"',
    re.IGNORECASE,
)


class ShownExchange(msgspec.Struct, frozen=True, kw_only=True):
    """A request over HTTP and its answer; `first` are the seconds until a stream's first words.

    `status` is 0 without an answer.
    """

    url: str
    request: str
    status: int
    reply: str
    seconds: float
    first: float | None


class ShownCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a service: the request and the reply as JSON texts, cut after 200,000 characters.

    `reply` is null if the call failed (`error`, `code`) or was abandoned (`seconds` is null). `key`
    is the `Idempotency-Key`. `wire` are the bodies of its HTTP requests and answers.
    """

    service: str
    stage: str
    key: str
    request: str
    reply: str | None
    error: str | None
    code: str | None
    seconds: float | None
    wire: list[ShownExchange]


class SeenCall:
    """A call that runs or has ended."""

    __slots__ = ("began", "outcome", "request", "seconds", "stage", "wire")

    def __init__(self, stage: str, request: Request, wire: list[WireExchange]) -> None:
        self.stage, self.request, self.wire = stage, request, wire
        self.began = monotonic()
        self.seconds: float | None = None
        self.outcome: Any = None

    def end(self, outcome: Any) -> None:
        """Record the reply or the error."""
        self.outcome, self.seconds = outcome, monotonic() - self.began

    @property
    def size(self) -> int:
        """The bytes of the reply and of the HTTP bodies."""
        reply = len(self.outcome.encoded) if isinstance(self.outcome, Plain) else 0
        return reply + sum(len(one.request) + len(one.reply) for one in self.wire)

    def show(self) -> ShownCall:
        """Return the call as texts."""
        said = self.outcome
        failed = isinstance(said, BaseException)
        return ShownCall(
            service=self.request.service,
            stage=self.stage,
            key=self.request.key,
            request=_text(self.request.body()),
            reply=_text(said.encoded) if isinstance(said, Plain) else None,
            error=(str(said) or type(said).__name__) if failed else None,
            code=said.code if isinstance(said, ServiceError) else None,
            seconds=self.seconds,
            wire=[
                ShownExchange(
                    url=one.url,
                    request=_text(one.request),
                    status=one.status,
                    reply=_text(one.reply),
                    seconds=one.seconds,
                    first=one.first,
                )
                for one in self.wire
            ],
        )


class CallLog:
    """Keeps the calls of the latest `most` turns in memory, by the id of their turn.

    Requests are kept as the connectors got them, and encoded when they are read. Encoding one costs
    more than keeping it, so the size of a request is measured in one turn of
    `SAMPLING_INTERVAL` only.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._turns: OrderedDict[str, list[SeenCall]] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._size = self._ended = self._request_size = 0

    def begin(
        self, stage: str, request: Request, wire: list[WireExchange]
    ) -> Callable[[Any], None]:
        """Record the beginning of a call; return the function that records its end."""
        call = SeenCall(stage, request, wire)
        calls = self._turns.get(request.turn_id)
        if calls is None:
            calls = self._turns[request.turn_id] = []
            if len(self._turns) > self._most:
                self._drop_oldest()
        if len(calls) < MOST_CALLS:
            calls.append(call)
        return call.end

    def turn_ended(self, record: TurnRecord) -> None:
        """Measure the turn, and drop older turns beyond `MOST_BYTES`."""
        calls = self._turns.get(record.turn_id)
        if calls is None:
            return
        if self._ended % SAMPLING_INTERVAL == 0 and calls:
            self._request_size = len(calls[-1].request.body())
        self._ended += 1
        size = self._request_size + sum([one.size for one in calls])
        self._sizes[record.turn_id] = size
        self._size += size
        while self._size > MOST_BYTES and self._turns:
            self._drop_oldest()

    def calls(self, turn_id: str) -> list[ShownCall] | None:
        """Return the calls of a turn; None for a dropped or unknown turn."""
        found = self._turns.get(turn_id)
        return None if found is None else [one.show() for one in found]

    @asynccontextmanager
    async def drop_deleted(self) -> AsyncIterator[None]:
        """Drop all calls when a dialog is deleted, because requests quote dialogs."""
        try:
            yield
        finally:
            self._turns.clear()
            self._sizes.clear()
            self._size = 0

    def _drop_oldest(self) -> None:
        turn_id, _ = self._turns.popitem(last=False)
        self._size -= self._sizes.pop(turn_id, 0)


def _text(body: bytes) -> str:
    """Return a body as text, without the values of members with names of secrets."""
    text = body[:MOST_SHOWN].decode(errors="replace")
    return _SECRET.sub(r'\1…"', text) + ("…" if len(body) > MOST_SHOWN else "")
