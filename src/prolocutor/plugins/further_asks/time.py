"""Reads times of day: clocks, words ("half past seven"), and "in twenty minutes"."""

from __future__ import annotations

from typing import Any, ClassVar

from prolocutor.asks.answers import AnswerContext, AskOptions, NotUnderstood, Outcome, Understood
from prolocutor.asks.entity_values import time_of_value
from prolocutor.dialog.plain import JsonObject
from prolocutor.plugins.further_asks import times
from prolocutor.reading.plain_text import bare


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a time of day: `HH:MM:SS`, "seven" is in the morning unless the text says otherwise."""
    time = times.read_time(bare(text), context)
    return NotUnderstood(TimeOfDay.hint) if time is None else Understood(time.isoformat())


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed time: ISO 8601, or `{hour, minute, second}`."""
    time = time_of_value(value) if type_name == "time" else None
    return NotUnderstood(TimeOfDay.hint) if time is None else Understood(time.isoformat())


class TimeOfDay(AskOptions, frozen=True):
    """A time of day, as HH:MM:SS."""

    hint: ClassVar[str] = "I'm looking for a time of day."
    schema: ClassVar[JsonObject] = {"type": "string", "description": "A time of day, HH:MM."}
    is_found_among: ClassVar[bool] = True
    is_telling: ClassVar[bool] = True
    read, take = staticmethod(read), staticmethod(take)
