"""Follow-ups stay where they belong, and a new subject leaves: with every router of ours."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from prolocutor.contracts.pairing import TrainingData, UserQuestion
from prolocutor.plugins.pairing.method_catalog import load_fit, method_needs, methods
from prolocutor.plugins.pairing.question_agent.follow_ups import continuation
from tests.plugins.pairing.unit.question_agent.made import CARDS, LABELLED

# Importing it takes seconds, so that is left to the tests.
pytestmark = pytest.mark.skipif(
    find_spec("sklearn") is None, reason="scikit-learn (the extra learn)"
)

WEATHER = {
    "said_before": "what's the weather in New York",
    "answered_before": "It is sunny in New York, 21 degrees.",
    "agent_before": "weather",
}
BANK = {
    "said_before": "transfer money to Ann",
    "answered_before": "From which account?",
    "agent_before": "bank",
}


READY = [name for name in methods("router") if method_needs(name, "router") <= {"labels"}]


@pytest.fixture(params=READY, scope="module")
def route(request: pytest.FixtureRequest) -> Callable[..., str]:
    fit = load_fit(request.param, "router")
    router = fit(TrainingData(cards=CARDS, labelled=LABELLED))

    def best(text: str, **before: Any) -> str:
        pairs = router.route(UserQuestion(text=text, **before))
        return str(pairs[0].agent)

    return best


@pytest.mark.parametrize(
    "text",
    ["what about Texas?", "and in Boston", "tomorrow?", "how about next Monday", "why is that"],
)
def test_a_follow_up_stays_with_who_answered(route: Callable[..., str], text: str) -> None:
    assert route(text, **WEATHER) == "weather"


def test_what_the_words_mean_counts_as_far_as_it_is_sure(route: Callable[..., str]) -> None:
    meant = "transfer money to Bob"

    assert route("and to Bob?", **WEATHER, meant=meant, meant_surely=1.0) == "bank"
    assert route("what about Texas?", **WEATHER, meant=meant, meant_surely=0.0) == "weather"


@pytest.mark.parametrize("text", ["savings", "my savings account", "the second one", "42"])
def test_what_an_agent_asked_for_goes_to_that_agent(route: Callable[..., str], text: str) -> None:
    assert route(text, **BANK) == "bank"


@pytest.mark.parametrize(
    "text", ["play some jazz", "and now play some jazz", "play a song by Adele"]
)
def test_a_new_subject_leaves(route: Callable[..., str], text: str) -> None:
    assert route(text, **WEATHER) == "music"
    assert route(text, **BANK) == "music"


def test_a_question_that_is_whole_is_not_drawn_back(route: Callable[..., str]) -> None:
    assert route("will it rain in Seattle", **BANK) == "weather"


def test_an_agent_before_that_is_gone_changes_nothing(route: Callable[..., str]) -> None:
    assert (
        route("play some jazz", said_before="x", answered_before="y?", agent_before="gone")
        == "music"
    )


def test_without_a_turn_before_nothing_is_a_follow_up() -> None:
    assert continuation(UserQuestion(text="what about Texas?")) == 0
