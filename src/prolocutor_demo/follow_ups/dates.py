"""The rule by which "tomorrow" or "6pm" takes the place of another date or hour."""

from __future__ import annotations

import re
from typing import Final

from prolocutor_demo.follow_ups import slots
from prolocutor_demo.follow_ups.certainty import GUESS, LIKELY, SURE, Found
from prolocutor_demo.follow_ups.last_turn import LastTurn
from prolocutor_demo.follow_ups.remarks import Remark

_DAY_AND_MONTH: Final = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)? [a-z]+|[a-z]+ \d{1,2}(?:st|nd|rd|th)?", re.IGNORECASE
)
_DAY_AFTER: Final = re.compile(r"the (?:day after|(?:next|following) day)", re.IGNORECASE)
_YEAR_AFTER: Final = re.compile(
    r"(?:in )?the (?:year after|(?:following|next) year)", re.IGNORECASE
)
_RELATIVE_YEAR: Final = re.compile(r"\b(?:in )?(?:this|next) year\b", re.IGNORECASE)


def dated(remark: Remark, turn: LastTurn) -> Found:
    """ "Tomorrow", "next Friday", "6pm": a date or hour in place of the other, or at the end."""
    question = turn.question
    if _DAY_AFTER.fullmatch(remark.rest):
        later = re.search(r"\b(?:today|tomorrow)\b", question, re.IGNORECASE)
        if later and later[0].lower() == "tomorrow":
            return slots.put(question, later.span(), "the day after tomorrow"), SURE
        whole = slots.put(question, later.span(), "tomorrow") if later else ""
        return whole or slots.attach(question, "tomorrow"), LIKELY
    if _YEAR_AFTER.fullmatch(remark.rest):
        return _year_after(turn), SURE
    for kind in (slots.DATE, slots.HOUR):
        if not kind.fullmatch(remark.rest):
            continue
        sure = SURE if remark.goes_on or remark.asks else GUESS
        if old := slots.last(kind, question):
            before = re.search(r"\bon\s+$", question[: old[0]], re.IGNORECASE)
            new = (
                f"on {remark.rest}"
                if before
                and not re.match(
                    r"(?:today|tom|tonight|yes|next|last|this|the day)", remark.rest, re.IGNORECASE
                )
                else remark.rest
            )
            said = slots.YEAR.search(question[slice(*old)])
            if said and _DAY_AND_MONTH.fullmatch(remark.rest):
                new = f"{new} {said[0]}"
            return slots.put(question, (before.start() if before else old[0], old[1]), new), sure
        if remark.goes_on or remark.asks:
            bare = re.sub(r"\b(?:right )?now\b", "", question)
            bare = re.sub(r"\bin \d+ (?:days?|weeks?)\b", "", bare)
            return slots.attach(bare, remark.rest), LIKELY
    return None


def _year_after(turn: LastTurn) -> str:
    """Return the question with the year after that of the question, else of the reply."""
    question = turn.question
    if year := slots.last(slots.YEAR, question):
        return slots.put(question, year, str(int(question[slice(*year)]) + 1))
    said = _RELATIVE_YEAR.search(question)
    told = slots.last(slots.YEAR, turn.reply)
    if told is None:
        return question if said else slots.attach(question, "next year")
    later = str(int(turn.reply[slice(*told)]) + 1)
    return slots.put(question, said.span(), f"in {later}") if said else f"{question} in {later}"
