"""Runs turns through a pipeline, many at once, and asks single services without a turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

import msgspec

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.connector import Connector
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import StopSignal, TurnStart
from prolocutor.dialog.plain import JsonObject, Plain
from prolocutor.dialog.turn_events import TurnListener
from prolocutor.errors import BadInput, BadReply, NotFound, ServiceError, SwitchedOff
from prolocutor.functions import text_and_place
from prolocutor.pipeline import replies
from prolocutor.pipeline.calling import CallGroup, ask_service
from prolocutor.pipeline.guard import BreakerState
from prolocutor.pipeline.ledger import LedgerWatch
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep, StageDeadlines
from prolocutor.pipeline.requests import (
    PayloadRequest,
    StateRequest,
    checked_payload,
    formatter_failure,
    make_requests,
)
from prolocutor.pipeline.turn import Turn
from prolocutor.plan.pipeline import Formatter, Pipeline, Stage, StageService

log = logging.getLogger(__name__)

TALKING: Final = (Stage.SKILL, Stage.LAST_CHANCE)
"""The stages whose services answer what a person says."""

CLOSE_SECONDS: Final = 10.0
"""Seconds that the connector of a service may take to close."""


class Engine:
    """Runs turns through one pipeline, many at once.

    `connect` makes the connector of a service, `resolve` returns the function with a dotted name.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        connect: Callable[[StageService], Connector],
        resolve: Callable[[str], Formatter],
        deadline: float,
        reserve: float | None,
        fallback: str,
        max_attributes: int,
        breaker_changed: Callable[[str, BreakerState], None] = lambda service, state: None,
    ) -> None:
        self.prepared = PreparedPipeline(
            pipeline,
            connect=connect,
            resolve=resolve,
            limits=StageDeadlines.divide_deadline(deadline, reserve),
            fallback=fallback,
            max_attributes=max_attributes,
            breaker_changed=breaker_changed,
        )

    async def run(
        self,
        opened: OpenedTurn,
        start: TurnStart,
        started: float,
        listener: TurnListener | None = None,
        watch: LedgerWatch | None = None,
        stop: StopSignal | None = None,
    ) -> Turn:
        """Run a turn from `started` (`time.monotonic`) on; its reply is in its draft.

        `watch` is told about asked and settled services. `stop` ends the turn at once: its reply is
        then the words already shown.
        """
        turn = Turn(self.prepared, opened, start, started, listener, watch, stop)
        if start.say is not None:
            turn.draft.say_own_words(start.say)
            return turn
        await turn.run()
        if turn.announcer is not None:
            turn.announcer.close()
        if start.otherwise is not None and not turn.draft.final_reply().says_something:
            turn.draft.say_own_words(start.otherwise)
        return turn

    async def tell(self, turn: Turn, skill: str, extra: dict[str, Any]) -> None:
        """Notify a skill after the reply, in the remaining time of the turn.

        The attributes of its most confident hypothesis count, but not its words; its errors are
        recorded as faults.
        """
        step = self.prepared.skill_steps.get(skill)
        if step is None or step.off is not None:
            return
        draft = turn.draft
        seconds = min(step.timeout, turn.seconds_left(Stage.POSTPROCESSOR))
        if seconds <= 0 or (not step.rerun and draft.opened.attempt > 1):
            turn.slots.fault(skill, "was not told that its ask is over: there was no time left")
            return
        snapshot, turn_id = turn.view.snapshot(step.window, step.only), draft.opened.opening.turn_id
        try:
            requests = make_requests(step, snapshot, turn_id, seconds, extra)
        except BaseException as error:
            turn.slots.fault(skill, f"its formatter raised {text_and_place(error)}")
            return
        state = StateRequest(step, turn_id, seconds, snapshot, extra)
        group = await ask_service(step, requests, seconds, self.prepared.strays, turn=lambda: state)
        for reply in group.replies:
            turn.slots.learn(step, reply)

    def make_unasked_turn(self, opened: OpenedTurn, start: TurnStart) -> Turn:
        """Return a turn in which no service is asked; the caller writes its draft."""
        return Turn(self.prepared, opened, start, 0.0)

    def make_fallback_turn(
        self, opened: OpenedTurn, start: TurnStart, attributes: dict[str, Any]
    ) -> Turn:
        """Return an ended turn with the fallback text, without asking a service."""
        turn = self.make_unasked_turn(opened, start)
        turn.draft.say("fallback", "", self.prepared.fallback, {}, attributes)
        return turn

    async def call(
        self,
        service: str,
        request: dict[str, Any],
        *,
        timeout: float,
        stage: str | None = None,
        key: str | None = None,
        formatted: bool = False,
    ) -> Any:
        """Ask a service under its guard, outside of any turn (`contracts/connector.py`)."""
        step = self.find_step(service, stage)
        if step.off is not None:
            raise SwitchedOff(step.off)
        checked = checked_payload(_format_request(step, request) if formatted else request)
        key = key or f"{new_id()}/{service}"
        payload = PayloadRequest(service, key.partition("/")[0], key, timeout, checked)
        strays = self.prepared.strays
        group = await ask_service(
            step, [payload], timeout, strays, turn=lambda: request, formatted=formatted
        )
        (reply,) = group.replies
        if isinstance(reply, ServiceError):
            raise reply
        step.guard.note(None)
        return reply.value

    async def aclose(self) -> None:
        """Close every service; stop waiting for a service after `CLOSE_SECONDS`."""
        for step in self.prepared.every():
            closing = BackgroundTasks(f"the end of {step.name}")
            closing.start(_let_go(step))
            if not await closing.wait_until_ended(CLOSE_SECONDS):
                closing.cancel()
                log.error(
                    "the connector of service %s did not close within %g s",
                    step.name,
                    CLOSE_SECONDS,
                )

    def find_step(self, service: str, stage: str | None = None) -> ServiceStep:
        """Return the service with a name: in the stage if given, else preferably the skill.

        Raise `NotFound` if it does not exist.
        """
        steps = [step for step in self.prepared.every() if step.name == service]
        if stage is not None:
            steps = [one for one in steps if one.stage == stage]
        if not steps:
            where = f" in {stage}" if stage else ""
            raise NotFound(f"no service is called '{service!s:.80}'{where}", field="service")
        return next((one for one in steps if one.stage is Stage.SKILL), steps[0])


async def _let_go(step: ServiceStep) -> None:
    """Close the connector of a service; log its errors."""
    try:
        await step.guard.aclose()
    except asyncio.CancelledError:
        raise
    except BaseException:
        log.exception("the connector of service %s could not be closed", step.name)


def _format_request(step: ServiceStep, state: dict[str, Any]) -> Any:
    """Return the formatter's request of an agent state, the first request of a fan-out."""
    if step.format_request is None:
        return state
    try:
        request = step.format_request(state)
    except BaseException as error:
        raise BadReply(f"its formatter raised {text_and_place(error)}") from None
    if not step.fan_out:
        return request
    if not isinstance(request, list) or not request:
        raise BadReply("its formatter gave no requests")
    return request[0]


class LoneAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a service by itself, after `seconds`.

    `faults` are the faults of unusable hypotheses and failed calls. `error`: the whole answer
    failed.
    """

    hypotheses: list[JsonObject]
    seconds: float
    faults: list[str] = []
    error: ServiceError | None = None


async def ask_alone(
    prepared: PreparedPipeline, step: ServiceStep, opened: OpenedTurn, start: TurnStart
) -> LoneAnswer:
    """Ask a skill, or the last chance, for its answer in an unstored turn.

    It is asked even if its breaker is open or it is switched off. Raise `BadInput` for a service of
    another stage, which needs the results of other services.
    """
    if step.stage not in TALKING:
        what = f"{step.name} answers no person: only skills can be talked to alone"
        raise BadInput(what, field="name")
    view = Turn(prepared, opened, start, 0.0).view
    faults: list[str] = []
    began = monotonic()
    try:
        snapshot = view.snapshot(step.window, step.only)
        requests = make_requests(step, snapshot, opened.opening.turn_id, step.timeout)
    except BaseException as error:
        return LoneAnswer(hypotheses=[], seconds=0.0, error=formatter_failure(error))
    strays = prepared.strays
    state = StateRequest(step, opened.opening.turn_id, step.timeout, snapshot)
    group = await ask_service(
        step, requests, step.timeout, strays, turn=lambda: state, counted=False
    )
    seconds = monotonic() - began
    failures = group.failures()
    if failures and len(failures) == len(group.replies):
        return LoneAnswer(hypotheses=[], seconds=seconds, error=failures[0])
    faults += map(str, failures)
    try:
        hypotheses = _alone_read(step, group, faults)
    except ServiceError as error:
        return LoneAnswer(hypotheses=[], seconds=seconds, faults=faults, error=error)
    return LoneAnswer(hypotheses=hypotheses, seconds=seconds, faults=faults)


def _alone_read(step: ServiceStep, group: CallGroup, faults: list[str]) -> list[JsonObject]:
    if step.is_last_chance:
        text, annotations, confidence = replies.last_words(group.only().value)
        return [{"text": text, "confidence": confidence, "annotations": annotations}]
    hypotheses: list[dict[str, Any]] = []
    for reply in group.replies:
        if isinstance(reply, Plain):
            hypotheses += [
                hypothesis.value for hypothesis in replies.hypotheses(reply, faults.append)
            ]
    return hypotheses
