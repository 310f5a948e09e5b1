"""AgentStates: how the services of an assistant are now, and since when."""

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
    """An observer that notes when breakers changed."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._changed: dict[str, float] = {}

    def turn_ended(self, record: TurnRecord) -> None:
        """Do nothing: only breakers count."""

    def breaker_changed(self, service: str, state: str) -> None:
        """Note the time; one that tries again has been left alone since before."""
        if state == "closed":
            self._changed.pop(service, None)
        else:
            self._changed.setdefault(service, self._clock())

    def of(self, step: ServiceStep) -> AgentState:
        """Return how a service is now."""
        return "off" if step.off is not None else _STATES[step.guard.breaker.state]

    def note(self, step: ServiceStep) -> str | None:
        """Return why a service is not asked as usual; None where it is."""
        state = step.guard.breaker.state
        if state == "closed":
            return None
        failures = step.service.breaker.failures
        left = f"left alone after {failures} failure{'' if failures == 1 else 's'}"
        return f"{left}; the next call tries again" if state == "half-open" else left

    def since(self, step: ServiceStep) -> float | None:
        """Return since when its breaker is not closed (UNIX seconds)."""
        return self._changed.get(step.name)
