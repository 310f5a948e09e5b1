"""One service asked by itself, as a turn would ask it; its breaker learns nothing of it."""

from __future__ import annotations

from time import monotonic
from typing import Any, Final

import msgspec

from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.plain import JsonObject, Plain
from prolocutor.errors import BadInput, ServiceError
from prolocutor.pipeline import replies
from prolocutor.pipeline.calling import CallGroup, answers_of
from prolocutor.pipeline.plan import Stage
from prolocutor.pipeline.prepared import PreparedPipeline, ServiceStep
from prolocutor.pipeline.requests import formatter_failure, requests_for
from prolocutor.pipeline.turn import Turn

STAGES: Final = (Stage.SKILL, Stage.LAST_CHANCE)
"""The stages whose services answer what a person says."""


class LoneAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one service answers by itself, after so many `seconds`.

    `faults` say what was wrong with hypotheses that are left out. `error`: the call failed.
    """

    hypotheses: list[JsonObject]
    seconds: float
    faults: list[str] = []
    error: ServiceError | None = None


async def ask_alone(
    prepared: PreparedPipeline, step: ServiceStep, opened: OpenedTurn, start: TurnStart
) -> LoneAnswer:
    """Ask a skill, or the last chance, what it would say in a turn that is not stored.

    It is asked also where its breaker is open or it is switched off. Raise `BadInput` for a service
    of another stage, which needs what others found first.
    """
    if step.stage not in STAGES:
        what = f"{step.name} answers no person: only skills can be talked to alone"
        raise BadInput(what, field="name")
    view = Turn(prepared, opened, start, 0.0).view
    faults: list[str] = []
    began = monotonic()
    try:
        snapshot = view.snapshot(step.window, step.only)
        asked = requests_for(step, snapshot, opened.opening.turn_id, step.timeout)
    except BaseException as error:
        return LoneAnswer(hypotheses=[], seconds=0.0, error=formatter_failure(error))
    strays = prepared.strays
    group = await answers_of(step, asked, step.timeout, strays, counted=False)
    seconds = monotonic() - began
    failures = group.failures()
    if failures and len(failures) == len(group.replies):
        return LoneAnswer(hypotheses=[], seconds=seconds, error=failures[0])
    faults += map(str, failures)
    try:
        found = _read(step, group, faults)
    except ServiceError as error:
        return LoneAnswer(hypotheses=[], seconds=seconds, faults=faults, error=error)
    return LoneAnswer(hypotheses=found, seconds=seconds, faults=faults)


def _read(step: ServiceStep, group: CallGroup, faults: list[str]) -> list[JsonObject]:
    if step.is_last_chance:
        text, annotations, confidence = replies.last_words(group.only().value)
        return [{"text": text, "confidence": confidence, "annotations": annotations}]
    found: list[dict[str, Any]] = []
    for reply in group.replies:
        if isinstance(reply, Plain):
            found += [one.value for one in replies.hypotheses(reply, faults.append)]
    return found
