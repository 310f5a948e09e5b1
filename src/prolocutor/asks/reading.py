"""Reads answers: one place that knows the file of each kind of ask."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

from prolocutor.asks import (
    choice,
    command,
    contact,
    date,
    email_address,
    generic,
    location,
    number,
    password,
    phone_number,
    picture,
    raw_string,
    time,
    yesno,
)
from prolocutor.asks.asked import Asked, Outcome
from prolocutor.dialog.rounds import Ask

_KINDS: Final[dict[Ask, ModuleType]] = {
    "yesno": yesno,
    "number": number,
    "date": date,
    "time": time,
    "location": location,
    "phone_number": phone_number,
    "email_address": email_address,
    "contact": contact,
    "picture": picture,
    "password": password,
    "raw_string": raw_string,
    "choice": choice,
    "command": command,
    "generic": generic,
}


def read(kind: Ask, text: str, asked: Asked) -> Outcome:
    """Read a text as an answer to an ask of this kind. It never raises."""
    outcome: Outcome = _KINDS[kind].read(text, asked)
    return outcome


def from_value(kind: Ask, type_name: str | None, value: Any, asked: Asked) -> Outcome:
    """Take a value that came parsed as an answer to an ask of this kind.

    `type_name` is the ask that such a value answers (`Intent.kind`): "number" for a number. Texts
    (`raw_string`) are read where the ask is for something that is written as text.
    """
    outcome: Outcome = _KINDS[kind].take(type_name or "", value, asked)
    return outcome
