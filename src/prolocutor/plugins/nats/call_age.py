"""CallAges: how long calls were on their way, without a common clock.

A broker, a line or a worker that was stopped for a while hands over calls whose callers have given
up. Clocks of machines differ, so the age of a call is how much longer it travelled than the
quickest recent call of the same sender.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

GENERATION: Final = 64
"""Calls after which the quickest call is forgotten, because clocks get set."""
MAX_SENDERS: Final = 4096


class CallAges:
    """Estimates the ages of calls from the times at which their senders say they were sent."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._senders: OrderedDict[str, _Quickest] = OrderedDict()

    def age(self, sender: str, sent: str | None) -> float:
        """Return by how many seconds a call took longer than the sender's quickest; 0 if unknown.

        `sent`: the time in milliseconds by the sender's clock.
        """
        if sent is None:
            return 0.0
        try:
            took = self._clock() - float(sent) / 1000
        except ValueError:
            return 0.0
        quickest = self._senders.get(sender)
        if quickest is None:
            quickest = self._senders[sender] = _Quickest(took)
            if len(self._senders) > MAX_SENDERS:
                self._senders.popitem(last=False)
        return took - quickest.note_call(took)


class _Quickest:
    """The shortest travel time among a sender's last calls: this generation and the one before."""

    __slots__ = ("_before", "_count", "_now")

    def __init__(self, took: float) -> None:
        self._now = self._before = took
        self._count = 0

    def note_call(self, took: float) -> float:
        """Record the travel time of a call; return the shortest, in seconds."""
        self._count += 1
        if self._count > GENERATION:
            self._before, self._now, self._count = self._now, took, 1
        self._now = min(self._now, took)
        return min(self._now, self._before)
