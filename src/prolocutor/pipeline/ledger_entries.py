"""What has become of one service in one turn, and of one wave of skills; services that linger."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Final, Literal, Protocol

import msgspec

from prolocutor.contracts.observer import Outcome
from prolocutor.errors import ServiceError
from prolocutor.pipeline.prepared import ServiceStep

Standing = Literal["waiting", "held", "asked", "settled"]
"""`waiting` for other services, `held` until it is selected, `asked` and not through, `settled`."""


class WaveNote(msgspec.Struct, frozen=True):
    """How one candidate annotator is through with one wave."""

    outcome: Outcome
    error: ServiceError | None = None


class SkillWave(msgspec.Struct, eq=False):
    """Skills that were selected together; `open` counts those that have not settled.

    `notes` has each candidate annotator that was called for the wave, None until it is through.
    """

    skills: list[str]
    open: int = 0
    notes: dict[int, WaveNote | None] = {}


class LedgerEntry(msgspec.Struct, eq=False):
    """What has become of one service in one turn; times are those that transitions were given.

    `missing` counts what it still waits for, `calls` the calls that were made. A skill has the
    `wave` in which it was selected.
    """

    step: ServiceStep
    missing: int
    standing: Standing = "waiting"
    outcome: Outcome | None = None
    error: ServiceError | None = None
    started: float | None = None
    ended: float | None = None
    calls: int = 0
    wave: SkillWave | None = None


class Lingering:
    """The services of one turn that could start and linger (`waiting`), each until a time.

    They give annotators of the last reply a little time to be shown.
    """

    def __init__(self, entries: Sequence[LedgerEntry], ready: deque[LedgerEntry]) -> None:
        self._entries = entries
        self._ready = ready
        self._until: dict[int, float] = {}
        self.waiting: list[LedgerEntry] = []

    def until(self, end: float) -> float:
        """Return the time by which the first of them starts in any case, at the latest `end`."""
        return min([end, *(self._until[one.step.index] for one in self.waiting)])

    def keep(self, entry: LedgerEntry, now: float) -> bool:
        """Keep a service that could start, as long as it has to linger; False where it has not."""
        step = entry.step
        until = self._until.setdefault(step.index, now + step.service.lingers)
        if now >= until or all(self._entries[at].outcome is not None for at in step.lingers_for):
            return False
        self.waiting.append(entry)
        return True

    def release(self, now: float = inf) -> bool:
        """Let go those whose time is over; False where there are none."""
        if not self.waiting:
            return False
        over = [one for one in self.waiting if self._until[one.step.index] <= now]
        for entry in over:
            self._until[entry.step.index] = -inf
            self.waiting.remove(entry)
        self._ready.extend(over)
        return bool(over)

    def settled(self, step: ServiceStep) -> None:
        """A service has settled: let go those that lingered for it alone."""
        over = [one for one in self.waiting if step.index in one.step.lingers_for]
        for entry in over:
            self.waiting.remove(entry)
        self._ready.extend(over)  # what lingers for others too is kept again


NOTHING_LINGERS: Final = Lingering((), deque())
"""What turns share in which no service lingers; it is never changed."""


class LedgerWatch(Protocol):
    """Takes note of what becomes of the services of one turn."""

    def asked(self, entry: LedgerEntry) -> None:
        """Take note that a service is asked, for the first time in the turn."""

    def settled(self, entry: LedgerEntry) -> None:
        """Take note that a service has settled, asked or not."""


class LedgerWatches:
    """Two watches of one ledger."""

    def __init__(self, first: LedgerWatch, second: LedgerWatch) -> None:
        self._both = (first, second)

    def asked(self, entry: LedgerEntry) -> None:
        """Pass it on to both."""
        for watch in self._both:
            watch.asked(entry)

    def settled(self, entry: LedgerEntry) -> None:
        """Pass it on to both."""
        for watch in self._both:
            watch.settled(entry)


def watched_by(first: LedgerWatch | None, second: LedgerWatch | None) -> LedgerWatch | None:
    """Return a watch that passes on to both, as far as they are there."""
    return LedgerWatches(first, second) if first and second else first or second
