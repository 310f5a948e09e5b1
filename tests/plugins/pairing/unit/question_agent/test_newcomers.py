"""New agents beside those of a trained router: who counts as new, and what is learned."""

import pytest

from prolocutor.contracts.pairing import Card, Pairing, TrainingData, UserQuestion
from prolocutor.plugins.pairing.method_catalog import load_fit
from prolocutor.plugins.pairing.model_files import Model, training_card
from prolocutor.plugins.pairing.question_agent.cards import CardsRouter
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter
from prolocutor.plugins.pairing.question_agent.loaded_router import PresentRouter, router_of_model
from prolocutor.plugins.pairing.question_agent.newcomers import card_promise
from prolocutor.plugins.pairing.question_agent.router_label import (
    RouterLabel,
    label_of_thumb,
    make_router_label,
)
from tests.plugins.pairing.unit.question_agent.made import CARDS, LABELLED

PIZZA = Card(name="pizza", description="Orders pizza and drinks.", examples=["order a pizza"])
ALL = [*CARDS, PIZZA]
NAMES = [card.name for card in ALL]
HUNGRY = UserQuestion(text="something to eat for dinner")


def model_of() -> Model:
    made = load_fit("learned", "router")(TrainingData(cards=CARDS, labelled=LABELLED))
    model: Model = made.to_model(training_card(18))  # type: ignore[union-attr]
    return model


def joined(model: Model) -> PresentRouter:
    router = router_of_model(model, ALL)
    assert isinstance(router, PresentRouter)
    return router


def place_of(router: PresentRouter, agent: str) -> Pairing:
    return next(one for one in router.route(HUNGRY) if one.agent == agent)


def test_a_new_agent_is_asked_at_once_and_learned_by_thumbs() -> None:
    router = joined(model_of())
    before = place_of(router, "pizza")

    router.learn_all(
        label_of_thumb(text, "pizza", True, NAMES)
        for text in ("what can I eat", "dinner for two", "something to eat")
    )

    assert before.probability > 0.01
    assert before.doubt > place_of(router, "pizza").doubt > 0
    assert router.route(HUNGRY)[0].agent == "pizza"
    assert all(not one.doubt for one in router.route(HUNGRY) if one.agent != "pizza")


@pytest.mark.parametrize("text", ["play jazz", "order a pizza", ""])
def test_nothing_changes_where_no_agent_is_new(text: str) -> None:
    model = model_of()
    plain = LearnedRouter.of_model(model, CARDS)

    router = router_of_model(model, CARDS)

    assert router.route(UserQuestion(text=text)) == plain.route(UserQuestion(text=text))


def test_a_thumb_for_a_new_agent_says_nothing_of_the_others() -> None:
    router = joined(model_of())
    before = router.probabilities("play jazz")

    router.learn_all([label_of_thumb("play jazz", "pizza", False, NAMES)])

    assert router.probabilities("play jazz")[:3] == before[:3]


def test_an_agent_with_a_few_ratings_in_a_model_is_new_still() -> None:
    labels = [make_router_label(one) for one in LABELLED]
    thumbs = [label_of_thumb("what can I eat", "pizza", True, NAMES)] * 3
    trained = LearnedRouter(ALL)
    trained.learn_all([*labels, *thumbs])

    router = joined(trained.to_model(training_card(21)))

    unrated = joined(model_of())
    assert place_of(router, "pizza").probability > place_of(unrated, "pizza").probability


def test_what_a_card_is_worth_is_found_on_labels() -> None:
    cards = CardsRouter(CARDS)
    right = [make_router_label(one) for one in LABELLED]
    never = [RouterLabel(one.text, dict.fromkeys(one.agents, 0.02)) for one in right]

    trusted, mistrusted = (card_promise(cards, cards.agents, each) for each in (right, never))

    assert trusted(0.9) > trusted(0.1)
    assert trusted(0.9) > mistrusted(0.9)
    assert card_promise(cards, cards.agents, []).usual == -2.0


def test_thumbs_down_make_a_new_agent_less_likely_everywhere() -> None:
    router = joined(model_of())
    before = place_of(router, "pizza").probability

    router.learn_all([label_of_thumb("play jazz", "pizza", False, NAMES)] * 4)

    assert place_of(router, "pizza").probability < before
