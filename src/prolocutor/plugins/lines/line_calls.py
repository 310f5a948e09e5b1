"""LineCalls: calls that are answered by lines of JSON, in the order in which they were made."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final

from prolocutor.connectors.parts.event_stream import StreamedReply
from prolocutor.contracts.connector import DeltaSink, Request
from prolocutor.dialog.plain import Plain, decode, encode
from prolocutor.errors import BadReply, ServiceError, ServiceRaised

LATE: Final = 0.1
"""The part of a time-out that may be left of a call which counts as timed out."""


class LineCall:
    """A call: `answer` is its reply or its error. A cancelled `answer` is an abandoned call."""

    __slots__ = ("answer", "is_settled", "reply")

    def __init__(self, deltas: DeltaSink | None) -> None:
        self.answer: asyncio.Future[Plain | ServiceError] = (
            asyncio.get_running_loop().create_future()
        )
        self.reply = StreamedReply(deltas)
        self.is_settled = False

    def settle(self, outcome: Plain | ServiceError) -> None:
        """Note the reply or the error."""
        self.is_settled = True
        if not self.answer.done():
            self.answer.set_result(outcome)


class LineCalls:
    """Calls with answers in order: the first line is for the first call.

    An abandoned call keeps its place, so its answer is not taken for another call's. A line is
    words (`{"delta": TEXT}`), or ends a call: the reply, or `{"error": TEXT}`, a failure.
    """

    def __init__(self) -> None:
        self._waiting: deque[LineCall] = deque()
        self._idle: asyncio.Future[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody waits for any answer."""
        return all(call.answer.cancelled() for call in self._waiting)

    @property
    def has_abandoned(self) -> bool:
        """Whether an answer of an abandoned call is still to come."""
        return any(call.answer.cancelled() for call in self._waiting)

    def add(self, deltas: DeltaSink | None) -> LineCall:
        """Add a call before its request is written."""
        call = LineCall(deltas)
        self._waiting.append(call)
        return call

    def take(self, line: bytes) -> str | None:
        """Take a line; return the fault if further lines cannot be assigned to calls."""
        if not self._waiting:
            return "wrote a line that nobody asked for"
        call = self._waiting[0]
        try:
            outcome = _outcome(call.reply, line)
        except ServiceError as error:
            outcome = error
        if outcome is not None:
            self._settle_first(outcome)
        if isinstance(outcome, BadReply) and not _is_json(line):
            return f"wrote a line that is not JSON: {line[:80].decode(errors='replace')!r}"
        return None

    def fail(self, how: ServiceError) -> None:
        """Fail all calls."""
        while self._waiting:
            self._settle_first(how)

    async def idle(self) -> None:
        """Wait until no answer is to come any more."""
        while self._waiting:
            if self._idle is None:
                self._idle = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._idle)

    def _settle_first(self, outcome: Plain | ServiceError) -> None:
        self._waiting.popleft().settle(outcome)
        if not self._waiting and self._idle is not None:
            self._idle.set_result(None)
            self._idle = None


def write_line(request: Request) -> bytes:
    """Return a request as a line of JSON."""
    body = request.body()
    return encode(request.value()) if b"\n" in body or b"\r" in body else body


def is_late(until: float, timeout: float) -> bool:
    """Return whether a call that is cancelled now has timed out, or nearly so."""
    return until - asyncio.get_running_loop().time() <= LATE * timeout


def _outcome(reply: StreamedReply, line: bytes) -> Plain | ServiceError | None:
    """Return the outcome of a call, None if the line was words."""
    if not reply.take(line):
        return None
    whole = reply.whole()
    value = whole.value
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("error"), str):
        return ServiceRaised(value["error"][:300])
    return whole


def _is_json(line: bytes) -> bool:
    with suppress(ValueError):
        try:
            decode(line)
        except RecursionError:
            return True
        return True
    return False
