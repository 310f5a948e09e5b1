"""Runs turns through one pipeline, many at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

from prolocutor.contracts.connector import Connector
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, NotFound, ServiceError
from prolocutor.pipeline import telling
from prolocutor.pipeline.calls import RunningCalls
from prolocutor.pipeline.guard import BreakerState
from prolocutor.pipeline.plan import Formatter, Pipeline, Service
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep, StageDeadlines
from prolocutor.pipeline.requests import PayloadRequest
from prolocutor.pipeline.turn import Turn, reshaped

log = logging.getLogger(__name__)


class Engine:
    """Runs turns through one pipeline, many at once.

    `connect` makes the connector of a service, `resolve` finds the function of a dotted name.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        connect: Callable[[Service], Connector],
        resolve: Callable[[str], Formatter],
        deadline: float = 5.0,
        reserve: float | None = None,
        fallback: str = "Sorry, I have no answer to that.",
        max_attributes: int = 1000,
        breaker_changed: Callable[[str, BreakerState], None] = lambda service, state: None,
    ) -> None:
        self.prepared = PreparedPipeline(
            pipeline,
            connect=connect,
            resolve=resolve,
            limits=StageDeadlines.within(deadline, reserve),
            fallback=fallback,
            max_attributes=max_attributes,
            breaker_changed=breaker_changed,
        )

    async def run(self, begun: OpenedTurn, start: TurnStart, started: float) -> Turn:
        """Run one turn that started at `started` (`time.monotonic`); its reply is in its draft."""
        turn = Turn(self.prepared, begun, start, started)
        if start.say is not None:
            turn.draft.say_itself(start.say)
            return turn
        await turn.run()
        if start.otherwise is not None and not turn.draft.spoken().says_something:
            turn.draft.say_itself(start.otherwise)
        return turn

    async def tell(self, turn: Turn, skill: str, extra: dict[str, Any]) -> None:
        """Tell a skill something after the reply; its attributes count, its words do not."""
        step = self.prepared.skill_steps.get(skill)
        if step is not None:
            await telling.tell(turn, step, extra)

    def closed(self, begun: OpenedTurn, start: TurnStart, attributes: dict[str, Any]) -> Turn:
        """Return a turn that was ended by the fallback text without asking anybody."""
        turn = Turn(self.prepared, begun, start, 0.0)
        turn.draft.say("fallback", "", self.prepared.fallback, {}, attributes)
        return turn

    async def call(
        self,
        service: str,
        request: dict[str, Any],
        *,
        timeout: float,
        key: str | None = None,
        formatted: bool = False,
    ) -> Any:
        """Ask one service under its guard, outside of any turn (`contracts/caller.py`)."""
        step = next((one for one in self.prepared.every() if one.name == service), None)
        if step is None:
            raise NotFound(f"no service is called '{service}'", field="service")
        loop = asyncio.get_running_loop()
        body = plain.check(
            _formatted(step, request) if formatted else request,
            max_bytes=plain.MAX_STATE_BYTES,
            max_depth=plain.MAX_STATE_DEPTH,
        ).encoded
        key = key or f"{new_id()}/{service}"
        asked = PayloadRequest(service, key.partition("/")[0], key, timeout, body)
        calls: RunningCalls[None] = RunningCalls(loop, self.prepared.strays)
        try:
            calls.start(step.guard.call(asked), None, timeout, monotonic())
            while not calls.settled:
                await calls.wait(monotonic() + timeout)
        finally:
            calls.close()
        ((_, outcome),) = calls.settled
        if formatted and step.format_reply is not None and isinstance(outcome, Plain):
            outcome = reshaped(step, outcome)
        error = outcome if isinstance(outcome, ServiceError) else None
        step.guard.note(error)
        if error is not None:
            raise error
        return outcome.value

    async def aclose(self) -> None:
        """Let go of every service."""
        for step in self.prepared.every():
            try:
                await step.guard.aclose()
            except Exception:
                log.exception("service %s could not be let go", step.name)


def _formatted(step: ServiceStep, state: dict[str, Any]) -> Any:
    """Cut a request out of an agent state; of several the first, which is the whole of it."""
    if step.format_request is None:
        return state
    try:
        request = step.format_request(state)
    except Exception as error:
        raise BadReply(f"its formatter raised {type(error).__name__}: {error}") from None
    if not step.fan_out:
        return request
    if not isinstance(request, list) or not request:
        raise BadReply("its formatter gave no requests")
    return request[0]
