"""Normal text: cases by hand, and the definition by regular expressions beside the quick way."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.evaluation.parlai.metrics.text_scores import (
    normal_candidate,
    normal_words,
    normalize_answer,
)

TEXTS = st.text() | st.text(alphabet=st.sampled_from("aAthen \t\n._-'\x00\x1c\x7f“”éİß")) | st.text(
    alphabet=st.characters(max_codepoint=127), max_size=400
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("", ""),
        ("The", ""),
        ("  Yes!  ", "yes"),
        ("U.S.A.", "u s"),
        ("A.B!c", "b c"),
        ("it's", "it s"),
        ("it’s", "it’s"),
        ("“the” cat", "“ ” cat"),
        ("theatre an-other a", "theatre other"),
        ("snake_case", "snake case"),
        ("the\x00a", "\x00"),
        ("STRASSE Straße", "strasse straße"),
        ("tab\tand\u2003wide\x1cspace", "tab and wide space"),
        ("\ud800 a", "\ud800"),
        ("e\u0301a the", "e\u0301"),
        ("\u0301a", "\u0301"),
    ],
)
def test_normal_text_has_no_case_marks_articles_or_wide_space(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal
    assert normal_candidate(text) == normal
    assert normal_words(text) == normal.split()


@given(text=TEXTS)
def test_the_quick_way_is_the_definition(text: str) -> None:
    assert normalize_answer(text) == by_definition(text)


def test_more_texts_than_are_remembered_stay_right() -> None:
    texts = [f"The number {number}." for number in range(9000)]

    assert [normal_candidate(text) for text in texts * 2] == [
        f"number {number}" for number in range(9000)
    ] * 2


def by_definition(text: str) -> str:
    spaced = re.sub(r"""[!"#$%&()*+,\-./:;<=>?@\[\]\\^`{|}~_']""", " ", text.lower())
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", spaced).split())
