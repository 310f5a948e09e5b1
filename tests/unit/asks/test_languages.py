"""Asks answered in German, French and Spanish."""

import datetime as dt
from typing import Any

import pytest

from prolocutor.asks import kinds
from prolocutor.asks.answers import AnswerContext, NotUnderstood, Understood
from prolocutor.asks.controls import find_control
from prolocutor.dialog.rounds import Ask
from prolocutor.reading.languages import language_of

NOW = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)  # a Friday


def read(kind: Ask, text: str, language: str | None = None) -> Any:
    found = language_of(text)
    language = language or (found.code if found else None)
    outcome = kinds.read(kind, text, AnswerContext(now=NOW, language=language))
    return outcome.value if isinstance(outcome, Understood) else None


@pytest.mark.parametrize(
    ("kind", "texts", "value"),
    [
        ("yesno", "ja|Ja, bitte|na klar|oui|bien sûr|d'accord|sí|claro que sí|vale", True),
        ("yesno", "nein|Nein danke|auf keinen Fall|non|non merci|no, gracias|nunca", False),
        ("number", "fünfundzwanzig|vingt-cinq|veinticinco|25|twenty five", 25),
        ("number", "minus zehn|moins dix|menos diez", -10),
        ("number", "3,5", 3.5),
        ("date", "24. Dezember|le 24 décembre|24 de diciembre|december 24", "2026-12-24"),
        ("date", "morgen|demain|mañana|tomorrow", "2026-11-21"),
        ("date", "am Montag|lundi|el lunes|monday", "2026-11-23"),
    ],
)
def test_an_answer_is_read_in_the_language_in_which_it_is_given(
    kind: Ask, texts: str, value: object
) -> None:
    assert {text: read(kind, text) for text in texts.split("|")} == dict.fromkeys(
        texts.split("|"), value
    )


def test_thousands_are_read_as_the_language_of_the_person_writes_them() -> None:
    assert read("number", "1.500", "de") == 1500
    assert read("number", "1.500", "en") == 1.5


@pytest.mark.parametrize("text", "abbrechen|Vergiss es|annuler|laisse tomber|déjalo".split("|"))
def test_a_round_is_cancelled_in_each_language(text: str) -> None:
    assert find_control(text) == "nevermind"


def test_words_of_no_language_are_no_answer() -> None:
    outcome = kinds.read("number", "quux", AnswerContext(now=NOW))
    assert isinstance(outcome, NotUnderstood)
