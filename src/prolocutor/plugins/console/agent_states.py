"""AgentStates: the present states of an assistant's services, and their start times."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection
from typing import Final, Literal

from prolocutor.contracts.observer import FAILURES, TurnRecord
from prolocutor.contracts.turn_record_store import TurnQuery, TurnRecordStore
from prolocutor.errors import BreakerOpen
from prolocutor.pipeline.guard import BreakerState
from prolocutor.pipeline.prepared import ServiceStep

AgentState = Literal["well", "failing", "trying", "alone", "off"]

LATEST_CALLS: Final = 20
"""The number of calls of a service that say whether it fails often."""

MIN_FAILURES: Final = 3
"""The number of failures among them from which on it does, until as many answers follow."""

EARLIER_TURNS: Final = 200
"""The turns before a restart that count as well."""

_STATES: Final[dict[BreakerState, AgentState]] = {
    "closed": "well",
    "half-open": "trying",
    "open": "alone",
}


class AgentStates:
    """An observer of changes of breakers, and of the outcomes of the latest calls."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._changed: dict[str, float] = {}
        self._failed: dict[str, deque[bool]] = {}
        self._answered: dict[str, float] = {}
        self._left: set[str] = set()

    async def read_earlier(self, store: TurnRecordStore) -> None:
        """Note the latest recorded turns: a restart does not hide that a service fails often."""
        earlier = await store.latest_turns(TurnQuery(), None, EARLIER_TURNS)
        for one in reversed(earlier.items):
            self.turn_ended(one.record)

    def turn_ended(self, record: TurnRecord) -> None:
        """Note for each called service whether it failed.

        The first answer after an open breaker clears earlier failures.
        """
        for one in record.services:
            if one.started is None:
                continue
            if one.code == BreakerOpen.code:
                self._left.add(one.name)
                continue
            failed = one.outcome in FAILURES
            if not failed and one.name in self._left:
                self._forget_failures(one.name)
            latest = self._failed.get(one.name)
            if latest is None:
                latest = self._failed[one.name] = deque(maxlen=LATEST_CALLS)
            if not failed and latest and latest[-1]:
                self._answered[one.name] = record.started + (one.ended or 0.0)
            latest.append(failed)

    def breaker_changed(self, service: str, state: str) -> None:
        """Note the time; a breaker that tries again keeps the earlier time.

        When it closes the service has answered, and its earlier failures count no more.
        """
        if state == "closed":
            self._changed.pop(service, None)
            self._forget_failures(service)
        else:
            self._changed.setdefault(service, self._clock())

    def find_state(self, step: ServiceStep) -> AgentState:
        """Return the present state of a service."""
        if step.off is not None:
            return "off"
        state = _STATES[step.guard.breaker.state]
        return "failing" if state == "well" and self._failures(step) is not None else state

    def note(self, step: ServiceStep) -> str | None:
        """Return the reason why a service is not asked as usual or fails often, otherwise None."""
        state = step.guard.breaker.state
        if state == "closed":
            return self._failures(step)
        failures = step.service.breaker.failures
        left = f"left alone after {failures} failure{'' if failures == 1 else 's'}"
        return f"{left}; the next call tries again" if state == "half-open" else left

    def _forget_failures(self, service: str) -> None:
        self._failed.pop(service, None)
        self._left.discard(service)

    def _failures(self, step: ServiceStep) -> str | None:
        """Return how many of the latest calls failed, None if these are few or it is well again."""
        latest = self._failed.get(step.name, ())
        failed, answers = sum(latest), _count_answers(latest)
        if failed < MIN_FAILURES or answers >= failed:
            return None
        told = f"{failed} of its latest {len(latest)} calls failed"
        return f"{told}, the last {answers} did not" if answers else told

    def since(self, step: ServiceStep) -> float | None:
        """Return the time since which the service's breaker is not closed (UNIX seconds).

        Of a service that failed often and answers again, the time of its first answer since.
        """
        changed = self._changed.get(step.name)
        latest = self._failed.get(step.name, ())
        if changed is not None or not MIN_FAILURES <= sum(latest) <= _count_answers(latest):
            return changed
        return self._answered.get(step.name)


def _count_answers(failed: Collection[bool]) -> int:
    """Return the number of calls since the last failure."""
    return next((n for n, one in enumerate(reversed([*failed])) if one), len(failed))
