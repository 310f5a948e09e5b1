"""Somebody in Berlin, on Friday the 20th of November 2026, half an hour before midnight."""

import datetime as dt
from typing import Any

from prolocutor.asks.asked import Asked, NotUnderstood, Understood
from prolocutor.asks.reading import read
from prolocutor.dialog.rounds import Ask

NOW = dt.datetime(2026, 11, 20, 22, 30, tzinfo=dt.UTC)
BERLIN = Asked(now=NOW, timezone="Europe/Berlin", region="DE")


def value(kind: Ask, text: str, asked: Asked = BERLIN) -> Any:
    """The value that is understood, None where none is."""
    outcome = read(kind, text, asked)
    if isinstance(outcome, Understood):
        return outcome.value
    assert outcome.hint.strip()
    return None


def hint(kind: Ask, text: str, asked: Asked = BERLIN) -> str:
    outcome = read(kind, text, asked)
    assert isinstance(outcome, NotUnderstood)
    return outcome.hint
