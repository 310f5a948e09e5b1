"""Calibration: the curve found is the one that the examples were drawn from."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.pairing.calibration import Sigmoid, fit_sigmoid

pytest.importorskip("numpy", reason="numpy (the extra learn)")


def test_the_curve_of_the_draws_is_found() -> None:
    chance, true = random.Random(1), Sigmoid(2.0, -1.0)
    scores = [chance.uniform(-3, 3) for _ in range(4000)]
    right = [float(chance.random() < true(score)) for score in scores]

    found = fit_sigmoid(scores, right)

    assert (found.slope, found.offset) == pytest.approx((2.0, -1.0), abs=0.15)


def test_a_weight_of_two_is_an_example_twice() -> None:
    twice = fit_sigmoid([0.0, 1.0, 1.0, 2.0], [0, 1, 1, 0])
    weighed = fit_sigmoid([0.0, 1.0, 2.0], [0, 1, 0], [1, 2, 1])

    assert (twice.slope, twice.offset) == pytest.approx((weighed.slope, weighed.offset), abs=1e-4)


def test_of_one_kind_alone_the_curve_is_cautious() -> None:
    found = fit_sigmoid([1.0, 2.0], [1.0, 1.0])

    assert 0.5 < found(1.5) < 1


def test_a_least_slope_bounds_the_curve_and_keeps_the_mean() -> None:
    scores, right = [1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 0.0, 0.0]

    found = fit_sigmoid(scores, right, least_slope=0.5)

    assert found.slope == 0.5
    assert sum(map(found, scores)) == pytest.approx(2.0, abs=0.05)


def test_few_examples_leave_the_slope_near_the_usual_slope() -> None:
    scores, right = [1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]

    free = fit_sigmoid(scores, right)
    found = fit_sigmoid(scores, right, usual=Sigmoid(3.0, 0.0), strength=(50.0, 0.0))

    assert free.slope < 1
    assert found.slope == pytest.approx(3.0, abs=0.1)
    assert sum(map(found, scores)) == pytest.approx(2.0, abs=0.05)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1)), max_size=15))
def test_a_probability_comes_of_any_examples(rows: list[tuple[float, float]]) -> None:
    found = fit_sigmoid([score for score, _ in rows], [right for _, right in rows])

    assert all(0 <= found(score) <= 1 for score, _ in [*rows, (1e9, 0.0), (-1e9, 0.0)])
