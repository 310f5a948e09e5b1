"""The annotator `follow_up`: the whole question that the words of a turn mean.

It reads the words and the last turn alone, needs no model and takes well under a millisecond.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from prolocutor.services.follow_up.certainty import Found
from prolocutor.services.follow_up.last_turn import LastTurn, last_turn_of
from prolocutor.services.follow_up.remarks import remark_of
from prolocutor.services.follow_up.rules import RULES
from prolocutor.services.follow_up.worded import rules_in

MOST_WORDS: Final = 14
LONGEST_TEXT: Final = 160
LONGEST_QUESTION: Final = 400


def annotate(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return `{"text", "of", "confidence"}`, or `{}` where the words stand alone.

    `text` is the whole question that they mean, `of` the earlier question that it is made from,
    `confidence` how sure it is: from 0.75 on the words can mean nothing else, below they may as
    well stand alone. `state` is agent state JSON.
    """
    text = " ".join(str(state["human_utterances"][-1].get("text", "")).split())
    if not text or len(text) > LONGEST_TEXT or len(text.split()) > MOST_WORDS:
        return {}
    turn = last_turn_of(state)
    if turn is None:
        return {}
    found = question_of(text, turn)
    return {"text": found[0], "of": turn.question, "confidence": found[1]} if found else {}


def question_of(text: str, turn: LastTurn) -> tuple[str, float] | None:
    """Return the whole question that a text means after a turn, and how sure that is."""
    worded = rules_in(turn.language)
    found = worded.question_of(text, turn) if worded else _in_english(text, turn)
    if found is None:
        return None
    whole = " ".join(found[0].split())
    fits = whole and len(whole) <= LONGEST_QUESTION and whole.lower() != text.lower()
    return (whole, found[1]) if fits else None


def _in_english(text: str, turn: LastTurn) -> Found:
    remark = remark_of(text)
    if remark is None:
        return None
    return next((found for rule in RULES if (found := rule(remark, turn))), None)
