"""Reads dates, absolute and relative, as days of the person's own calendar."""

from __future__ import annotations

from typing import Any, ClassVar

from prolocutor.asks.answers import (
    AnswerContext,
    AskOptions,
    NotUnderstood,
    Outcome,
    Understood,
    extra_hint,
)
from prolocutor.dialog.plain import JsonObject
from prolocutor.reading import dates
from prolocutor.reading.plain_text import bare


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a date: `YYYY-MM-DD`. Without a year or a month it is the next such day."""
    bare_text = bare(text)
    day = dates.read_day(bare_text, context)
    if day is not None:
        return Understood(day.isoformat())
    if dates.needs_library(bare_text, context):
        return NotUnderstood(f"{Date.hint} {extra_hint('Dates in words', '2026-12-31')}")
    return NotUnderstood(Date.hint)


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed date: ISO 8601, or `{year, month, day}`; missing parts (or -1) are today's."""
    day = dates.day_of_value(value, context.local_now()) if type_name == "date" else None
    return NotUnderstood(Date.hint) if day is None else Understood(day.isoformat())


class Date(AskOptions, frozen=True):
    """A day, as YYYY-MM-DD."""

    hint: ClassVar[str] = "I'm looking for a date."
    schema: ClassVar[JsonObject] = {"type": "string", "format": "date"}
    is_found_among: ClassVar[bool] = True
    is_telling: ClassVar[bool] = True
    read, take = staticmethod(read), staticmethod(take)
