"""Follow-ups that only the demo's agents understand: sums that go on, conversions, lists, words.

`continues` is named under `continues:` of each agent. What holds for any agent the assistant knows
by itself.
"""

from __future__ import annotations

import re
from typing import Any, Final

from prolocutor_demo.follow_ups.certainty import Found
from prolocutor_demo.follow_ups.comparing import compared
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.remarks import remark_of
from prolocutor_demo.follow_ups.rules import RULES, sums
from prolocutor_demo.follow_ups.worded import rules_in
from prolocutor_demo.follow_ups.wordings import ALL_WORDINGS, WORDINGS
from prolocutor_demo.reading.languages.heard import english_of

ENGLISH: Final = "en"
_EXCLAIMED: Final = re.compile(
    r"(?>(?:really|oh|wow|cool|nice|great|interesting|thanks|thank you|lol|haha+|hm+|right|sure"
    r"|ok(?:ay)?)(?:[,.!?]+\s+|\s+(?=(?:ok(?:ay)?|cool|thanks|then)\b)))++(?=\S)",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(r"not\s", re.IGNORECASE)
"""What begins a contrast, "not Paris, Berlin", which the assistant reads by itself."""

_WHOLE: Final = re.compile(r"[=≈] ?-?\d+\W*$")


def continues(turn: Any) -> dict[str, Any] | None:
    """Return the question that the words of a turn mean, how sure that is, and its language."""
    before = LastTurn(turn.question, turn.reply, turn.entities)
    found = _found(turn.text, before, turn.language, turn)
    return (
        None if found is None else dict(zip(("text", "confidence", "language"), found, strict=True))
    )


def _found(text: str, turn: LastTurn, language: str, given: Any) -> tuple[str, float, str] | None:
    spoken, frequent = given.spoken, given.is_frequent
    asked = language or spoken
    heard = english_of(spoken or asked, text) if spoken != ENGLISH else None
    if heard and (whole := _english_sum(heard, turn)):
        return whole
    if spoken != asked and (rules := rules_in(spoken, frequent)):
        sum_ = _english_sum(text, turn) if spoken == ENGLISH else None
        if across := sum_ or rules.question_of(text, turn, rules_in(asked, frequent)):
            return across
    found: Found
    if asked in WORDINGS and (rules := rules_in(asked, frequent)):
        if whole := rules.question_of(text, turn):
            return whole
        found = None
    else:
        found = _in_english(text, turn)
    found = found or (None if spoken else _phrase_of_another(text, turn, asked, frequent))
    return (*found, asked) if found else None


def _phrase_of_another(text: str, turn: LastTurn, language: str, frequent: Any) -> Found:
    """ "En yens", after a question in English: words that tell no language by themselves."""
    asked = rules_in(language or ENGLISH, frequent)
    if asked is None or len(text.split(maxsplit=1)[0]) < 2:
        return None
    every = (rules_in(code, frequent) for code in ALL_WORDINGS)
    others = (one for one in every if one is not None and one is not asked)
    return next(
        (found for one in others if (found := one.phrase_put(text, turn, asked.reader))), None
    )


def _english_sum(text: str, turn: LastTurn) -> tuple[str, float, str] | None:
    """Return the sum that goes on from a whole number; languages write decimals differently."""
    remark = remark_of(text)
    if remark is None or not _WHOLE.search(turn.reply):
        return None
    found = sums(remark, turn)
    return (*found, ENGLISH) if found else None


def _in_english(text: str, turn: LastTurn) -> Found:
    exclaimed = _EXCLAIMED.match(text)
    remark = remark_of(text[exclaimed.end() :] if exclaimed else text)
    if remark is None or _NEGATED.match(remark.rest):
        return None
    rules = (compared, *RULES)
    return next((found for rule in rules if (found := rule(remark, turn))), None)
