"""The view of a turn: its record, and its utterances in the dialog."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from prolocutor.contracts.observer import (
    ProfileChange,
    Reason,
    ServiceRecord,
    TurnRecord,
)
from prolocutor.contracts.turn_record_store import KeptTurn, TurnFlag
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance, Hypothesis
from prolocutor.dialog.plain import JsonObject
from prolocutor.plan.graph import Graph
from prolocutor.plugins.console.critical_path import critical_path, mark_critical
from prolocutor.plugins.console.turn_notes import GivenLabel, TurnNote

_SKILLS = "skills"


class ScoredHypothesis(msgspec.Struct, frozen=True, kw_only=True):
    """A hypothesis: its skill's confidence, and the ranker's probability if there is one."""

    hypothesis_id: str | None
    skill_name: str
    text: str
    confidence: float
    score: float | None
    chosen: bool
    cost: float | None
    annotations: JsonObject


class AskedWave(msgspec.Struct, frozen=True, kw_only=True):
    """Skills asked together, `at` seconds after the turn's start, with the reason."""

    at: float
    asked: list[str]
    reason: str | None
    service: str | None


class LostTime(msgspec.Struct, frozen=True):
    """The seconds of waiting for a failed service."""

    service: str
    seconds: float


class ServiceFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The error of a service."""

    service: str
    stage: str
    outcome: str
    code: str | None
    error: str | None


class ShownChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A changed value in a profile, left out if there was no value; `by` are its authors."""

    whose: str
    part: str
    key: str
    by: list[str]
    before: Any = msgspec.UNSET
    after: Any = msgspec.UNSET


class TurnView(msgspec.Struct, frozen=True, kw_only=True):
    """The turn of a reply; null stands for values no longer kept.

    Times of services and waves are seconds since the turn's start. `lost` are failures on which the
    turn waited, by the critical path. `again`: the turn can be run again.
    """

    utt_id: str
    dialog_id: str
    user: str | None = None
    channel: str | None = None
    turn_id: str | None = None
    text: str
    response: str
    active_skill: str
    confidence: float | None = None
    by: str | None = None
    started: float | None = None
    seconds: float | None = None
    attempt: int | None = None
    asked: list[str] | None = None
    chosen: list[str]
    services: list[ServiceRecord] | None = None
    hypotheses: list[ScoredHypothesis]
    faults: list[dict[str, str]] | None = None
    remarks: list[dict[str, str]] | None = None
    reasons: list[Reason] | None = None
    cost: float | None = None
    scores: dict[str, float] | None = None
    version: dict[str, str] | None = None
    waves: list[AskedWave] | None = None
    annotations: JsonObject
    reply_annotations: JsonObject
    attributes: JsonObject
    changes: list[ShownChange] | None = None
    lost: list[LostTime] | None = None
    errors: list[ServiceFailure] | None = None
    flags: list[TurnFlag] | None = None
    rating: Any = None
    note: TurnNote | None = None
    label: GivenLabel | None = None
    again: bool = False


def make_turn_view(
    kept: KeptTurn, utterances: Sequence[HumanUtterance | BotUtterance], plan: Graph
) -> TurnView:
    """Return the view of a turn from its utterances, the last of which is the reply."""
    reply = utterances[-1] if utterances else None
    first = utterances[0] if utterances else None
    asked = first if isinstance(first, HumanUtterance) else None
    hypotheses = [] if asked is None else asked.hypotheses
    record = kept.record
    scores = {} if record is None else record.scores
    chosen = _find_chosen(reply, hypotheses) if record is None else record.chosen
    view = TurnView(
        utt_id=kept.utt_id,
        dialog_id=kept.dialog_id,
        text="" if asked is None else asked.text,
        response="" if reply is None else reply.text,
        active_skill=reply.active_skill if isinstance(reply, BotUtterance) else "",
        confidence=reply.confidence if isinstance(reply, BotUtterance) else None,
        chosen=chosen,
        hypotheses=[_make_hypothesis(one, scores, chosen) for one in hypotheses],
        annotations={} if asked is None else asked.annotations,
        reply_annotations=reply.annotations if isinstance(reply, BotUtterance) else {},
        attributes={} if reply is None else reply.attributes,
        flags=kept.flags,
        rating=kept.rating,
        again=asked is not None,
    )
    return view if record is None else _complete_view(view, record, hypotheses, plan)


def _complete_view(
    view: TurnView, record: TurnRecord, hypotheses: Sequence[Hypothesis], plan: Graph
) -> TurnView:
    """Return the view, completed from the turn's record."""
    services = mark_critical(record.services, critical_path(record, plan))
    return msgspec.structs.replace(
        view,
        user=record.user,
        channel=record.channel,
        turn_id=record.turn_id,
        by=record.by,
        started=record.started,
        seconds=record.seconds,
        attempt=record.attempt,
        asked=record.asked,
        services=services,
        faults=record.faults,
        remarks=record.remarks,
        reasons=record.reasons,
        cost=record.cost,
        scores=record.scores,
        version=record.version,
        waves=make_waves(record),
        changes=[_make_change(one, hypotheses, record.chosen) for one in record.changes],
        lost=_find_lost_time(services),
        errors=list_failures(record),
    )


def make_waves(record: TurnRecord) -> list[AskedWave]:
    """Return the skills by time and reason of asking; skills without a reason are one wave."""
    skills = {one.name: one for one in record.services if one.stage == _SKILLS}
    started = {name: one.started for name, one in skills.items() if one.started is not None}
    waves: list[AskedWave] = []
    told: dict[str, None] = {}
    for reason in record.reasons:
        names = [name for name in reason["asked"] if name in started and name not in told]
        ended = [skills[name].ended or 0.0 for name in told]  # where nobody is asked any more
        told.update(dict.fromkeys(names))
        at = min((started[name] for name in names), default=max(ended, default=0.0))
        waves.append(
            AskedWave(at=at, asked=names, reason=reason["reason"], service=reason["service"])
        )
    rest = [name for name in started if name not in told]
    if rest:
        at = min(started[name] for name in rest)
        waves.append(AskedWave(at=at, asked=rest, reason=None, service=None))
        waves.sort(key=lambda wave: wave.at)
    return waves


def _find_chosen(reply: object, hypotheses: Sequence[Hypothesis]) -> list[str]:
    """Return the id of the hypothesis with the words of the reply."""
    if not isinstance(reply, BotUtterance):
        return []
    said = (reply.active_skill, reply.orig_text or reply.text)
    return [one.hypothesis_id for one in hypotheses if (one.skill_name, one.text) == said][:1]


def _make_hypothesis(
    one: Hypothesis, scores: dict[str, float], chosen: list[str]
) -> ScoredHypothesis:
    cost = one.extra.get("cost")
    return ScoredHypothesis(
        hypothesis_id=one.hypothesis_id or None,
        skill_name=one.skill_name,
        text=one.text,
        confidence=one.confidence,
        score=scores.get(one.hypothesis_id),
        chosen=one.hypothesis_id in chosen,
        cost=float(cost) if isinstance(cost, int | float) else None,
        annotations=one.annotations,
    )


def _make_change(
    change: ProfileChange, hypotheses: Sequence[Hypothesis], chosen: list[str]
) -> ShownChange:
    setters = []
    for one in hypotheses:
        if one.hypothesis_id in chosen:
            given = one.human_attributes if change.whose == "person" else one.bot_attributes
            if change.key in (given or {}):
                setters.append(one.skill_name)
    return ShownChange(
        whose=change.whose,
        part=change.part,
        key=change.key,
        by=setters,
        before=change.before,
        after=change.after,
    )


def _find_lost_time(services: Sequence[ServiceRecord]) -> list[LostTime]:
    return [
        LostTime(one.name, one.ended - one.started)
        for one in services
        if one.critical and one.failed and one.started is not None and one.ended is not None
    ]


def list_failures(record: TurnRecord) -> list[ServiceFailure]:
    """Return the errors of the services of a turn."""
    return [
        ServiceFailure(
            service=one.name,
            stage=one.stage,
            outcome=one.outcome,
            code=one.code,
            error=one.error,
        )
        for one in record.services
        if one.error is not None or one.failed
    ]
