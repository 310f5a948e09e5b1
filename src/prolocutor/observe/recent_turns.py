"""Observers that keep the last turns and mean times in memory."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Final

from prolocutor.contracts.observer import TurnRecord

PERIOD_SECONDS: Final = 300.0
"""Seconds over which the mean is taken."""

SLICES: Final = 30
"""Parts of `PERIOD_SECONDS`, of which the oldest is dropped."""

_Slice = dict[str, list[float]]


class RecentTurns:
    """An observer that holds the last `size` records, of all users together."""

    def __init__(self, size: int = 200) -> None:
        self._records: deque[TurnRecord] = deque(maxlen=size)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._records)

    def turn_ended(self, record: TurnRecord) -> None:
        """Add a record, and drop the oldest if there are too many."""
        self._records.append(record)

    def last(self, number: int = 20, *, user: str | None = None) -> list[TurnRecord]:
        """Return the last records, newest first, of a user or of all."""
        newest_first = reversed(self._records)
        return list(islice((r for r in newest_first if user in (None, r.user)), number))

    def find(self, turn_id: str) -> TurnRecord | None:
        """Return the record of a turn, None if it is no longer kept."""
        return next((r for r in self._records if r.turn_id == turn_id), None)

    def find_record(self, utt_id: str) -> TurnRecord | None:
        """Return the latest record of the turn with a reply's id, None if it is no longer kept."""
        return next((r for r in reversed(self._records) if r.utt_id == utt_id), None)


class ServiceTimes:
    """An observer that knows the mean response time of each service over the last 300 seconds.

    It counts in 30 slices of ten seconds each, so its memory does not grow with the traffic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._slices: deque[tuple[int, _Slice]] = deque(maxlen=SLICES)

    def turn_ended(self, record: TurnRecord) -> None:
        """Add the services of a turn, and the turn itself as `agent`."""
        current = self._current()
        _add(current, "agent", record.seconds)
        for service in record.services:
            started, ended = service.started, service.ended
            if started is not None and ended is not None:
                _add(current, service.name, ended - started)

    def means(self) -> dict[str, float]:
        """Return the mean seconds of each service that was asked in the last 300 seconds."""
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
        return int(self._clock() / (PERIOD_SECONDS / SLICES))


def _add(part: _Slice, name: str, seconds: float, count: float = 1) -> None:
    known = part.get(name)
    if known is None:
        part[name] = [count, seconds]
    else:
        known[0] += count
        known[1] += seconds
