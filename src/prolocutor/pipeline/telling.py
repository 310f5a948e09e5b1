"""Telling a skill something after the reply: what it learns counts, what it says does not."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from prolocutor.dialog.plain import Plain
from prolocutor.errors import ServiceError, ServiceRaised
from prolocutor.pipeline import replies
from prolocutor.pipeline.asking import Asking, requests_for
from prolocutor.pipeline.calls import RunningCalls
from prolocutor.pipeline.plan import Stage
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.pipeline.turn import Turn, reshaped


async def tell(turn: Turn, step: ServiceStep, extra: dict[str, Any]) -> None:
    """Tell a skill; the attributes of its most confident hypothesis change the profiles.

    It has what is left of the turn, and whatever it does wrong is on record.
    """
    begun = turn.draft.begun
    now = monotonic()
    seconds = min(step.timeout, turn.seconds_until(Stage.POSTPROCESSOR))
    if seconds <= 0 or (not step.service.rerun and begun.attempt > 1):
        turn.fault(step.name, "was not told that its ask is over: there was no time left")
        return
    try:
        asking = Asking(step, None, None)
        requests = requests_for(asking, turn.draft, begun.opening.turn_id, seconds, extra)
    except BaseException as error:
        turn.fault(step.name, f"its formatter raised {type(error).__name__}: {error}")
        return
    calls: RunningCalls[int] = RunningCalls(asyncio.get_running_loop(), turn.strays)
    try:
        for position, request in enumerate(requests):
            if step.guard.immediate:
                calls.answer(step.guard.answer, request, position)
            else:
                calls.start(step.guard.call(request), position, seconds, now)
        while len(calls.settled) < len(requests):
            await calls.wait(now + seconds)
    finally:
        calls.close()
    for _, outcome in sorted(calls.settled, key=lambda settled: settled[0]):
        _learn(turn, step, outcome)


def _learn(turn: Turn, step: ServiceStep, outcome: Any) -> None:
    def fault(what: str) -> None:
        turn.fault(step.name, what)

    if step.format_reply is not None and isinstance(outcome, Plain):
        outcome = reshaped(step, outcome)
    if not isinstance(outcome, Plain):
        if not isinstance(outcome, ServiceError):
            outcome = ServiceRaised(f"its connector gave a {type(outcome).__name__}")
        step.guard.note(outcome)
        fault(str(outcome))
        return
    try:
        found = replies.hypotheses(outcome.value, fault)
    except ServiceError as error:
        step.guard.note(error)
        fault(str(error))
        return
    step.guard.note(None)
    if found:
        best = max(found, key=lambda one: one["confidence"])
        turn.draft.learn(best, turn.max_attributes, fault)
