"""RolloutJudge: says whether what is tried out is better, and stops what is not."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from prolocutor.contracts.observer import Learner, Outcome


class ShadowAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a shadow: its outcome, seconds, cost, and the JSON that it gave.

    The outcome is "skipped" where a cap was reached, or its breaker left it alone.
    """

    name: str
    stage: str
    turn_id: str
    outcome: Outcome
    seconds: float = 0.0
    cost: float = 0.0
    value: Any = None


class RolloutJudge(Learner, Protocol):
    """Follows what is tried out in an assistant, and stops what does harm.

    An entry point of the group `prolocutor.rollouts` makes it of an assistant; it is made only
    where a service has a `canary` or is a `shadow`.
    """

    def shadow_answered(self, answer: ShadowAnswer) -> None:
        """Take note of a shadow's answer; must not block and must not raise."""

    async def aclose(self) -> None:
        """Write what waits, and stop; the last turn is over, and the store is open."""
