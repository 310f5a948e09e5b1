"""Explanations of replies: the record of a turn, or its stored utterances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from prolocutor.contracts.observer import Reason, ServiceRecord, TurnRecord
from prolocutor.contracts.selection import cut_quotes
from prolocutor.contracts.store import ArchiveStore
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance
from prolocutor.observe.recent_turns import RecentTurns


class HypothesisView(msgspec.Struct, frozen=True):
    """A hypothesis in the form that the panel draws."""

    hypothesis_id: str | None
    skill_name: str
    text: str
    confidence: float


class TurnExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """The explanation of a reply; null stands for values no longer known."""

    turn_id: str | None = None
    utt_id: str
    text: Annotated[str, Meta(description="The input that was answered.")]
    response: str
    active_skill: str
    confidence: float | None
    by: str | None = None
    started: float | None = None
    seconds: float | None = None
    attempt: int | None = None
    asked: list[str]
    chosen: Annotated[
        list[str], Meta(description="The `hypothesis_id` of each hypothesis in the reply.")
    ]
    services: list[ServiceRecord] | None = None
    hypotheses: list[HypothesisView]
    faults: list[dict[str, str]] | None = None
    remarks: list[dict[str, str]] | None = None
    reasons: list[Reason] | None = None


class TurnExplanations:
    """Explains replies, by the latest records of turns or by stored utterances."""

    def __init__(self, archive: ArchiveStore, recent: RecentTurns | None) -> None:
        self._archive = archive
        self._recent = recent

    async def find(self, utt_id: str) -> TurnExplanation | None:
        """Return the explanation of the reply with this id; for an old reply it has no services."""
        record = self._recent.find_record(utt_id.lower()) if self._recent is not None else None
        if record is not None:
            return explain_record(record)
        return explain_stored(await self._archive.turn(utt_id.lower()))


def drop_internals(turn: TurnExplanation) -> TurnExplanation:
    """Leave out the parts for operators.

    These are error texts, which may name addresses and code, and bracketed parts of reasons, which
    may quote other users.
    """
    return msgspec.structs.replace(
        turn,
        services=turn.services
        and [msgspec.structs.replace(one, error=one.code) for one in turn.services],
        faults=turn.faults
        and [{**one, "what": "something was wrong with its reply"} for one in turn.faults],
        reasons=turn.reasons and [cut_quotes(one) for one in turn.reasons],
    )


def explain_record(record: TurnRecord) -> TurnExplanation:
    """Return the parts of a record that the panel draws, and nothing of other turns."""
    return TurnExplanation(
        turn_id=record.turn_id,
        utt_id=record.utt_id,
        text=record.text,
        response=record.response,
        active_skill=record.active_skill,
        confidence=record.confidence,
        by=record.by,
        started=record.started,
        seconds=record.seconds,
        attempt=record.attempt,
        asked=record.asked,
        chosen=record.chosen,
        services=record.services,
        hypotheses=[_hypothesis_view(one) for one in record.hypotheses],
        faults=record.faults,
        remarks=record.remarks,
        reasons=record.reasons,
    )


def explain_stored(
    utterances: Sequence[HumanUtterance | BotUtterance],
) -> TurnExplanation | None:
    """Return the stored parts of a turn, without the times and faults of services."""
    said = utterances[-1] if utterances else None
    if not isinstance(said, BotUtterance):
        return None
    asked = utterances[0] if isinstance(utterances[0], HumanUtterance) else None
    hypotheses = asked.hypotheses if asked is not None else []
    told = said.attributes.get("skills")
    speakers = told if isinstance(told, list) else [said.active_skill]
    whole = said.orig_text or said.text
    made_of = {
        one.skill_name: one.hypothesis_id
        for one in reversed(hypotheses)
        if one.skill_name in speakers and (one.text == whole or (told and one.text in whole))
    }
    return TurnExplanation(
        utt_id=said.utt_id,
        text=asked.text if asked is not None else "",
        response=said.text,
        active_skill=said.active_skill,
        confidence=said.confidence,
        asked=sorted({one.skill_name for one in hypotheses}),
        chosen=[one for one in made_of.values() if one],
        hypotheses=[
            HypothesisView(one.hypothesis_id or None, one.skill_name, one.text, one.confidence)
            for one in hypotheses
        ],
    )


def _hypothesis_view(state: dict[str, Any]) -> HypothesisView:
    return HypothesisView(
        state.get("hypothesis_id") or None, state["skill_name"], state["text"], state["confidence"]
    )
