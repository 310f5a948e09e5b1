"""Takes a password: any text, as it is."""

from __future__ import annotations

from typing import Any

from prolocutor.asks.asked import Asked, NotUnderstood, Outcome, Understood
from prolocutor.asks.wanted import wanted


def read(text: str, asked: Asked) -> Outcome:
    """Take the words as they are, blanks included; only nothing at all is no answer."""
    return Understood(text) if text.strip() else NotUnderstood(wanted("password"))


def take(type_name: str, value: Any, asked: Asked) -> Outcome:
    """Take a parsed password: a text."""
    if type_name in {"password", "raw_string"} and isinstance(value, str):
        return read(value, asked)
    return NotUnderstood(wanted("password"))
