"""Quotas: how many calls a minute each agent has left."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from time import monotonic

from prolocutor.durations import MINUTE


class Quotas:
    """Counts the calls of the last minute, by agent; agents without a quota are not counted."""

    def __init__(self, quotas: Mapping[str, int], clock: Callable[[], float] = monotonic) -> None:
        self._quotas = dict(quotas)
        self._clock = clock
        self._calls: dict[str, deque[float]] = {agent: deque() for agent in quotas}

    def left(self, agent: str) -> int | None:
        """Return how many calls an agent has left in this minute; None without a quota."""
        if agent not in self._quotas:
            return None
        calls, now = self._calls[agent], self._clock()
        while calls and calls[0] <= now - MINUTE:
            calls.popleft()
        return max(0, self._quotas[agent] - len(calls))

    def called(self, agent: str) -> None:
        """Count a call."""
        if agent in self._quotas:
            self._calls[agent].append(self._clock())
