"""Every mean has its error and its interval."""

from math import sqrt
from statistics import fmean, median, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.evaluation.parlai.metrics import (
    AverageMetric,
    Estimate,
    SumMetric,
    TeacherMetrics,
    bootstrap,
    estimate_difference,
    estimate_mean,
    estimate_share,
    report_estimates,
)

VALUES = st.lists(st.floats(-10, 10), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_of_a_share_is_wilsons(count: int, of: int, low: float, high: float) -> None:
    share = estimate_share(count, of)

    assert (share.low, share.high) == pytest.approx((low, high), abs=5e-5)
    assert share.value == count / of
    assert share.count == of


def test_a_perfect_share_still_has_an_interval() -> None:
    assert estimate_mean([1, 1, 1]) == Estimate(
        1.0, 0.0, pytest.approx(0.4385, abs=1e-4), 1.0, 3, "wilson"
    )


@given(values=VALUES)
def test_an_interval_holds_the_mean(values: list[float]) -> None:
    found = estimate_mean(values)

    assert found is not None
    assert found.value == pytest.approx(fmean(values))
    if found.low is not None and found.high is not None:
        assert found.low - 1e-9 <= found.value <= found.high + 1e-9


def test_the_bootstrap_is_the_same_in_every_run() -> None:
    values = [0.5, 2.0, 3.5, 4.0, 9.0]

    assert estimate_mean(values, seed=1) == estimate_mean(values, seed=1)
    assert estimate_mean(values, seed=1) != estimate_mean(values, seed=2)


def test_the_bootstrap_comes_close_to_the_normal_interval() -> None:
    values = [float(number % 17) for number in range(400)]

    found = estimate_mean(values)

    error = stdev(values) / sqrt(400)
    assert found is not None
    assert found.method == "bootstrap"
    assert found.error == pytest.approx(error)
    assert found.low == pytest.approx(fmean(values) - 1.96 * error, abs=error / 5)
    assert found.high == pytest.approx(fmean(values) + 1.96 * error, abs=error / 5)


def test_many_values_take_the_normal_interval() -> None:
    values = [float(number % 17) for number in range(3000)]

    found = estimate_mean(values)

    assert found is not None
    assert found.method == "normal"
    assert found.high == pytest.approx(fmean(values) + 1.959964 * stdev(values) / sqrt(3000))


def test_any_statistic_can_be_bootstrapped() -> None:
    found = bootstrap([1.0, 2.0, 3.0, 4.0, 100.0], median, resamples=200)

    assert found.value == 3
    assert found.count == 5
    assert found.low is not None
    assert found.high is not None
    assert 1 <= found.low < 3 < found.high <= 100


def test_too_few_values_have_no_interval() -> None:
    assert estimate_mean([]) is None
    assert estimate_mean([2.5]) == Estimate(2.5, count=1)


def test_differences_are_taken_pair_by_pair() -> None:
    found = estimate_difference([1, 2, 4], [0, 1, 3])

    assert found == Estimate(1.0, 0.0, 1.0, 1.0, 3, "bootstrap")
    assert estimate_difference([], []) is None
    with pytest.raises(ValueError, match="shorter"):
        estimate_difference([1, 2], [1])


def test_a_report_gives_its_estimates() -> None:
    metrics = TeacherMetrics("f1,interdistinct-1")
    for text in ("b", "b c", "b c d", "x"):
        metrics.evaluate_response({"text": text, "metrics": {"n": SumMetric(2)}}, ["b c"])

    found = report_estimates(metrics.report())

    assert found["accuracy"] == estimate_share(1, 4)
    f1 = [2 / 3, 1.0, 4 / 5, 0.0]
    assert found["f1"].value == pytest.approx(fmean(f1))
    assert found["f1"].count == 4
    assert found["f1"].error == pytest.approx(stdev(f1) / 2)
    assert found["f1"].low == pytest.approx(fmean(f1) - 1.959964 * stdev(f1) / 2)
    assert found["n"] == Estimate(8.0)
    assert found["interdistinct-1"].error is None


def test_a_mean_of_one_observation_has_no_interval() -> None:
    assert report_estimates({"x": AverageMetric(3), "y": 2}) == {
        "x": Estimate(3.0, count=1),
        "y": Estimate(2.0),
    }
