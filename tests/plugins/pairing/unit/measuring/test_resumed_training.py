"""A training that was killed goes on with the folds that it has learned, within its memory."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.measuring.model_training import TrainingMemory, TrainingPlan, train
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.model_files import load_model
from tests.plugins.pairing.unit.measuring.made import data, labelled

pytest.importorskip("sklearn", reason="scikit-learn (the extra learn)")
pytest.importorskip("lightgbm", reason="lightgbm (the extra learn)")

RANKER = TrainingPlan(role="ranker", method="learned", prior="learned", folds=2)
ROUTER = TrainingPlan(role="router", method="learned", folds=2)


class Killed(BaseException):
    """The process ends here."""


class Hearing:
    """Hears what a training says, and kills it when a number of folds has been learned."""

    def __init__(self, killed_at: int | None = None) -> None:
        self.folds: list[str] = []
        self.notes: list[str] = []
        self._killed_at = killed_at

    def fold(self, what: str) -> None:
        self.folds.append(what)
        if len(self.folds) == self._killed_at:
            raise Killed


def trained(questions: PairingData, wanted: TrainingPlan, folder: Path, hearing: Hearing) -> Any:
    note = hearing.notes.append
    return asyncio.run(train(questions, wanted, folder, on_note=note, on_fold=hearing.fold))


def test_a_killed_training_goes_on_and_ends_as_it_would_have(tmp_path: Path) -> None:
    questions, whole, first, second = data(learn=40, test=48), Hearing(), Hearing(2), Hearing()

    expected = trained(questions, RANKER, tmp_path / "whole", whole)
    with pytest.raises(Killed):
        trained(questions, RANKER, tmp_path / "model", first)
    found = trained(questions, RANKER, tmp_path / "model", second)

    assert len(whole.folds) == 3
    assert len(second.folds) < 3
    assert {*first.folds, *second.folds} == {*whole.folds}
    assert second.notes[0].startswith("goes on: ")
    assert whole.notes == first.notes == []
    assert [(row.method, row.precision_at_1) for row in found.rows] == [
        (row.method, row.precision_at_1) for row in expected.rows
    ]
    assert not (tmp_path / "model.partial").exists()
    models = [load_model(tmp_path / name) for name in ("model", "whole")]
    assert models[0].arrays == models[1].arrays


@pytest.mark.parametrize("change", [{"seed": 5}, {"folds": 3}, {"prior": "cards"}, None])
def test_another_setting_or_other_data_begin_anew(
    tmp_path: Path, change: dict[str, Any] | None
) -> None:
    questions, first, second = data(learn=0, test=60), Hearing(1), Hearing()
    with pytest.raises(Killed):
        trained(questions, ROUTER, tmp_path / "model", first)

    if change is None:
        questions = msgspec.structs.replace(questions, test=questions.test[2:])
    other = msgspec.structs.replace(ROUTER, **(change or {}))
    trained(questions, other, tmp_path / "model", second)

    assert second.notes == []
    assert not (tmp_path / "model.partial").exists()


def test_a_kept_fold_that_cannot_be_read_is_learned_again(tmp_path: Path) -> None:
    questions, first, second = data(learn=0, test=60), Hearing(1), Hearing()
    with pytest.raises(Killed):
        trained(questions, ROUTER, tmp_path / "model", first)
    for kept in (tmp_path / "model.partial").glob("*/model.json"):
        kept.write_text("{")

    trained(questions, ROUTER, tmp_path / "model", second)

    assert len(second.folds) == 2


def test_too_little_to_learn_from_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="20 are needed"):
        trained(data(learn=0, test=12), RANKER, tmp_path / "model", Hearing())

    assert list(tmp_path.iterdir()) == []


def test_memory_bounds_folds_at_once_and_then_questions() -> None:
    many = labelled(1000, 1, answers=True)
    ample, scarce, tiny = (TrainingMemory(most=most) for most in (10**9, 275_000_000, 260_500_000))

    assert ample.fitting(many, 0) == many
    assert ample.at_once(many, 4) == 4
    some = scarce.fitting(many, 0)
    assert 100 <= len(some) < len(many)
    assert scarce.at_once(some, 4) == 1
    assert [one for one in many if one in some] == some
    with pytest.raises(BadInput, match=r"too little to learn in; give 26\d MB"):
        tiny.fitting(many, 0)
