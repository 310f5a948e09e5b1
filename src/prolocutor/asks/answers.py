"""The context in which an answer is read, and the outcome: a value, a hint, or a question."""

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
    has it: `{latitude, longitude, display}`; `places` are the person's own by name ("home").
    """

    choices: list[OfferedChoice] = msgspec.field(default_factory=list)
    contacts: list[Contact] = msgspec.field(default_factory=list)
    here: dict[str, Any] | None = None
    places: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)


class Understood(msgspec.Struct, frozen=True):
    """The value of an answer, in the form that the skill gets."""

    value: Any


class NotUnderstood(msgspec.Struct, frozen=True):
    """The answer is none of the kind that was asked for; `hint` is a sentence to say."""

    hint: str


class Ambiguous(msgspec.Struct, frozen=True):
    """The answer may mean several values: what each is called, and the values."""

    question: str
    titles: list[str]
    values: list[Any]


class UnknownPlace(msgspec.Struct, frozen=True):
    """The answer names a place of the person, such as "home", that is not known yet."""

    name: str


Outcome: TypeAlias = Understood | NotUnderstood | Ambiguous | UnknownPlace
