"""A record of choices: what a measurement goes on from."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest

from prolocutor.contracts.pairing import Role
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.measuring import fitting
from prolocutor.plugins.pairing.measuring.choice_record import ChoiceRecord
from prolocutor.plugins.pairing.measuring.measurement import MeasurementPlan, measure
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice
from tests.plugins.pairing.unit.measuring.made import data

_CHOICE: Final = MethodChoice(agent="a", right=1.0, called=1, scores={"a": 0.75, "b": 0.25})


def test_a_record_returns_whole_methods_and_leaves_out_one_that_was_cut_off(tmp_path: Path) -> None:
    path, questions = tmp_path / "choices.jsonl", data()
    choices = [_CHOICE] * len(questions.test)
    record = ChoiceRecord(path, questions, 1)
    record.add("route", "learned", choices)
    record.add("rank", "learned", choices)
    path.write_bytes(path.read_bytes()[:-30])
    again = ChoiceRecord(path, questions, 1)
    assert again.get("route", "learned") == choices
    assert again.get("rank", "learned") is None


def test_a_record_of_another_deal_is_refused(tmp_path: Path) -> None:
    ChoiceRecord(tmp_path / "choices.jsonl", data(), 1)
    with pytest.raises(BadInput, match="name another file"):
        ChoiceRecord(tmp_path / "choices.jsonl", data(), 2)


def test_a_measurement_goes_on_from_its_record_without_fitting_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "choices.jsonl"
    plan = MeasurementPlan(
        routers=["learned"], rankers=["unsupervised"], budgets=["top:1"], folds=3
    )
    first = asyncio.run(measure(data(), plan, choices=path))

    real = fitting.load_fit

    def refuse(name: str, role: Role) -> Any:
        assert role == "router", f"{name} is fitted again"
        return real(name, role)

    monkeypatch.setattr(fitting, "load_fit", refuse)
    again = asyncio.run(measure(data(), plan, choices=path))
    kept = [key for key in first.choices if key[1] in ("learned", "unsupervised, top:1")]
    assert [again.choices[key] for key in kept] == [first.choices[key] for key in kept]
    assert again.priors == first.priors
