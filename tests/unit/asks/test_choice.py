"""Which of the offered choices is meant."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.asks.answers import AnswerContext, NotUnderstood, Understood
from prolocutor.asks.kinds import read, take_value
from prolocutor.dialog.rounds import OfferedChoice
from tests.unit.asks.contexts import BERLIN, value


def offering(*titles: str) -> AnswerContext:
    return msgspec.structs.replace(BERLIN, choices=[OfferedChoice(title) for title in titles])


WINES = offering("Red wine", "White wine", "Beer")


@pytest.mark.parametrize(
    ("text", "titles", "idx"),
    [
        ("the green one please", "Red|Green", 1),
        ("I'll have the green, thanks", "Red|Green", 1),
        ("la verte s'il te plaît", "rouge|vert", 1),
        ("je prends la verte", "la rouge|la verte", 1),
        ("ich nehme die grüne", "Rot|Grün", 1),
        ("die zweite bitte", "Rot|Grün", 1),
        ("quiero la roja", "Rojo|Verde", 0),
        ("el segundo, por favor", "Vino|Cerveza", 1),
        ("the one with pear", "Cherry|Apple|Pear", 2),
        ("one with apple please", "Cherry|Apple|Pear", 1),
        ("celle avec la poire", "Cerise|Pomme|Poire", 2),
    ],
)
def test_a_small_phrase_around_a_title_chooses_it(text: str, titles: str, idx: int) -> None:
    assert value("choice", text, offering(*titles.split("|")))["idx"] == idx


@pytest.mark.parametrize("text", ["nicht die grüne", "pas la verte", "green is too dear"])
def test_a_title_that_is_declined_or_talked_about_is_not_chosen(text: str) -> None:
    assert value("choice", text, offering("Green", "Grün", "Vert")) is None


@pytest.mark.parametrize(
    ("text", "idx"),
    [
        ("1", 0),
        ("3.", 2),
        ("#2", 1),
        ("two", 1),
        ("number 3", 2),
        ("option one", 0),
        ("first", 0),
        ("the second one", 1),
        ("the 3rd", 2),
        ("last", 2),
        ("the last one, please", 2),
        ("RED WINE", 0),
        ("white wine!", 1),
        ("red", 0),
        ("b", 2),
        ("the white one", 1),
        ("I'll take the beer", 2),
        ("well, beer please", 2),
    ],
)
def test_a_choice_is_meant_by_number_title_or_place(text: str, idx: int) -> None:
    assert value("choice", text, WINES) == {"idx": idx, "title": WINES.choices[idx].title}


@pytest.mark.parametrize(
    ("text", "idx"),
    [("yes", 0), ("go ahead", 0), ("ja, bitte", 0), ("no", 2), ("lieber nicht", 2), ("edit", 1)],
)
def test_yes_and_no_mean_the_choice_that_says_so(text: str, idx: int) -> None:
    titles = ["Approve (yes)", "Edit", "Refuse (no)"]
    assert value("choice", text, offering(*titles)) == {"idx": idx, "title": titles[idx]}


def test_yes_is_no_choice_where_none_says_so_or_several_do() -> None:
    assert value("choice", "yes", WINES) is None
    assert value("choice", "sure", offering("Yes, now", "Later (yes)", "Yes")) is None


@pytest.mark.parametrize(
    "text",
    "0|4|-1|the fourth|wine|red white|any|one of them|what?|beer garden nearby|water|".split("|"),
)
def test_a_text_for_none_or_several_is_no_choice(text: str) -> None:
    assert value("choice", text, WINES) is None


def test_a_title_that_is_a_number_goes_before_the_place() -> None:
    assert value("choice", "2", offering("4", "3", "2")) == {"idx": 2, "title": "2"}


def test_a_number_that_means_a_place_and_begins_another_title_is_asked_again() -> None:
    assert value("choice", "1", offering("2 stars", "1 star")) is None


def test_titles_that_are_equal_are_told_apart_by_place() -> None:
    same = offering("Ann", "Ann")
    assert value("choice", "ann", same) is None
    assert value("choice", "second", same) == {"idx": 1, "title": "Ann"}


def test_without_choices_nothing_is_chosen() -> None:
    assert value("choice", "last", BERLIN) is None


@given(st.lists(st.text(max_size=9), max_size=6), st.data())
def test_every_choice_is_found_by_its_place(titles: list[str], data: st.DataObject) -> None:
    asked = offering(*titles)
    if titles:
        idx = data.draw(st.integers(0, len(titles) - 1))
        expected = {"idx": idx, "title": titles[idx]}
        assert take_value("choice", "choice", idx, asked) == Understood(expected)
    outcome = read("choice", data.draw(st.text(max_size=9)), asked)
    assert (
        isinstance(outcome, NotUnderstood) or titles[outcome.value["idx"]] == outcome.value["title"]
    )


@pytest.mark.parametrize("given_value", [3, -1, True, "1", None, 1.5])
def test_a_parsed_place_that_is_none_is_not_taken(given_value: object) -> None:
    assert isinstance(take_value("choice", "choice", given_value, WINES), NotUnderstood)


def test_a_parsed_title_is_taken() -> None:
    assert take_value("choice", "raw_string", "beer", WINES) == Understood(
        {"idx": 2, "title": "Beer"}
    )
