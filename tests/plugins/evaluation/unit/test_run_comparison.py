"""Two small runs, compared by hand."""

import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.run_comparison import compare
from tests.plugins.evaluation.unit.made import row

FIRST = [
    row(0, {"accuracy": 1.0, "f1": 1.0}, group="a"),
    row(1, {"accuracy": 0.0, "f1": 0.5}, group="a"),
    row(2, {"accuracy": 0.0, "f1": 0.0}, group="b"),
    row(3, {"accuracy": 1.0, "f1": 1.0}, group="b"),
    row(4, {"accuracy": 1.0, "f1": 1.0}, group="b"),
]
SECOND = [
    row(3, {"accuracy": 1.0, "f1": 1.0}, group="b"),
    row(2, {"accuracy": 1.0, "f1": 1.0}, group="b", by="ben", act={"text": "yes"}),
    row(1, {"accuracy": 1.0, "f1": 1.0}, group="a"),
    row(0, {"accuracy": 0.0, "f1": 0.2}, group="a", error="down"),
    row(9, {"accuracy": 1.0, "f1": 1.0}, group="b"),
]


def test_differences_are_those_of_the_pairs() -> None:
    found = compare(FIRST, SECOND)

    assert found.pairs == 4
    assert found.only_first == 1
    assert found.only_second == 1
    accuracy, f1 = found.metrics
    assert accuracy.metric == "accuracy"
    assert accuracy.first == 0.5
    assert accuracy.second == 0.75
    assert accuracy.better == 2
    assert accuracy.worse == 1
    assert accuracy.same == 1
    assert accuracy.difference.value == pytest.approx(0.25)
    # Differences -1, 1, 1, 0: squares about 1/4 add up to 2.75.
    assert accuracy.difference.error == pytest.approx((2.75 / 3 / 4) ** 0.5)
    assert f1.difference.value == pytest.approx((-0.8 + 0.5 + 1.0 + 0.0) / 4)


def test_the_interval_is_that_of_the_bootstrap() -> None:
    first = [row(n, {"f1": 0.0}) for n in range(6)]
    second = [row(n, {"f1": float(n % 2)}) for n in range(6)]

    difference = compare(first, second).metrics[0].difference

    # Six draws of 0 or 1: a mean of 0 has a chance of 1/64 < 2.5 %, one of 1/6 or less 7/64.
    assert difference.method == "bootstrap"
    assert (difference.low, difference.high) == pytest.approx((1 / 6, 5 / 6))


def test_groups_are_compared_each_for_itself() -> None:
    groups = compare(FIRST, SECOND).groups

    assert [(one.first, one.second) for one in groups["a"]] == [(0.5, 0.5), (0.75, 0.6)]
    assert [(one.first, one.second) for one in groups["b"]] == [(0.5, 1.0), (0.5, 1.0)]


def test_examples_that_flipped_are_given_those_won_first() -> None:
    flips = compare(FIRST, SECOND).flips

    assert [(flip.n, flip.first_score, flip.second_score) for flip in flips] == [
        (1, 0.0, 1.0),
        (2, 0.0, 1.0),
        (0, 1.0, 0.0),
    ]
    assert flips[1].second == "yes"
    assert flips[1].second_by == "ben"
    assert flips[2].second == "(down)"
    assert [flip.n for flip in compare(FIRST, SECOND, "f1").flips] == [2, 0]


def test_equal_examples_are_paired_in_their_order() -> None:
    first = [row(0, {"f1": 0.0}, example="e"), row(1, {"f1": 1.0}, example="e")]
    second = [row(7, {"f1": 0.0}, example="e"), row(8, {"f1": 1.0}, example="e")]

    assert compare(first, second).metrics[0].same == 2


def test_turns_of_an_episode_are_drawn_together() -> None:
    first = [row(n, {"f1": 0.0}, episode=n // 2, turn=n % 2) for n in range(4)]
    second = [row(n, {"f1": float(n // 2)}, episode=n // 2, turn=n % 2) for n in range(4)]

    difference = compare(first, second).metrics[0].difference

    assert difference.value == 0.5
    assert difference.low == 0.0
    assert difference.high == 1.0
    assert difference.count == 2


def test_what_has_nothing_in_common_is_refused() -> None:
    with pytest.raises(BadInput, match="no example in common"):
        compare(FIRST[:1], SECOND[:1])
    with pytest.raises(BadInput, match="no metric 'bleu' in common, but accuracy, f1"):
        compare(FIRST, SECOND, "bleu")
