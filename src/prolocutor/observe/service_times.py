"""ServiceTimes: how long services took lately, on average."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

from prolocutor.contracts.observer import TurnRecord

PERIOD: Final = 300.0
"""Seconds over which the mean is taken."""

SLICES: Final = 30

_Slice = dict[str, list[float]]


class ServiceTimes:
    """An observer that knows the mean response time of each service over the last 300 seconds.

    It counts in 30 slices of ten seconds each, so its memory does not grow with the traffic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._slices: deque[tuple[int, _Slice]] = deque(maxlen=SLICES)

    def turn_ended(self, record: TurnRecord) -> None:
        """Add the services of one turn, and the turn itself as `agent`."""
        current = self._current()
        _add(current, "agent", record.seconds)
        for one in record.services:
            started, ended = one.started, one.ended
            if started is not None and ended is not None:
                _add(current, one.name, ended - started)

    def breaker_changed(self, service: str, state: str) -> None:
        """Do nothing: only times count."""

    def means(self) -> dict[str, float]:
        """Return the mean seconds by service, for those that were asked in the period."""
        oldest = self._number() - SLICES
        sums: _Slice = {}
        for number, part in self._slices:
            if number > oldest:
                for name, (count, seconds) in part.items():
                    _add(sums, name, seconds, count)
        return {name: seconds / count for name, (count, seconds) in sums.items()}

    def _current(self) -> _Slice:
        number = self._number()
        if not self._slices or self._slices[-1][0] != number:
            self._slices.append((number, {}))
        return self._slices[-1][1]

    def _number(self) -> int:
        return int(self._clock() / (PERIOD / SLICES))


def _add(part: _Slice, name: str, seconds: float, count: float = 1) -> None:
    known = part.get(name)
    if known is None:
        part[name] = [count, seconds]
    else:
        known[0] += count
        known[1] += seconds
