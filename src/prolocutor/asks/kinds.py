"""Dispatches answers to the reader of their kind of ask."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Final, Protocol

from prolocutor.asks import (
    choice,
    contact,
    date,
    email_address,
    generic,
    location,
    number,
    phone_number,
    picture,
    time,
    yesno,
)
from prolocutor.asks.answers import AnswerContext, Outcome
from prolocutor.asks.verbatim import COMMAND, PASSWORD, RAW_STRING
from prolocutor.dialog.messages import ASK_KINDS
from prolocutor.dialog.rounds import Ask


class AnswerReader(Protocol):
    """Reads answers to one kind of ask: one of this package's modules, or an object."""

    def read(self, text: str, context: AnswerContext, /) -> Outcome:
        """Read a text."""

    def take(self, type_name: str, value: Any, context: AnswerContext, /) -> Outcome:
        """Take a parsed value."""


_READERS: Final[dict[Ask, AnswerReader]] = {
    "yesno": yesno,
    "number": number,
    "date": date,
    "time": time,
    "location": location,
    "phone_number": phone_number,
    "email_address": email_address,
    "contact": contact,
    "picture": picture,
    "password": PASSWORD,
    "raw_string": RAW_STRING,
    "choice": choice,
    "command": COMMAND,
    "generic": generic,
}


class AskKind(Protocol):
    """A kind of ask of a plug-in: what an entry point of the group `prolocutor.asks` names.

    It is a frozen `msgspec.Struct`; `hint` is the sentence that says what is expected.
    """

    hint: ClassVar[str]

    def build(self, context: None) -> AnswerReader:
        """Return what reads answers."""


@lru_cache(maxsize=64)
def _reader(kind: Ask) -> AnswerReader:
    if kind in _READERS:
        return _READERS[kind]
    made: AnswerReader = ASK_KINDS.load(kind)().build(None)
    return made


def read(kind: Ask, text: str, context: AnswerContext) -> Outcome:
    """Read a text as an answer to an ask of this kind. It never raises."""
    return _reader(kind).read(text, context)


def from_value(kind: Ask, type_name: str | None, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed value as an answer to an ask of this kind.

    `type_name` is the kind of ask that the value fits (`Intent.kind`): "number" for a number. Texts
    (`raw_string`) are read if the ask is for something that is written as text.
    """
    return _reader(kind).take(type_name or "", value, context)
