"""Text for pairing: words, stems, shapes, n-grams and the index."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.pairing.text import Bm25, char_grams, content_stems, stem, stems
from prolocutor.reading.words import jaccard, words


def test_words_are_lower_case_with_numbers_and_signs() -> None:
    assert words("What's 3.5% of $45 at 7:30?") == [
        "what's", "3.5", "%", "of", "$", "45", "at", "7:30",
    ]  # fmt: skip


def test_scripts_without_spaces_are_read_sign_by_sign() -> None:
    assert words("東京 weather") == ["東", "京", "weather"]


@pytest.mark.parametrize(
    "forms",
    [
        ("flight", "flights"),
        ("book", "booking", "booked", "books"),
        ("city", "cities"),
        ("movie", "movies"),
        ("stop", "stopped", "stopping"),
        ("make", "makes", "making"),
        ("include", "includes", "including"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_short_and_foreign_words_stay_as_they_are() -> None:
    assert [stem(word) for word in ("gas", "is", "straße", "bus", "news")][:4] == [
        "gas", "is", "straße", "bus",
    ]  # fmt: skip


def test_a_text_of_stop_words_alone_keeps_them() -> None:
    assert content_stems("what is it") == ["what", "is", "it"]
    assert content_stems("what is the weather") == ["weather"]


def test_character_grams_stay_within_words() -> None:
    assert list(char_grams("a cat", 3, 4)) == [" a ", " ca", "cat", "at ", " cat", "cat "]


def test_the_index_scores_as_bm25_does() -> None:
    index = Bm25([("a", ["sun", "rain"]), ("b", ["rain", "rain"])])

    found = dict(index.search(["rain"]))

    idf = log(1 + (2 - 2 + 0.5) / (2 + 0.5))
    assert found == {"a": pytest.approx(idf), "b": pytest.approx(idf * 2 * 2.2 / (2 + 1.2))}


def test_a_document_is_found_as_soon_as_it_is_added() -> None:
    index: Bm25[str] = Bm25()
    assert index.search(["sun"]) == []

    index.add("a", ["sun"])

    assert [key for key, _ in index.search(["sun", "moon"])] == ["a"]


def test_the_commonest_terms_are_left_out_beyond_the_bound() -> None:
    index = Bm25((number, ["the", f"word{number}"]) for number in range(1000))

    found = index.search(["the", "word7"], 100)

    assert [key for key, _ in found] == [7]
    assert len(index.search(["the"], 100)) == 100


def test_likeness_is_the_share_of_common_words() -> None:
    assert jaccard(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)
    assert jaccard(frozenset(), frozenset()) == 1


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert len(stems(text)) == len(words(text))
    assert all(gram for gram in char_grams(text, 2, 5))
