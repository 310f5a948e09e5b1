"""Of what is answered no more is wrong than was wanted, with the doubt that is said."""

import random

import pytest

from prolocutor.plugins.pairing.abstention import risk_curve, upper_bound


def drawn(number: int, seed: int) -> list[tuple[float, bool]]:
    """Return choices whose probabilities are too high by a sixth."""
    chance = random.Random(seed)
    sure = [chance.random() ** 0.25 for _ in range(number)]
    return [(one, chance.random() < one**1.2) for one in sure]


def error_above(threshold: float, choices: list[tuple[float, bool]]) -> float:
    given = [right for probability, right in choices if probability >= threshold]
    return given.count(False) / len(given) if given else 0.0


def test_a_promise_is_broken_in_one_of_twenty_resamples_at_most() -> None:
    life = drawn(40_000, 0)

    found = [risk_curve(drawn(600, seed)).threshold(0.1) for seed in range(1, 101)]

    assert sum(error_above(one, life) > 0.1 for one in found) <= 0.05 * 100
    assert sum(one < 1 for one in found) > 90  # it answers something


def test_more_labels_answer_more() -> None:
    few, many = (risk_curve(drawn(number, 1)).threshold(0.2) for number in (200, 20_000))

    assert many < few


def test_where_too_few_are_known_nothing_is_answered() -> None:
    assert risk_curve([(0.99, True)] * 50).threshold(0.1) > 1
    assert risk_curve([(0.99, True)] * 60).threshold(0.1) <= 0.98


@pytest.mark.parametrize(
    ("wrong", "number", "bound"), [(0, 29, 0.0981), (5, 100, 0.1023), (3, 3, 1)]
)
def test_bounds_are_those_of_clopper_and_pearson(wrong: int, number: int, bound: float) -> None:
    assert upper_bound(wrong, number) == pytest.approx(bound, abs=1e-3)
