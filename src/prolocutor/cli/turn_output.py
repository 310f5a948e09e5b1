"""The output of a turn, for `ask --json` and the owner's door."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.observer import Reason, ServiceRecord
from prolocutor.dialog.rendering import said_as_text


class RecordOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A turn's record without its hypotheses, which `TurnOutput` has as the agent state does."""

    turn_id: str
    dialog_id: str
    user: str
    channel: str
    started: float
    seconds: float
    attempt: int
    text: str
    response: str
    active_skill: str
    confidence: float
    by: str
    chosen: list[str]
    asked: list[str]
    services: list[ServiceRecord]
    faults: list[dict[str, str]]
    utt_id: str = ""
    reasons: list[Reason] = []
    remarks: list[dict[str, str]] = []


class TurnOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A turn: `reply` is the bot utterance as agent state, `hypotheses` all candidates.

    `record` says who was asked, when, and what failed; None for a reply that was stored before.
    """

    turn_id: str
    dialog_id: str
    human_utt_id: str
    user: str
    text: str
    reply: dict[str, Any]
    hypotheses: list[dict[str, Any]]
    annotations: dict[str, Any]
    record: RecordOutput | None = None

    @property
    def spoken(self) -> str:
        """The messages of the reply as text, or its text."""
        return said_as_text(self.reply["text"], self.reply["attributes"])


def turn_output(text: str, result: TurnResult) -> TurnOutput:
    """Return a turn for output."""
    record = result.record
    return TurnOutput(
        turn_id=result.turn_id,
        dialog_id=result.dialog_id,
        human_utt_id=result.human_utt_id,
        user=result.user,
        text=text,
        reply=result.state,
        hypotheses=result.hypothesis_states,
        annotations=result.annotations,
        record=None
        if record is None
        else msgspec.convert(record, RecordOutput, from_attributes=True),
    )
