"""Learned routers: they find what they learned, are kept in folders, and bear changes of agents."""

from pathlib import Path

import msgspec
import pytest

from prolocutor.contracts.pairing import Card, LabelledQuestion, TrainingData, UserQuestion
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.pairing.method_catalog import load_fit
from prolocutor.plugins.pairing.model_files import Model, save_model, training_card
from prolocutor.plugins.pairing.question_agent.loaded_router import load_router_model
from tests.plugins.pairing.unit.question_agent.made import CARDS, LABELLED

pytest.importorskip("sklearn", reason="scikit-learn (the extra learn)")

LEARNED = ("linear", "ensemble", "knn")
TRAINING = TrainingData(cards=CARDS, labelled=LABELLED)


@pytest.mark.parametrize("name", LEARNED)
def test_what_was_learned_is_known_and_what_is_like_it(name: str) -> None:
    router = load_fit(name, "router")(TRAINING)

    for text, agent in [
        ("what is my balance", "bank"),
        ("play jazz", "music"),
        ("weather in Rome", "weather"),
        ("put on the radio", "music"),
    ]:
        found = router.route(UserQuestion(text=text))
        assert found[0].agent == agent
        assert found[0].reason


@pytest.mark.parametrize("name", LEARNED)
def test_a_saved_model_chooses_as_before(name: str, tmp_path: Path) -> None:
    router = load_fit(name, "router")(TRAINING)
    made = save_model(tmp_path / "m", router.to_model(training_card(18)))

    loaded = load_router_model(tmp_path / "m", CARDS)

    question = UserQuestion(text="transfer money for the song")
    assert loaded.model.id == made
    assert loaded.warnings == []
    assert loaded.router.route(question) == router.route(question)


@pytest.mark.parametrize("name", LEARNED)
def test_agents_that_left_and_came_are_borne_with_a_warning(name: str, tmp_path: Path) -> None:
    router = load_fit(name, "router")(TRAINING)
    save_model(tmp_path / "m", router.to_model(training_card(18)))
    new = Card(name="pizza", description="Orders pizza and drinks.", examples=["order a pizza"])

    loaded = load_router_model(tmp_path / "m", [*CARDS[:2], new])

    assert len(loaded.warnings) == 2
    found = loaded.router.route(UserQuestion(text="what is my balance"))
    assert {pair.agent for pair in found} == {"weather", "music", "pizza"}
    assert loaded.router.route(UserQuestion(text="order a pizza"))[0].agent == "pizza"
    assert loaded.router.route(UserQuestion(text="play jazz"))[0].agent == "music"


def test_a_label_online_counts_for_the_ensemble_at_once() -> None:
    router = load_fit("ensemble", "router")(TRAINING)
    for _ in range(3):
        router.learn("blorb the frobnitz", ["bank"])

    found = router.route(UserQuestion(text="blorb the frobnitz"))

    assert found[0].agent == "bank"


def test_too_few_labels_are_refused() -> None:
    with pytest.raises(BadInput, match="1 labelled questions are too few"):
        load_fit("linear", "router")(TrainingData(cards=CARDS, labelled=LABELLED[:1]))


def test_an_agent_that_was_never_right_is_never_first() -> None:
    cards = [*CARDS, Card(name="never")]
    router = load_fit("linear", "router")(TrainingData(cards=cards, labelled=LABELLED))

    found = router.route(UserQuestion(text="zzz"))

    assert found[-1].agent == "never"


def test_labels_of_little_weight_count_little() -> None:
    wrong = [
        LabelledQuestion(question=UserQuestion(text="play jazz"), agents={"bank": 1.0}, weight=0.01)
    ] * 5
    router = load_fit("linear", "router")(TrainingData(cards=CARDS, labelled=[*LABELLED, *wrong]))

    found = router.route(UserQuestion(text="play jazz"))

    assert found[0].agent == "music"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"role": "ranker"}, "not of a router"),
        ({"method": "magic"}, "no router 'magic'"),
        ({"parts": {}}, "is no linear model"),
        ({"arrays": {}}, "is no linear model"),
        ({"agents": ["one"]}, "is no linear model"),
    ],
)
def test_another_model_is_refused(changes: dict[str, object], told: str, tmp_path: Path) -> None:
    router = load_fit("linear", "router")(TRAINING)
    model: Model = router.to_model(training_card(18))
    save_model(tmp_path / "m", msgspec.structs.replace(model, **changes))

    with pytest.raises(ConfigError, match=told):
        load_router_model(tmp_path / "m", CARDS)
