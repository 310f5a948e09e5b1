"""The router by cards: the best sentence, the broadest agent for what no card speaks of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.contracts.pairing import Card, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.question_agent.cards import (
    CardsRouter,
    breadth,
    name_stems,
    sentences,
)
from tests.plugins.pairing.unit.question_agent.made import CARDS

ROUTER = CardsRouter(CARDS)


def best(text: str) -> str:
    return ROUTER.route(UserQuestion(text=text))[0].agent


def test_the_nearest_card_is_chosen_and_quoted() -> None:
    found = ROUTER.route(UserQuestion(text="will it be raining in Oslo?"))

    assert found[0].agent == "weather"
    assert found[0].reason.startswith("its card: ")
    assert len(found) == 3


def test_an_agents_name_counts_as_its_words() -> None:
    router = CardsRouter([Card(name="hotel_booking"), Card(name="FlightSearch")])

    assert router.route(UserQuestion(text="book me a hotel"))[0].agent == "hotel_booking"
    assert router.route(UserQuestion(text="any flights to Rome"))[0].agent == "FlightSearch"


def test_what_no_card_speaks_of_goes_to_the_broadest() -> None:
    broad = Card(name="broad", description="Music, news, sports, recipes, jokes, alarms. And more.")
    found = CardsRouter([Card(name="narrow", description="Stocks."), broad]).route(
        UserQuestion(text="zzz")
    )

    assert found[0].agent == "broad"
    assert "claims the most" in found[0].reason


def test_saying_the_same_in_the_same_words_claims_little_more() -> None:
    once = Card(name="a", description="Allows to ask about stocks and prices.")
    often = Card(name="b", description="Allows to ask about stocks and prices. " * 10)

    assert breadth(often) < breadth(once)


def test_descriptions_are_cut_into_sentences() -> None:
    assert sentences("Tells 3.5 jokes. Sings!  And more\nto come。") == [
        "Tells 3.5 jokes.", "Sings!", "And more", "to come。",
    ]  # fmt: skip
    assert name_stems("task_manager") == name_stems("TaskManager")


@pytest.mark.parametrize(
    ("cards", "told"),
    [([], "no agent to choose from"), ([CARDS[0], CARDS[0]], "two agents are named 'weather'")],
)
def test_cards_that_cannot_be_chosen_from_are_refused(cards: list[Card], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        CardsRouter(cards)


@given(st.text())
def test_any_text_gets_a_probability_of_every_agent(text: str) -> None:
    found = ROUTER.route(UserQuestion(text=text, said_before=text, agent_before="bank"))

    assert {pair.agent for pair in found} == {"weather", "music", "bank"}
    assert all(0 <= pair.probability <= 1 for pair in found)
    assert [pair.probability for pair in found] == sorted(
        (pair.probability for pair in found), reverse=True
    )
