"""The probability that anybody has a right answer."""

from __future__ import annotations

import pytest

from prolocutor.contracts.pairing import Pairing
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.question_response.answer_pairings import any_right_probability
from prolocutor.plugins.pairing.question_response.unsupervised import UnsupervisedRanker


def paired(*probabilities: float) -> list[Pairing]:
    return [Pairing(str(place), one) for place, one in enumerate(probabilities)]


def test_nobody_is_right_where_nobody_answered() -> None:
    assert any_right_probability(UnsupervisedRanker(), []) < 0.001


def test_two_halves_make_three_quarters() -> None:
    assert any_right_probability(UnsupervisedRanker(), paired(0.5, 0.5)) == pytest.approx(0.75)


def test_one_that_is_sure_is_enough() -> None:
    assert any_right_probability(UnsupervisedRanker(), paired(1.0, 0.0)) > 0.99


def test_a_ranker_that_has_learned_it_uses_its_own_curve() -> None:
    ranker = UnsupervisedRanker()
    ranker.any_right = Sigmoid(0.0, 0.0)  # type: ignore[attr-defined]
    assert any_right_probability(ranker, paired(0.9)) == 0.5
