"""The context in which an answer is read, and the outcome: a value, or a hint."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from prolocutor.dialog.rounds import OfferedChoice
from prolocutor.reading.context import ReadingContext


class Contact(msgspec.Struct, frozen=True):
    """A person whom the user knows: the name, and a phone number (E.164) or an e-mail address."""

    name: str
    value: str


class AnswerContext(ReadingContext, frozen=True, kw_only=True):
    """What is known of the person who answers, and when.

    `choices` are the offered ones, `contacts` the person's own. `here` is a location as an answer
    has it: `{latitude, longitude, display}`.
    """

    choices: list[OfferedChoice] = msgspec.field(default_factory=list)
    contacts: list[Contact] = msgspec.field(default_factory=list)
    here: dict[str, Any] | None = None


class Understood(msgspec.Struct, frozen=True):
    """The value of an answer, in the form that the skill gets."""

    value: Any


class NotUnderstood(msgspec.Struct, frozen=True):
    """The answer is none of the kind that was asked for; `hint` is a sentence to say."""

    hint: str


Outcome: TypeAlias = Understood | NotUnderstood
