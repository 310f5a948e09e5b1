"""The frozen record of a turn, made at its end if there are observers."""

from __future__ import annotations

from prolocutor.assistant.journal import traceparent_of
from prolocutor.contracts.observer import TurnRecord
from prolocutor.dialog.plain import JsonObject
from prolocutor.pipeline.turn import Turn


def record_of(turn: Turn, seconds: float) -> TurnRecord:
    """Make the record of a turn that took so many seconds in all."""
    draft = turn.draft
    opened, reply = draft.opened, draft.spoken()
    said = opened.opening
    hypotheses = draft.hypotheses()
    return TurnRecord(
        turn_id=said.turn_id,
        dialog_id=opened.dialog_id,
        user=said.user,
        channel=said.channel_type,
        started=said.started,
        seconds=seconds,
        attempt=opened.attempt,
        text=said.text,
        response=reply.text,
        active_skill=reply.active_skill,
        confidence=reply.confidence,
        by=reply.by,
        chosen=reply.chosen,
        asked=turn.asked_skills(),
        services=turn.records(),
        hypotheses=hypotheses,
        faults=turn.faults,
        utt_id=said.bot_utt_id,
        reasons=turn.reasons,
        remarks=turn.remarks,
        traceparent=traceparent_of(opened) if opened.attempt > 1 else None,
        cost=sum(map(_cost, hypotheses)),
    )


def _cost(hypothesis: JsonObject) -> float:
    """Return what a hypothesis says that it cost."""
    cost = hypothesis.get("cost", 0.0)
    return float(cost) if isinstance(cost, int | float) else 0.0
