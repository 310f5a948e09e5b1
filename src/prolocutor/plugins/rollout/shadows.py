"""Shadows: services that are asked after the reply is out, and whose answers nobody sees."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.clocks import DAY, MINUTE
from prolocutor.contracts.observer import Outcome
from prolocutor.errors import ServiceLate, SwitchedOff
from prolocutor.pipeline.calling import ask_service
from prolocutor.pipeline.calls import Strays
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.pipeline.requests import StateRequest, make_requests
from prolocutor.pipeline.snapshot import DialogSnapshot
from prolocutor.plan.pipeline import Shadow

log = logging.getLogger(__name__)

DELAY_SECONDS: Final = 0.05
"""Seconds after the turn for which a shadow waits, so that the reply is on its way."""

AT_ONCE: Final = 4
"""Shadows that are asked at the same time; what comes meanwhile is left out."""

_ROUNDING: Final = 1 + 1e-9


class ShadowAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a shadow: its outcome, seconds, cost, and the JSON of its answer.

    The outcome is "skipped" if a cap was reached, or the breaker left the shadow alone.
    """

    name: str
    stage: str
    turn_id: str
    outcome: Outcome
    seconds: float = 0.0
    cost: float = 0.0
    value: Any = None


class ShadowCall(msgspec.Struct, frozen=True, eq=False):
    """The call of a shadow: the dialog as it was when the other services were asked."""

    step: ServiceStep
    turn_id: str
    snapshot: DialogSnapshot
    extra: dict[str, Any]


class Shadows:
    """Asks shadows within their caps; a turn neither waits for them nor sees their faults.

    `told` gets the result of each shadow. `outcome` "skipped": a cap was reached.
    """

    def __init__(self, strays: Strays, clock: Callable[[], float] = monotonic) -> None:
        self.told: Callable[[ShadowAnswer], None] = lambda answer: None
        self._strays = strays
        self._clock = clock
        self._running = BackgroundTasks("shadows")
        self._asked: dict[str, deque[float]] = {}
        self._paid: dict[str, deque[tuple[float, float]]] = {}

    def ask(self, call: ShadowCall) -> None:
        """Start to ask a shadow, in the background."""
        if call.step.off is None:
            if self._may_ask(call.step):
                self._running.start(self._ask(call))
            else:
                self._tell(call, "skipped")

    async def wait_until_settled(self) -> None:
        """Wait until every asked shadow has settled."""
        await self._running.wait_until_ended()

    async def aclose(self) -> None:
        """Stop asking shadows."""
        await self._running.aclose()

    def _may_ask(self, step: ServiceStep) -> bool:
        """Return whether the caps admit another call, and count the call."""
        caps: Shadow = getattr(step.service, "shadow", None) or Shadow()
        now = self._clock()
        asked = self._asked.setdefault(step.name, deque())
        paid = self._paid.setdefault(step.name, deque())
        while asked and asked[0] <= now - MINUTE:
            asked.popleft()
        while paid and paid[0][0] <= now - DAY:
            paid.popleft()
        cost = sum(price for _, price in paid) + step.price
        if len(self._running) >= AT_ONCE or len(asked) >= caps.calls_per_minute:
            return False
        if step.price and cost > caps.cost_per_day * _ROUNDING:
            return False
        asked.append(now)
        if step.price:
            paid.append((now, step.price))
        return True

    async def _ask(self, call: ShadowCall) -> None:
        step, began = call.step, monotonic()
        outcome: Outcome = "failed"
        value: Any = None
        try:
            await asyncio.sleep(DELAY_SECONDS)
            began = monotonic()
            requests = make_requests(step, call.snapshot, call.turn_id, step.timeout, call.extra)
            state = StateRequest(step, call.turn_id, step.timeout, call.snapshot, call.extra)
            group = await ask_service(
                step, requests, step.timeout, self._strays, turn=lambda: state
            )
            failures = group.failures()
            if not failures:
                step.guard.note(None)
                outcome, value = "done", [reply.value for reply in group.replies]  # type: ignore[union-attr]
                value = value[0] if len(value) == 1 else value
            elif isinstance(failures[0], ServiceLate):
                outcome = "late"
            elif isinstance(failures[0], SwitchedOff):
                outcome = "skipped"
        except asyncio.CancelledError:
            raise
        except BaseException:
            log.warning("the shadow %s could not be asked", step.name, exc_info=True)
        self._tell(call, outcome, monotonic() - began, value)

    def _tell(
        self, call: ShadowCall, outcome: Outcome, seconds: float = 0.0, value: Any = None
    ) -> None:
        step = call.step
        answer = ShadowAnswer(
            name=step.name,
            stage=step.stage_name,
            turn_id=call.turn_id,
            outcome=outcome,
            seconds=seconds,
            cost=step.price if outcome != "skipped" else 0.0,
            value=value,
        )
        try:
            self.told(answer)
        except Exception:
            log.exception("the answer of a shadow could not be recorded")
