"""Takes any text, as it is."""

from __future__ import annotations

from typing import Any

from prolocutor.asks.asked import Asked, NotUnderstood, Outcome, Understood
from prolocutor.asks.wanted import wanted


def read(text: str, asked: Asked) -> Outcome:
    """Take the words as they are, also "cancel"; only nothing at all is no answer."""
    return Understood(text) if text.strip() else NotUnderstood(wanted("raw_string"))


def take(type_name: str, value: Any, asked: Asked) -> Outcome:
    """Take any parsed text."""
    return read(value, asked) if isinstance(value, str) else NotUnderstood(wanted("raw_string"))
