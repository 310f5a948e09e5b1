"""A person in Berlin, on Friday the 20th of November 2026, half an hour before midnight."""

import datetime as dt
from typing import Any

import msgspec

from prolocutor.asks.answers import AnswerContext, Contact, NotUnderstood, Understood
from prolocutor.asks.kinds import read
from prolocutor.dialog.rounds import Ask

NOW = dt.datetime(2026, 11, 20, 22, 30, tzinfo=dt.UTC)
BERLIN = AnswerContext(now=NOW, timezone="Europe/Berlin", region="DE")
KNOWN = msgspec.structs.replace(
    BERLIN,
    contacts=[
        Contact("Ann Smith", "+4930123456"),
        Contact("Ann Jones", "ann@example.org"),
        Contact("Bob", "+4930999999"),
    ],
    here={"latitude": 52.5, "longitude": 13.4, "display": "Berlin"},
)
"""The same person with contacts, in Berlin."""


def value(kind: Ask, text: str, asked: AnswerContext = BERLIN) -> Any:
    """The value that is understood, None where none is."""
    outcome = read(kind, text, asked)
    if isinstance(outcome, Understood):
        return outcome.value
    assert outcome.hint.strip()
    return None


def hint(kind: Ask, text: str, asked: AnswerContext = BERLIN) -> str:
    outcome = read(kind, text, asked)
    assert isinstance(outcome, NotUnderstood)
    return outcome.hint
