"""Metrics add up, compare and report as ParlAI's do."""

import pickle
from math import e, inf, isnan, sqrt
from statistics import fmean, stdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.evaluation.parlai.metrics import (
    AverageMetric,
    FixedMetric,
    GlobalAverageMetric,
    GlobalFixedMetric,
    GlobalSumMetric,
    GlobalTimerMetric,
    LegacyMetric,
    MacroAverageMetric,
    Metric,
    PPLMetric,
    SumMetric,
    TimerMetric,
)

VALUES = st.lists(st.floats(-100, 100), min_size=2, max_size=30)


@pytest.mark.parametrize(
    ("left", "right", "value"),
    [
        (SumMetric(2), SumMetric(3), 5),
        (SumMetric(), SumMetric(0.5), 0.5),
        (FixedMetric(4), FixedMetric(4), 4),
        (AverageMetric(1, 2), AverageMetric(3, 2), 1),
        (AverageMetric(True), AverageMetric(False), 0.5),
        (AverageMetric(0, 0), AverageMetric(0, 0), 0),
        (TimerMetric(10, 0.0, 1.0), TimerMetric(20, 4.0, 5.0), 6),
        (TimerMetric(0, 0.0, 1.0), TimerMetric(0, 4.0, 5.0), 0),
        (TimerMetric(5, 2.0, 2.0), TimerMetric(5, 2.0, 2.0), 0),
        (PPLMetric(1, 1), PPLMetric(3, 3), e),
        (PPLMetric(1e6, 1), PPLMetric(0, 1), inf),
        (MacroAverageMetric({"t": AverageMetric(1, 4)}), MacroAverageMetric(
            {"t": AverageMetric(1, 1), "u": AverageMetric(3, 5)}), 0.5),
    ],
)  # fmt: skip
def test_two_parts_add_up(left: Metric, right: Metric, value: float) -> None:
    both = left + right

    assert both.value() == pytest.approx(value)
    assert type(both) is type(left)


@pytest.mark.parametrize(
    "metric", [SumMetric(2), FixedMetric(2), AverageMetric(2), TimerMetric(4, 0.0, 2.0),
               MacroAverageMetric({"t": SumMetric(2)})],
)  # fmt: skip
def test_a_metric_and_none_are_the_metric(metric: Metric) -> None:
    assert (metric + None) is metric
    assert (None + metric) is metric
    assert metric.value() == 2
    assert float(metric) == 2.0
    assert int(metric) == 2
    assert str(metric) == "2"
    assert repr(metric) == f"{type(metric).__name__}(2)"


def test_a_sum_over_nothing_is_nan() -> None:
    assert isnan(AverageMetric(1, 0).value())


def test_metrics_compare_with_numbers_and_each_other() -> None:
    half = AverageMetric(1, 2)

    assert half == 0.5
    assert half == AverageMetric(2, 4)
    assert half < 1 < SumMetric(2)
    assert half >= 0.5
    assert half - 0.25 == 0.25
    assert 1.0 - half == 0.5
    with pytest.raises(TypeError, match="float"):
        half - 1


def test_fixed_metrics_that_differ_do_not_add_up() -> None:
    with pytest.raises(ValueError, match="differ: 1 and 2"):
        FixedMetric(1) + FixedMetric(2)


@pytest.mark.parametrize(
    ("metric", "is_global", "macro"),
    [
        (SumMetric(1), False, False),
        (AverageMetric(1), False, True),
        (LegacyMetric(1), True, True),
        (GlobalAverageMetric(1), True, True),
        (GlobalSumMetric(1), True, False),
        (GlobalFixedMetric(1), True, False),
        (GlobalTimerMetric(1), True, False),
        (MacroAverageMetric({}), False, False),
    ],
)
def test_a_metric_tells_how_tasks_are_combined(
    metric: Metric, is_global: bool, macro: bool
) -> None:
    assert metric.is_global == is_global
    assert metric.macro_average == macro


class Scalar:
    """A number as torch and numpy wrap it."""

    def item(self) -> int:
        return 3


def test_wrapped_numbers_are_unpacked() -> None:
    assert AverageMetric(Scalar(), Scalar()).value() == 1
    assert Metric.as_float(Scalar()) == 3.0
    assert Metric.as_int(2.5) == 2


@pytest.mark.parametrize("given", ["1", None, [1]])
def test_what_is_no_number_makes_no_metric(given: Any) -> None:
    with pytest.raises(TypeError, match="made of numbers"):
        AverageMetric(given)


def test_many_are_made_of_rows() -> None:
    assert [one.value() for one in AverageMetric.many([1, 2], [2, 2])] == [0.5, 1]
    with pytest.raises(IndexError, match=r"\[2, 1\]"):
        AverageMetric.many([1, 2], [2])


def test_a_subclass_keeps_its_class() -> None:
    class Mine(AverageMetric):
        pass

    assert type(Mine(1) + AverageMetric(2)) is Mine


@given(values=VALUES)
def test_the_standard_error_of_added_values_is_that_of_their_mean(values: list[float]) -> None:
    metrics = [AverageMetric(value) for value in values]

    mean = sum(metrics[1:], start=metrics[0])

    assert mean.value() == pytest.approx(fmean(values), abs=1e-9)
    assert mean.standard_error() == pytest.approx(stdev(values) / sqrt(len(values)), abs=1e-5)


def test_the_standard_error_of_a_ratio_is_by_its_residuals() -> None:
    ratio = AverageMetric(1, 2) + AverageMetric(3, 2)

    assert ratio.value() == 1
    assert ratio.standard_error() == pytest.approx(sqrt(2 * (1 + 1)) / 4)


def test_errors_follow_the_figure() -> None:
    loss, other = PPLMetric(1) + PPLMetric(3), PPLMetric(2) + PPLMetric(2)
    two = MacroAverageMetric({"t": AverageMetric(1) + AverageMetric(3), "u": AverageMetric(1)})

    assert loss.standard_error() == pytest.approx(e**2)
    assert other.standard_error() == 0
    assert two.standard_error() is None
    assert MacroAverageMetric({"t": AverageMetric(1) + AverageMetric(3)}).standard_error() == 1
    assert SumMetric(3).standard_error() is None
    assert AverageMetric(3).standard_error() is None


def test_metrics_travel_between_processes() -> None:
    mean = AverageMetric(1) + AverageMetric(3)

    again = pickle.loads(pickle.dumps(mean))

    assert again.value() == 2
    assert again.standard_error() == 1
