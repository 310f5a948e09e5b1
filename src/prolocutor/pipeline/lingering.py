"""Services that linger: they give annotators of the last reply a little time to be shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf

from prolocutor.pipeline.ledger_entries import LedgerEntry
from prolocutor.pipeline.prepared import ServiceStep


class Lingering:
    """The services of one turn that could start and linger (`waiting`), each until a time."""

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
