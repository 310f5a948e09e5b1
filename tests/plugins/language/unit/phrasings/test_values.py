"""Values of slots are found in the words of a text, with their kinds."""

import pytest

from prolocutor.plugins.language.follow_up.grammar import grammar_or_english
from prolocutor.plugins.language.follow_up.phrasings.phrasing import tokens_of
from prolocutor.plugins.language.follow_up.phrasings.values import spans_of

NAMES = {"oslo": {"place"}, "furlongs": {"unit"}, "stone": {"unit"}, "crowns": {"currency"}}
GERMAN = {"pfund": {"unit"}}


def found(text: str, code: str = "en") -> set[tuple[str, str]]:
    tokens = tokens_of(text)
    names = NAMES | GERMAN
    spans = spans_of(text, tokens, grammar_or_english(code), lambda words: names.get(words, set()))
    return {(text[tokens[a].start : tokens[b - 1].end], kind) for a, b, kind in spans}


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("ferries to Oslo on Monday", "Oslo", "place"),
        ("ferries to Oslo on Monday", "Monday", "date"),
        ("the 3rd of June at 4 pm", "the 3rd of June", "date"),
        ("the 3rd of June at 4 pm", "4 pm", "time"),
        ("the nineteenth of august", "nineteenth of august", "date"),
        ("two hundred and six tickets", "two hundred and six", "number"),
        ("stir for an hour and a half", "an hour and a half", "duration"),
        ("seven furlongs in yards", "seven furlongs", "amount"),
        ("nine stone two furlongs", "nine stone two furlongs", "amount"),
        ("12 per cent of 90", "12 per cent", "percent"),
        ("$40 for lunch", "$40", "money"),
        ("30 crowns for lunch", "30 crowns", "money"),
    ],
)
def test_a_value_is_found_with_its_kind(text: str, value: str, kind: str) -> None:
    assert (value, kind) in found(text)


@pytest.mark.parametrize(
    ("text", "code", "value", "kind"),
    [
        ("am 3. Juni", "de", "3. Juni", "date"),
        ("zwei Pfund Mehl", "de", "zwei Pfund", "amount"),
        ("le 3 juin", "fr", "le 3 juin", "date"),
        ("20 por ciento de 90", "es", "20 por ciento", "percent"),
    ],
)
def test_values_are_found_in_other_languages(text: str, code: str, value: str, kind: str) -> None:
    assert (value, kind) in found(text, code)


def test_a_function_word_is_no_name() -> None:
    tokens = tokens_of("in the of")

    assert spans_of("in the of", tokens, grammar_or_english("en"), lambda _: {"place"}) == []
