"""Reads times of day: clocks, words ("half past seven"), and "in twenty minutes"."""

from __future__ import annotations

from typing import Any

from prolocutor.asks.answers import AnswerContext, NotUnderstood, Outcome, Understood
from prolocutor.asks.hints import hint_for
from prolocutor.reading import times
from prolocutor.reading.plain_text import bare


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a time of day: `HH:MM:SS`, "seven" is in the morning unless the text says otherwise."""
    found = times.time_of(bare(text), context)
    return NotUnderstood(hint_for("time")) if found is None else Understood(found.isoformat())


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed time: ISO 8601, or `{hour, minute, second}`."""
    found = times.time_of_value(value) if type_name == "time" else None
    return NotUnderstood(hint_for("time")) if found is None else Understood(found.isoformat())
