"""Patterns that take no notice of capitals."""

from types import SimpleNamespace

import pytest

from prolocutor.reading.plain_text import FoldedPattern, compile_patterns


@pytest.mark.parametrize("source", [r"(?P<word>\bHi)\W", r"(?:HI|hello)(?!\w)", r"[A-Z]{2}(?=\s)"])
def test_a_pattern_is_found_whatever_the_capitals(source: str) -> None:
    assert FoldedPattern(source).search("oh hI you")


def test_a_match_has_the_places_of_the_text() -> None:
    found = FoldedPattern("Ort").search("İn İzmir, ORT")
    assert found is not None
    assert found.span() == (10, 13)


def test_other_words_are_put_in_place_of_a_match() -> None:
    assert FoldedPattern("a+").sub(lambda found: f"<{found[0]}>", "Aa B a") == "<aa> B <a>"


def test_the_patterns_of_an_object_are_compiled_wherever_it_holds_them() -> None:
    one, listed, paired = FoldedPattern("a"), FoldedPattern("b"), FoldedPattern("c")
    compile_patterns(SimpleNamespace(one=one, some=[listed], pairs=[(paired, "c")], code="en"))
    assert all("lower" in vars(pattern) for pattern in (one, listed, paired))
