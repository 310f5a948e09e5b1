"""Patterns for texts in lower case without accents."""

from types import SimpleNamespace

import pytest

from prolocutor.reading.plain_text import FoldedPattern, compile_patterns, fold_text


@pytest.mark.parametrize("source", [r"(?P<word>\bHi)\W", r"(?:HI|hello)(?!\w)", r"[A-Z]{2}(?=\s)"])
def test_a_pattern_with_capitals_is_found_in_a_folded_text(source: str) -> None:
    assert FoldedPattern(source).search(fold_text("oh hI yóu"))


def test_a_match_in_a_folded_text_has_the_places_of_the_text() -> None:
    found = FoldedPattern("Ort").search(fold_text("İn İzmir, ORT"))
    assert found is not None
    assert found.span() == (10, 13)


def test_other_words_are_put_in_place_of_a_match() -> None:
    assert FoldedPattern("a+").sub(lambda found: f"<{found[0]}>", "Aa B a") == "<aa> B <a>"


def test_the_patterns_of_an_object_are_compiled_wherever_it_holds_them() -> None:
    one, listed, paired = FoldedPattern("a"), FoldedPattern("b"), FoldedPattern("c")
    compile_patterns(SimpleNamespace(one=one, some=[listed], pairs=[(paired, "c")], code="en"))
    assert all("lower" in vars(pattern) for pattern in (one, listed, paired))
