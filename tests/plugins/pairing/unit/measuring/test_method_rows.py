"""Figures of pairing: intervals, calibration, coverage, and what tells answerable questions."""

import pytest

from prolocutor.contracts.pairing import LabelledQuestion, UserQuestion
from prolocutor.plugins.pairing.commands.command_lines import reliability_lines
from prolocutor.plugins.pairing.measuring.method_rows import (
    BootstrapSamples,
    CalibrationBin,
    MethodChoice,
    bin_by_probability,
    calibration_error,
    coverage_curve,
    method_row,
)


def question(*gold: str, domain: str = "") -> LabelledQuestion:
    return LabelledQuestion(
        question=UserQuestion(text="?"), agents={}, gold=frozenset(gold), domain=domain
    )


def choice(right: float, probability: float | None = None, called: int = 1) -> MethodChoice:
    return MethodChoice(agent="a", right=right, called=called, probability=probability, cost=0.5)


def test_only_questions_with_a_right_agent_count() -> None:
    questions = [question("a", domain="x"), question(), question("b", domain="y")]
    choices = [choice(1.0, 0.9), choice(0.0, 0.1, called=9), choice(0.0, 0.4)]

    row = method_row("m", "route", questions, choices, BootstrapSamples([0, 1], 0))

    assert row.precision_at_1 == 0.5
    assert row.mean_calls == 1
    assert row.cost == 0.5
    assert row.domains == {"x": 1.0, "y": 0.0}


def test_the_interval_holds_the_mean_and_narrows_with_the_number() -> None:
    few, many = BootstrapSamples(range(20), 1), BootstrapSamples(range(2000), 1)

    low, high = few.interval([1.0, 0.0] * 10)
    closer, nearer = many.interval([1.0, 0.0] * 1000)

    assert low < closer < 0.5 < nearer < high


def test_near_duplicates_are_drawn_together() -> None:
    alone, together = (
        BootstrapSamples(range(100), 1),
        BootstrapSamples([n // 10 for n in range(100)], 1),
    )
    values = [float(n < 50) for n in range(100)]

    narrow, wide = alone.interval(values), together.interval(values)

    assert wide[1] - wide[0] > narrow[1] - narrow[0]


def test_a_difference_is_paired() -> None:
    questions = [question("a")] * 4
    better, worse = [choice(1.0)] * 3 + [choice(0.0)], [choice(0.0)] * 4

    row = method_row("m", "rank", questions, better, BootstrapSamples(range(4), 0), ("base", worse))

    assert row.than == "base"
    assert row.difference is not None
    assert row.difference[0] == 0.75


def test_the_calibration_error_is_the_mean_gap() -> None:
    bins = bin_by_probability([(0.95, 1.0), (0.95, 0.0), (0.05, 0.0), (1.0, 1.0)])

    assert bins == [
        CalibrationBin(1, 0.05, 0.0),
        CalibrationBin(3, pytest.approx(2.9 / 3), pytest.approx(2 / 3)),
    ]
    assert calibration_error(bins) == pytest.approx((0.05 + 3 * (2.9 / 3 - 2 / 3)) / 4)


def test_reliability_is_over_all_questions_and_shown_as_lines() -> None:
    questions = [question("a"), question("a"), question()]
    choices = [choice(1.0, 0.95), choice(0.0, 0.95), choice(0.0, 0.15)]

    row = method_row("cards", "route", questions, choices, BootstrapSamples([0, 1], 0))

    assert [(one.count, one.right) for one in row.reliability] == [(1, 0.0), (2, 0.5)]
    assert [*reliability_lines([row])][-1] == "cards  15: 0 (1)  95: 50 (2)"


def test_coverage_takes_the_surest_first() -> None:
    found = coverage_curve([(0.9, 1.0), (0.1, 0.0)])

    assert found[0] == (0.1, 1.0)
    assert found[-1] == (1.0, 0.5)
    assert coverage_curve([]) == []
