"""Reads any typed value: a measure, number, date, time, coordinates, address, yes or no."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from prolocutor.asks import yesno
from prolocutor.asks.answers import AnswerContext, AskOptions, NotUnderstood, Outcome, Understood
from prolocutor.asks.location import coordinates
from prolocutor.plugins.further_asks import times
from prolocutor.plugins.further_asks.email_address import find_email_address
from prolocutor.plugins.further_asks.phone_number import e164
from prolocutor.plugins.further_asks.picture import find_picture_address as picture_of
from prolocutor.reading import dates, numbers
from prolocutor.reading.numbers import read_measure
from prolocutor.reading.plain_text import bare

_QUOTED: Final = re.compile(r"\"([^\"]+)\"|“([^”]+)”")


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a value, whose form shows its type; a measure is `{value, unit}`."""
    if quoted := _QUOTED.fullmatch(text.strip()):
        return Understood(quoted[1] or quoted[2])
    value = _value(text, bare(text), context)
    return NotUnderstood(AnyValue.hint) if value is None else Understood(value)


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take any parsed value."""
    return NotUnderstood(AnyValue.hint) if value is None else Understood(value)


def _value(text: str, said: str, context: AnswerContext) -> Any:
    answer = yesno.read_yes_no(text)
    if answer is not None:
        return answer
    amount = numbers.read_value(said)
    if amount is not None:
        return amount
    for value in (
        read_measure(said),
        _on_the_map(said),
        find_email_address(text),
        picture_of(text),
    ):
        if value is not None:
            return value
    day = dates.read_day(said, context)
    if day is not None:
        return day.isoformat()
    hour = times.read_time(said, context)
    if hour is not None:
        return hour.isoformat()
    return e164(said, context.region) if said.startswith(("+", "00", "plus ")) else None


def _on_the_map(said: str) -> dict[str, Any] | None:
    """Read coordinates with a comma or a hemisphere."""
    return coordinates(said) if re.search(r"[,;ns]", said) else None


class AnyValue(AskOptions, frozen=True):
    """Any typed value; a measure is {value, unit}."""

    hint: ClassVar[str] = "I'm looking for a value, such as 5 km, 30 minutes, a date or a number."
    read, take = staticmethod(read), staticmethod(take)
