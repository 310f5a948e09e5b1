"""What rows come to, by hand."""

from math import sqrt

import pytest

from prolocutor.evaluation.reporting import clustered_mean, report_of
from tests.unit.evaluation.made import row


def test_turns_of_an_episode_count_as_one_draw() -> None:
    # Episodes (1, 1), (0, 0), (1, 0): mean 1/2, residual totals 1, -1, 0.
    pairs = [(0, 1.0), (0, 1.0), (1, 0.0), (1, 0.0), (2, 1.0), (2, 0.0)]

    found = clustered_mean(pairs)

    assert found.value == 0.5
    assert found.error == pytest.approx(sqrt((1 + 1 + 0) * 3 / 2) / 6)
    assert found.high == 1.0  # not 0.5 + 1.96 * 0.289, which no share can be


def test_the_interval_of_other_values_is_the_normal_one() -> None:
    found = clustered_mean([(0, 10.0), (0, 10.0), (1, 0.0), (1, 0.0), (2, 10.0), (2, 0.0)])

    assert found.low == pytest.approx(5 - 1.959963984540054 * 10 * sqrt(3) / 6)


def test_one_turn_an_episode_is_a_plain_mean_with_wilsons_interval() -> None:
    found = clustered_mean([(0, 1.0), (1, 0.0)])

    assert (found.value, found.error, found.method) == (0.5, 0.5, "wilson")


def test_groups_failures_and_who_answered_are_reported() -> None:
    rows = [
        row(0, {"f1": 1.0}, group="sums", by="ann", act={"text": "4"}, seconds=0.1),
        row(1, {"f1": 0.5}, group="sums", by="ben", act={"text": "5"}, seconds=0.3),
        row(2, {"f1": 0.0}, group="facts", error="down", seconds=9.0),
    ]

    report = report_of(rows)

    assert (report.examples, report.answered, report.failed) == (3, 2, 1)
    assert report.metrics["f1"].value == 0.5
    assert report.groups["sums"]["f1"].value == 0.75
    assert report.by == {"ann": 1, "ben": 1}
    assert report.figures["latency"].value == pytest.approx(0.2)
    assert report.figures["errors"].value == pytest.approx(1 / 3)
    assert (found := report.find("facts/f1")) is not None
    assert found.value == 0.0


def test_a_group_for_each_example_is_none() -> None:
    assert report_of([row(n, {"f1": 1.0}, group=f"{n}") for n in range(3)]).groups == {}


def test_metrics_of_all_answers_together_are_counted_over_the_rows() -> None:
    rows = [row(n, {}, act={"text": text}) for n, text in enumerate(["a b", "b c", "c b"])]

    assert report_of(rows, "interdistinct-1").metrics["interdistinct-1"].value == pytest.approx(
        2 / 5  # "a" is an article
    )
