"""A budget of a wanted loss in ordinary turns: its threshold comes with the ranker's model."""

from pathlib import Path

import msgspec
import pytest

from prolocutor.cli.main import run
from prolocutor.config.building import build
from prolocutor.config.file_check import check
from prolocutor.config.loading import load
from prolocutor.contracts.model_use import TrainingLabel, TrainingOrder
from prolocutor.contracts.pairing import TrainingData
from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.measuring.model_training import TrainingPlan, train
from prolocutor.plugins.pairing.measuring.retraining import retrain
from prolocutor.plugins.pairing.model_files import load_model, save_model, training_card
from prolocutor.plugins.pairing.question_response import unsupervised
from prolocutor.plugins.pairing.stopping_curves import (
    LossCurve,
    LossPoint,
    store_curves,
    stored_loss_curve,
)
from tests.plugins.pairing.integration.agents import Agent, assistant_of, record, turn
from tests.plugins.pairing.unit.measuring.made import CARDS, data

QUESTION = "Will it rain in Boston?"
RANKED = "response_selector: {ranker: unsupervised, model: ranker}\n"


def save(folder: Path, threshold: float | None, router: str = "cards") -> None:
    model = unsupervised.fit(TrainingData(cards=[])).to_model(training_card(0))
    curve = None
    if threshold is not None:
        points = [LossPoint(0.95, 0.0), LossPoint(threshold, 0.01)]
        curve = LossCurve(points=points, questions=50, router=router)
    save_model(folder / "ranker", store_curves(model, curve, None))


def agents() -> dict[str, Agent]:
    said = {"weather": "It will rain in Boston.", "travel": "Trains.", "oracle": "No idea."}
    return {
        name: Agent(text, card={"description": f"Knows about {name} and rain."})
        for name, text in said.items()
    }


def yaml(budget: str) -> str:
    return f"skill_selector: {{router: cards, budget: {budget}}}\n{RANKED}"


@pytest.mark.parametrize("budget", ["loss:0.01", "{loss: 0.01}", "{policy: loss, loss: 0.01}"])
async def test_agents_are_asked_until_stopping_loses_no_more_than_is_wanted(
    tmp_path: Path, budget: str
) -> None:
    save(tmp_path, 0.01)
    asked = []
    async with assistant_of(tmp_path, agents(), yaml(budget)) as assistant:
        asked.append(len(record(await turn(assistant, QUESTION)).asked))
        save(tmp_path, 0.95)
        next(one for one in assistant.models if one.role == "ranker").source.reload()
        asked.append(len(record(await turn(assistant, QUESTION)).asked))

    assert asked == [2, 3]
    assert about_budget(tmp_path / "assistant.yaml") == []


def about_budget(file: Path) -> list[str]:
    """Return the warnings of a file without faults that are about its budget."""
    report = check(file, environ={})
    assert report.ok
    return [one.what for one in report.warnings if str(one.key).endswith("selector.budget")]


@pytest.mark.parametrize(
    ("ranked", "what"),
    [
        (RANKED, "was not trained with what a budget of a wanted loss needs"),
        ("response_selector: {ranker: unsupervised}\n", "needs response_selector: {ranker"),
        ("", "needs response_selector: {ranker"),
    ],
)
def test_without_a_loss_curve_the_file_is_refused_with_the_command_that_makes_one(
    tmp_path: Path, ranked: str, what: str
) -> None:
    save(tmp_path, None)
    file = tmp_path / "assistant.yaml"
    selector = "skill_selector: {router: cards, budget: loss:0.01}\n"
    file.write_text(f"skills: {{a: 'http://h/a', b: 'http://h/b'}}\n{selector}{ranked}")

    (fault,) = check(file, environ={}).faults
    assert (fault.key, fault.line) == ("skill_selector.budget", 2)
    for text in (fault.what, str(_refusal(file))):
        assert what in text
        assert "prolocutor train ranker --data KIND:PATH --out FOLDER --loss-budget" in text


def _refusal(file: Path) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        build(load(file, environ={}), store="memory:")
    return refused.value


def test_another_router_than_the_loss_was_measured_with_is_a_warning(tmp_path: Path) -> None:
    save(tmp_path, 0.5, router="ensemble")
    file = tmp_path / "assistant.yaml"
    file.write_text(f"skills: {{a: 'http://h/a', b: 'http://h/b'}}\n{yaml('loss:0.01')}")

    (warning,) = about_budget(file)
    assert "train the ranker with --prior cards" in warning


async def test_training_stores_the_curve_and_tells_where_budgets_stop(tmp_path: Path) -> None:
    plan = TrainingPlan(role="ranker", method="unsupervised", prior="cards", folds=3, losses=True)
    few = msgspec.structs.replace(data(learn=0, test=40), learn=[])

    found = await train(few, plan, tmp_path / "ranker")

    curve = stored_loss_curve(load_model(tmp_path / "ranker"))
    assert curve == found.losses
    assert curve is not None
    assert (curve.questions, curve.router) == (36, "cards")
    assert [one.threshold for one in curve.points] == sorted(
        (one.threshold for one in curve.points), reverse=True
    )


async def test_a_model_that_the_console_trains_anew_has_a_curve_where_the_one_in_use_has(
    tmp_path: Path,
) -> None:
    save(tmp_path, 0.5)
    labels = [TrainingLabel(id=str(n), question=one) for n, one in enumerate(data(0, 30).test)]
    order = TrainingOrder(
        role="ranker",
        method="unsupervised",
        out=str(tmp_path / "new"),
        live=str(tmp_path / "ranker"),
        cards=CARDS,
        labels=labels,
        folds=3,
    )

    await retrain(order, [], lambda share, what: None)

    curve = stored_loss_curve(load_model(tmp_path / "new"))
    assert curve is not None
    assert curve.questions == sum(bool(one.question.gold) for one in labels)


def test_routers_have_no_loss_to_measure(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "router", "--data", "csv:none.csv", "--out", "x", "--loss-budget"]
    assert run(command) == 2
    assert "--loss-budget" in capsys.readouterr().err
