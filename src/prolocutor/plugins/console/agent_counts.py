"""AgentCounts: the outcomes of services in a period, from the records in the store."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from prolocutor.assistant.turn_record import TurnRecorder
from prolocutor.clocks import DAY, HOUR
from prolocutor.contracts.turn_record_store import SPAN_SECONDS, AgentSpan, LatestFailure
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.console.recent_figures import RecentFigures, ServiceKey
from prolocutor.stores.agent_figures import add_span, new_span

FRESH_SECONDS: Final = 2.0
"""Seconds for which what was read of the store is cached, unless a turn ends before."""

LONG_PERIOD: Final = 2 * DAY
"""The length in seconds from which on a period is long."""

LONG_FRESH: Final = 60.0
"""Seconds for which figures of a period longer than `LONG_PERIOD` are cached, whatever happens."""

MOST_CACHED: Final = 20
_ALWAYS: Final = 1e12
_SETTLING_SECONDS: Final = 1.0
"""Seconds that records of turns which have just ended are waited for."""


class PeriodCounts:
    """Figures since a time (UNIX seconds).

    `tallies` are the figures of skills by name if the store keeps them; the figures of other
    services are the process's own, since its start.
    """

    def __init__(
        self,
        recent: RecentFigures,
        since: float,
        tallies: Mapping[str, AgentSpan] | None = None,
    ) -> None:
        self.since = since if tallies is not None else max(since, recent.since)
        self.turns = recent.turns(since)
        self._recent = recent
        self._tallies = tallies

    def tally(self, key: ServiceKey) -> AgentSpan:
        """Return the outcomes of a service."""
        if self._tallies is None or key[0] != Stage.SKILL:
            return self._recent.tally(key, self.since)
        return self._tallies.get(key[1]) or new_span()


class ServiceHistory:
    """The outcomes of a service since a time, step by step; `spans` if the store has them."""

    def __init__(
        self,
        recent: RecentFigures,
        key: ServiceKey,
        since: float,
        spans: Sequence[AgentSpan] | None,
    ) -> None:
        self._recent, self._key, self._since = recent, key, since
        self._spans = spans

    def series(self, step: int) -> list[tuple[float, AgentSpan]]:
        """Return the start time and the figures of each step of a fixed number of seconds."""
        spans = self._recent.spans(self._key, self._since)
        if self._spans is not None:
            spans = [(span.at, span) for span in self._spans]
        steps: dict[int, AgentSpan] = {}
        for at, span in spans:
            add_span(steps.setdefault(at // step, new_span()), span)
        return [(number * float(step), tally) for number, tally in steps.items()]

    def latest(self) -> dict[str, LatestFailure]:
        """Return the latest turn with each kind of failure, as far as the store has it."""
        found: dict[str, LatestFailure] = {}
        for span in self._spans or ():
            found |= span.latest
        return found


class CachedCounts(msgspec.Struct, frozen=True):
    """Figures read `at` a time, after `ended` turns in this process."""

    at: float
    ended: int
    counts: PeriodCounts

    def holds(self, now: float, ended: int, is_long: bool) -> bool:
        """Return whether the figures are fresh enough to be shown again."""
        if is_long:
            return now - self.at <= LONG_FRESH
        return ended == self.ended and now - self.at <= FRESH_SECONDS


class AgentCounts:
    """Reads the figures of a period, from a store of records or from this process alone."""

    def __init__(
        self,
        recent: RecentFigures,
        recorder: TurnRecorder | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._recent = recent
        self._recorder = recorder
        self._clock = clock
        self._cached: dict[float, CachedCounts] = {}
        self._reading = asyncio.Lock()

    async def since(self, since: float) -> PeriodCounts:
        """Return the figures since the start of the quarter of an hour of `since`."""
        since = since // SPAN_SECONDS * SPAN_SECONDS
        if self._recorder is None:
            return PeriodCounts(self._recent, since)
        is_long = time.time() - since > LONG_PERIOD
        async with self._reading:
            cached = self._cached.get(since)
            if cached is not None and cached.holds(self._clock(), self._recent.ended, is_long):
                return cached.counts
            if len(self._cached) >= MOST_CACHED:
                self._cached.clear()
            ended = self._recent.ended
            counts = await self._read(self._recorder, since)
            self._cached[since] = CachedCounts(self._clock(), ended, counts)
            return counts

    async def history(self, key: ServiceKey, counts: PeriodCounts) -> ServiceHistory:
        """Return the outcomes of a service in the period of these figures."""
        spans = None
        if self._recorder is not None and key[0] == Stage.SKILL:
            spans = await self._recorder.store.figures(counts.since, _ALWAYS, key[1])
        return ServiceHistory(self._recent, key, counts.since, spans)

    async def _read(self, recorder: TurnRecorder, since: float) -> PeriodCounts:
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLING_SECONDS):
                await recorder.settle()
        totals = await recorder.store.totals(since, _ALWAYS)
        counts = PeriodCounts(self._recent, since, {one.agent: one for one in totals})
        if since < self._recent.since:
            hours = await recorder.store.hours(since // HOUR * HOUR, _ALWAYS)
            counts.turns = sum(one.turns for one in hours)
        return counts
