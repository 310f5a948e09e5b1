"""The annotator `follow_up`: the whole question that the words of a turn mean.

It reads the words and the last turn alone, needs no model and takes well under a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from prolocutor.plugins.language.follow_up.certainty import SURE, Found
from prolocutor.plugins.language.follow_up.last_turn import LastTurn, last_turn_of
from prolocutor.plugins.language.follow_up.remarks import remark_of
from prolocutor.plugins.language.follow_up.returning import compared, returned
from prolocutor.plugins.language.follow_up.rules import RULES, sums
from prolocutor.plugins.language.follow_up.worded import rules_in
from prolocutor.plugins.language.follow_up.wordings import ALL_WORDINGS, WORDINGS
from prolocutor.reading.language_wishes import wished_language
from prolocutor.reading.languages import language_of

MOST_WORDS: Final = 14
LONGEST_TEXT: Final = 160
LONGEST_QUESTION: Final = 400
ENGLISH: Final = "en"
_EXCLAIMED: Final = re.compile(
    r"(?>(?:really|oh|wow|cool|nice|great|interesting|thanks|thank you|lol|haha+|hm+|right|sure"
    r"|ok(?:ay)?)(?:[,.!?]+\s+|\s+(?=(?:ok(?:ay)?|cool|thanks|then)\b)))++(?=\S)",
    re.IGNORECASE,
)
_WHOLE: Final = re.compile(r"[=≈] ?-?\d+\W*$")


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
    found = _meant(text, turn)
    if found is None:
        return {}
    whole, sure, language = found
    told = language_of(text)
    spoken = wished_language(text) or (told.code if told else turn.spoken)
    annotation = {"text": whole, "of": turn.question, "confidence": sure}
    return annotation | ({"language": language} if language and language != spoken else {})


def question_of(text: str, turn: LastTurn) -> Found:
    """Return the whole question that a text means after a turn, and how sure that is."""
    found = _meant(text, turn)
    return found[:2] if found else None


def _meant(text: str, turn: LastTurn) -> tuple[str, float, str] | None:
    """Return the whole question, how sure that is, and the language of the question."""
    found = _found(text, turn)
    if found is None:
        return None
    whole = " ".join(found[0].split())
    fits = whole and len(whole) <= LONGEST_QUESTION and whole.lower() != text.lower()
    return (whole, *found[1:]) if fits else None


def _found(text: str, turn: LastTurn) -> tuple[str, float, str] | None:
    if wished_language(text):
        return turn.question, SURE, turn.language
    told = language_of(text)
    spoken = told.code if told else ""
    asked = turn.language or spoken
    if spoken != asked and (rules := rules_in(spoken)):
        sum_ = _english_sum(text, turn) if spoken == ENGLISH else None
        if across := sum_ or rules.question_of(text, turn, rules_in(asked)):
            return across
    found: Found
    if asked in WORDINGS and (rules := rules_in(asked)):
        if whole := rules.question_of(text, turn):
            return whole
        found = None
    else:
        found = _in_english(text, turn)
    found = found or (None if spoken else _phrase_of_another(text, turn, asked))
    return (*found, asked) if found else None


def _phrase_of_another(text: str, turn: LastTurn, language: str) -> Found:
    """ "En yens", after a question in English: words that tell no language by themselves."""
    asked = rules_in(language or ENGLISH)
    if asked is None or len(text.split(maxsplit=1)[0]) < 2:
        return None
    others = (rules for code in ALL_WORDINGS if (rules := rules_in(code)) and rules is not asked)
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
    if remark is None:
        return None
    rules = (returned, compared, *RULES)
    return next((found for rule in rules if (found := rule(remark, turn))), None)
