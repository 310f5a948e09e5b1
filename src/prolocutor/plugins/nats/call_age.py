"""CallAges: how long calls were on their way, without a common clock.

A broker, a line or a worker that was stopped for a while hands over calls that nobody waits for any
more. Clocks of machines differ, so what counts is how much later a call comes than the quickest of
the calls of the same sender.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

GENERATION: Final = 64
"""Calls after which an old quickest one is forgotten, as clocks are set."""
MAX_SENDERS: Final = 4096


class CallAges:
    """Says how old calls are, by their sender and when it says that it sent them."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._senders: OrderedDict[str, _Quickest] = OrderedDict()

    def age(self, sender: str, sent: str | None) -> float:
        """Return how many seconds longer than the quickest a call took; 0 where nothing is known.

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
        return took - quickest.noted(took)


class _Quickest:
    """The quickest of the last calls of one sender: of this generation and the one before."""

    __slots__ = ("_before", "_count", "_now")

    def __init__(self, took: float) -> None:
        self._now = self._before = took
        self._count = 0

    def noted(self, took: float) -> float:
        """Take note of a call, and return the quickest."""
        self._count += 1
        if self._count > GENERATION:
            self._before, self._now, self._count = self._now, took, 1
        self._now = min(self._now, took)
        return min(self._now, self._before)
