"""Training: measured by folds, learned from everything, kept as a model; plain about few labels."""

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prolocutor.contracts.pairing import Card, LabelledQuestion, UserQuestion
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.pairing.abstention import stored_risk_curve
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.measuring.training import (
    TrainingPlan,
    TrainingResult,
    count_steps,
    fit_into_memory,
    train,
    training_hash,
)
from prolocutor.plugins.pairing.model_files import load_model
from prolocutor.plugins.pairing.question_agent.loaded_router import load_router_model
from tests.plugins.pairing.unit.measuring.made import CARDS, data, labelled

# Importing them takes seconds, so that is left to the tests.
pytestmark = [
    pytest.mark.skipif(find_spec(library) is None, reason=f"{name} (the extra learn)")
    for library, name in (("sklearn", "scikit-learn"), ("lightgbm", "lightgbm"))
]


def trained(
    questions: PairingData, folder: Path, told: list[str] | None = None, **wanted: Any
) -> TrainingResult:
    hears = (lambda what: None) if told is None else told.append
    wish = TrainingPlan(
        **{"role": "router", "method": "learned", "prior": "learned", "folds": 3, **wanted}
    )
    return asyncio.run(train(questions, wish, folder / "model", on_step=hears))


def test_a_router_learns_and_is_measured_beside_what_it_has_to_beat(tmp_path: Path) -> None:
    found = trained(data(learn=0, test=60), tmp_path)

    rows = {row.method: row.precision_at_1 for row in found.rows}
    assert list(rows) == ["learned", "cards", "best single agent"]
    assert rows["learned"] > rows["best single agent"]
    assert found.gain is not None
    assert found.gain[1] <= found.gain[0] <= found.gain[2]
    loaded = load_router_model(tmp_path / "model", CARDS)
    assert loaded.model.id == found.model
    assert loaded.router.route(UserQuestion(text="rain in oslo"))[0].agent == "weather"


def test_the_training_card_tells_data_scores_and_date(tmp_path: Path) -> None:
    questions = data(learn=0, test=60)

    trained(questions, tmp_path)
    card = load_model(tmp_path / "model").card

    assert card.data == "made"
    assert card.data_hash == training_hash(questions, [one for one in questions.test if one.agents])
    assert card.data_hash != training_hash(questions, [])
    assert set(card.scores) == {"learned", "cards", "best single agent"}
    assert card.examples == sum(bool(one.agents) for one in questions.test)
    assert card.date[:2] == "20"


def test_a_part_to_train_on_is_learned_from_and_the_rest_is_tested(tmp_path: Path) -> None:
    told: list[str] = []
    questions = data(learn=60, test=40)

    found = trained(questions, tmp_path, told)

    assert found.questions == len(questions.learn)
    assert [row.method for row in found.tested] == ["learned", "cards", "best single agent"]
    assert len(told) == count_steps(questions, TrainingPlan(role="router", method="learned")) == 5


@pytest.mark.slow
def test_a_ranker_learns_from_answers(tmp_path: Path) -> None:
    told: list[str] = []
    questions = data(learn=0, test=60)

    found = trained(questions, tmp_path, told, role="ranker", method="learned")

    assert {row.method for row in found.rows} == {"learned", "unsupervised", "best single agent"}
    assert found.rows[0].precision_at_1 > 0.9
    assert load_model(tmp_path / "model").role == "ranker"
    curve = stored_risk_curve(load_model(tmp_path / "model"))
    assert curve is not None
    assert curve.questions == len(questions.test)
    assert len(told) == count_steps(questions, TrainingPlan(role="ranker", method="learned")) == 4


def test_few_labels_make_a_model_and_a_plain_word(tmp_path: Path) -> None:
    few = msgspec.structs.replace(data(learn=0), test=data(learn=0).test[1:4])

    found = trained(few, tmp_path, folds=3)

    assert not found.helps
    assert (tmp_path / "model" / "model.json").is_file()


def test_too_few_for_folds_is_said_and_not_hidden(tmp_path: Path) -> None:
    few = data(learn=0, test=24)

    found = trained(few, tmp_path, role="ranker", method="learned")

    assert found.rows == []
    assert found.unmeasured is not None
    assert "20 are needed" in found.unmeasured
    assert load_model(tmp_path / "model").card.note == found.unmeasured


@pytest.mark.parametrize(
    ("questions", "wanted", "why"),
    [
        (data(learn=0, answers=False), {"role": "ranker", "method": "learned"}, "nobody's answers"),
        (data(learn=0, test=15), {"role": "ranker", "method": "learned"}, "20 are needed"),
        (
            PairingData(name="one", cards=[Card(name="a")], learn=[], test=[]),
            {},
            "a choice needs two",
        ),
        (
            PairingData(
                name="none",
                cards=CARDS,
                learn=[],
                test=[LabelledQuestion(question=UserQuestion(text="hi"), agents={"bank": 0.1})],
            ),
            {},
            "no question has a right agent",
        ),
    ],
)
def test_too_little_to_learn_from_is_refused(
    tmp_path: Path, questions: PairingData, wanted: dict[str, Any], why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        trained(questions, tmp_path, **wanted)
    assert not (tmp_path / "model").exists()


def test_what_learns_nothing_is_refused_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the router 'cards' needs no training"):
        trained(data(), tmp_path, method="cards")


def test_a_folder_of_something_else_is_refused_before_anything_is_learned(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.txt").write_text("years of work")

    with pytest.raises(ConfigError, match="is not overwritten"):
        trained(data(learn=0, test=30), tmp_path, told)

    assert told == []
    assert (tmp_path / "model" / "thesis.txt").read_text() == "years of work"


def test_memory_bounds_folds_at_once_and_then_questions() -> None:
    many = labelled(1000, 1, answers=True)

    def fitting(most: int) -> tuple[list[LabelledQuestion], int]:
        return fit_into_memory(many, most, meant=False, wanted=4, seed=0)

    assert fitting(10**9) == (many, 4)
    some, at_once = fitting(275_000_000)
    assert 100 <= len(some) < len(many)
    assert at_once == 1
    assert [one for one in many if one in some] == some
    with pytest.raises(BadInput, match=r"too little to learn in; give 26\d MB"):
        fitting(260_500_000)
