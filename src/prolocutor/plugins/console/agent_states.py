"""AgentStates: the present states of an assistant's services, and their start times."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Literal

from prolocutor.contracts.observer import TurnRecord
from prolocutor.pipeline.guard import BreakerState
from prolocutor.pipeline.prepared import ServiceStep

AgentState = Literal["well", "trying", "alone", "off"]

_STATES: Final[dict[BreakerState, AgentState]] = {
    "closed": "well",
    "half-open": "trying",
    "open": "alone",
}


class AgentStates:
    """An observer that notes the times at which breakers changed."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._changed: dict[str, float] = {}

    def turn_ended(self, record: TurnRecord) -> None:
        """Do nothing: only breakers count."""

    def breaker_changed(self, service: str, state: str) -> None:
        """Note the time; a breaker that tries again keeps the earlier time."""
        if state == "closed":
            self._changed.pop(service, None)
        else:
            self._changed.setdefault(service, self._clock())

    def of(self, step: ServiceStep) -> AgentState:
        """Return the present state of a service."""
        return "off" if step.off is not None else _STATES[step.guard.breaker.state]

    def note(self, step: ServiceStep) -> str | None:
        """Return the reason why a service is not asked as usual; None if it is asked as usual."""
        state = step.guard.breaker.state
        if state == "closed":
            return None
        failures = step.service.breaker.failures
        left = f"left alone after {failures} failure{'' if failures == 1 else 's'}"
        return f"{left}; the next call tries again" if state == "half-open" else left

    def since(self, step: ServiceStep) -> float | None:
        """Return the time since which the service's breaker is not closed (UNIX seconds)."""
        return self._changed.get(step.name)
