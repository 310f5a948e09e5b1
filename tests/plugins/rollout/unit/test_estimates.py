"""Off-policy estimates against logs whose truth is known."""

import random
from collections.abc import Iterator

import pytest

from prolocutor.plugins.rollout.estimates import (
    LoggedTurn,
    TrialLog,
    always_valid,
    doubly_robust,
    estimate,
    inverse_propensity,
    self_normalized,
    student_quantile,
)

ESTIMATORS = [inverse_propensity, self_normalized, doubly_robust]


def logged(gain: float, seed: int, turns: int = 240, share: float = 0.3) -> TrialLog:
    """Return a log of persons with three turns each, where the new service gains so much."""
    return TrialLog(_drawn(random.Random(seed), gain, turns, share))


def _drawn(chance: random.Random, gain: float, turns: int, share: float) -> Iterator[LoggedTurn]:
    for person in range(turns // 3):
        new, taste = chance.random() < share, chance.gauss(0, 0.1)
        for _ in range(3):
            score = chance.random()
            right = 0.5 + gain * new + taste + 0.6 * (score - 0.5)
            yield LoggedTurn(
                person=str(person),
                new=new,
                probability=share if new else 1 - share,
                reward=float(chance.random() < right),
                score=score,
            )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_interval_of_an_estimate_covers_the_truth_as_often_as_it_says(estimator) -> None:
    found = [estimator(logged(-0.1, seed)) for seed in range(150)]

    covered = sum(one.low <= -0.1 <= one.high for one in found) / len(found)

    assert covered >= 0.9


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_estimate_is_the_gain_on_average(estimator) -> None:
    found = [estimator(logged(0.1, seed)).gain for seed in range(150)]

    assert sum(found) / len(found) == pytest.approx(0.1, abs=0.04)


def test_the_regression_makes_the_doubly_robust_interval_the_narrowest() -> None:
    found = estimate(logged(0.0, seed=1, turns=3000))

    assert found.inverse_propensity is not None
    assert found.self_normalized is not None
    assert found.doubly_robust is not None
    assert found.doubly_robust.error < found.self_normalized.error < found.inverse_propensity.error


def test_looking_at_every_hundredth_turn_seldom_calls_the_same_service_worse() -> None:
    stops = 0
    for seed in range(60):
        log, found = TrialLog(), []
        for number, turn in enumerate(_drawn(random.Random(seed), 0.0, turns=1200, share=0.3)):
            log.add(turn)
            if number % 100 == 99:
                found.append(estimate(log).always)
        stops += any(one is not None and one[1] < 0 for one in found)

    assert stops <= 4


def test_a_service_that_always_fails_is_known_to_be_worse() -> None:
    log = [
        LoggedTurn(person=str(n), new=n % 2 == 0, probability=0.5, reward=float(n % 2))
        for n in range(60)
    ]

    always = estimate(TrialLog(log)).always

    assert always is not None
    assert always[1] < -0.5


def test_nothing_is_estimated_of_one_person() -> None:
    log = [LoggedTurn(person="ann", new=new, probability=0.5, reward=1.0) for new in (True, False)]

    assert estimate(TrialLog(log)).doubly_robust is None


def test_the_interval_for_every_look_is_wider_than_the_one_for_a_single_look() -> None:
    found = doubly_robust(logged(0.0, seed=2))

    low, high = always_valid(found, error=0.025)

    assert low < found.low < found.high < high


@pytest.mark.parametrize(("freedom", "expected"), [(5, 2.571), (10, 2.228), (30, 2.042)])
def test_quantiles_are_students(freedom: float, expected: float) -> None:
    assert student_quantile(0.975, freedom) == pytest.approx(expected, abs=0.01)
