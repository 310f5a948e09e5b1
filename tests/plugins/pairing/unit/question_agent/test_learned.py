"""The learned router: a label counts for the next question, and survives in a journal."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.contracts.pairing import TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.model_files import load_model, save_model
from prolocutor.plugins.pairing.question_agent.learned import (
    LearnedRouter,
    ScoreCurve,
    fit,
)
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from tests.plugins.pairing.unit.question_agent.made import CARDS, LABELLED


def best(router: LearnedRouter, text: str) -> str:
    return router.route(UserQuestion(text=text))[0].agent


def test_one_label_is_seen_by_the_next_question() -> None:
    router = LearnedRouter(CARDS)
    assert best(router, "blorb my frobnitz") != "bank"

    router.learn("blorb the frobnitz", ["bank"])

    assert best(router, "blorb my frobnitz") == "bank"
    assert "blorb the frobnitz" in router.route(UserQuestion(text="blorb my frobnitz"))[0].reason


def test_without_labels_the_cards_speak() -> None:
    assert best(LearnedRouter(CARDS), "play some songs") == "music"


def test_several_agents_can_be_right() -> None:
    router = fit(TrainingData(cards=CARDS, labelled=LABELLED))
    for _ in range(3):
        router.learn("tell me the news", {"music": 1.0, "bank": 0.6})

    found = {pair.agent: pair.probability for pair in router.route(UserQuestion(text="the news"))}

    assert found["music"] > found["bank"] > found["weather"]


def test_an_agent_without_a_card_is_learned_of() -> None:
    router = LearnedRouter(CARDS)

    router.learn("roll the dice", ["dice"])

    assert best(router, "roll the dice") == "dice"


def test_a_share_that_is_none_is_refused() -> None:
    with pytest.raises(BadInput, match="not from 0 to 1"):
        LearnedRouter(CARDS).learn("x", {"bank": 2.0})


def test_a_saved_model_chooses_as_before(tmp_path: Path) -> None:
    router = fit(TrainingData(cards=CARDS, labelled=LABELLED))
    save_model(tmp_path / "m", router.to_model())

    again = LearnedRouter.of_model(load_model(tmp_path / "m"), CARDS)

    question = UserQuestion(text="is my card blocked again")
    assert again.route(question) == router.route(question)


@given(st.lists(st.tuples(st.text(max_size=12), st.sampled_from("abc")), max_size=12), st.text())
def test_any_lessons_and_text_give_probabilities(lessons: list[tuple[str, str]], text: str) -> None:
    router = LearnedRouter()
    for said, agent in lessons:
        router.learn(said, [agent])

    found = router.route(UserQuestion(text=text))

    assert {pair.agent for pair in found} == {agent for _, agent in lessons}
    assert all(0 <= pair.probability <= 1 for pair in found)


def test_a_lead_counts_for_more_where_the_others_differ_less() -> None:
    curve = ScoreCurve(Sigmoid(3.0, -7.0), deviation=0.01)
    others = np.linspace(-1, 1, 50)

    alike, unlike = (curve.probabilities(np.array([0.2, *(by * others)])) for by in (0.01, 0.1))

    assert alike[0] > unlike[0] + 0.3


@pytest.mark.parametrize("deviation", [0.0, 0.01])
def test_probabilities_have_the_strict_order_of_the_scores(deviation: float) -> None:
    curve = ScoreCurve(Sigmoid(3.0, -7.0), deviation)

    found = curve.probabilities(np.array([0.5, 0.1, 0.01, 0.0, -0.01, -0.3]))

    assert all(one > other for one, other in pairwise(found))


def test_the_odds_of_labelled_agents_grow_as_a_power_of_the_score() -> None:
    curve = ScoreCurve(Sigmoid(2.0, -8.0), deviation=0.0)

    half, whole = (one / (1 - one) for one in curve.probabilities(np.array([0.4, 0.8])))

    assert whole / half == pytest.approx(4, rel=0.01)


def test_labels_of_nobody_do_not_turn_the_order_of_agents_round() -> None:
    things = ["oslo", "lima", "cairo", "delhi", "kyoto", "quito", "turin", "perth", "sofia"]
    asked = {"music": "play {}", "bank": "balance of {}", "weather": "is it sunny in {}"}
    right = [
        RouterLabel(f"{text.format(thing)} {number}", {agent: 1.0})
        for agent, text in asked.items()
        for number, thing in enumerate(things)
    ]
    nobody = [
        RouterLabel(f"{text.format('oslo')} {number}", dict.fromkeys(asked, 0.0))
        for text in asked.values()
        for number in (10, 20)
    ]
    router = LearnedRouter(labels=[*right, *nobody])

    chosen = [router.route(UserQuestion(text=one.text))[0].agent for one in right]

    assert chosen == [next(iter(one.agents)) for one in right]
