"""A turn as plain data: what `ask --json` writes, `/who` reads and the owner's door sends."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.assistant.turn_result import TurnResult
from prolocutor.dialog.rendering import said_as_text

TurnData = dict[str, Any]
"""`turn_id, dialog_id, human_utt_id, user, text, reply` (the bot utterance as agent state),
`hypotheses, annotations`, and `record`: who was asked, when, and what failed (null for a reply that
was given before)."""


def turn_data(text: str, result: TurnResult) -> TurnData:
    """Return a turn as plain data."""
    record = msgspec.to_builtins(result.record) if result.record else None
    if record:
        del record["hypotheses"]
    return {
        "turn_id": result.turn_id,
        "dialog_id": result.dialog_id,
        "human_utt_id": result.human_utt_id,
        "user": result.user,
        "text": text,
        "reply": result.state,
        "hypotheses": result.hypotheses,
        "annotations": result.annotations,
        "record": record,
    }


def spoken(turn: TurnData) -> str:
    """Return what is said in a turn, as text: the messages of the reply, or its text."""
    return said_as_text(turn["reply"])
