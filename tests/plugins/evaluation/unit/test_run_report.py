"""What rows come to, by hand."""

from math import sqrt
from typing import Any

import pytest

from prolocutor.plugins.evaluation.example_rows import ExampleRow
from prolocutor.plugins.evaluation.parlai.metrics import (
    F1Metric,
    SumMetric,
    aggregate_named_reports,
)
from prolocutor.plugins.evaluation.run_report import clustered_mean, make_report
from tests.plugins.evaluation.unit.made import row


def test_turns_of_an_episode_count_as_one_draw() -> None:
    # Episodes (1, 1), (0, 0), (1, 0): mean 1/2, residual totals 1, -1, 0.
    pairs = [(0, 1.0), (0, 1.0), (1, 0.0), (1, 0.0), (2, 1.0), (2, 0.0)]

    found = clustered_mean(pairs)

    assert found.value == 0.5
    assert found.error == pytest.approx(sqrt((1 + 1 + 0) * 3 / 2) / 6)
    assert found.low is not None
    assert 0 < found.low < 0.5 - 4.303 / 1.96 * 0.1
    assert found.high == pytest.approx(1 - found.low)


def test_the_interval_of_other_values_is_the_normal_one() -> None:
    found = clustered_mean([(0, 10.0), (0, 10.0), (1, 0.0), (1, 0.0), (2, 10.0), (2, 0.0)])

    assert found.low == pytest.approx(5 - 1.959963984540054 * 10 * sqrt(3) / 6)


def test_one_turn_an_episode_is_a_plain_mean_with_wilsons_interval() -> None:
    found = clustered_mean([(0, 1.0), (1, 0.0)])

    assert found.value == 0.5
    assert found.error == 0.5
    assert found.method == "wilson"


def test_groups_failures_and_who_answered_are_reported() -> None:
    rows = [
        row(0, {"f1": 1.0}, group="sums", by="ann", act={"text": "4"}, seconds=0.1),
        row(1, {"f1": 0.5}, group="sums", by="ben", act={"text": "5"}, seconds=0.3),
        row(2, {"f1": 0.0}, group="facts", error="down", seconds=9.0),
    ]

    report = make_report(rows)

    assert report.examples == 3
    assert report.answered == 2
    assert report.failed == 1
    assert report.metrics["f1"].value == 0.5
    assert report.groups["sums"]["f1"].value == 0.75
    assert report.by == {"ann": 1, "ben": 1}
    assert report.figures["latency"].value == pytest.approx(0.2)
    assert report.figures["errors"].value == pytest.approx(1 / 3)
    assert (found := report.find("facts/f1")) is not None
    assert found.value == 0.0


def test_a_group_for_each_example_is_none() -> None:
    assert make_report([row(n, {"f1": 1.0}, group=f"{n}") for n in range(3)]).groups == {}


def test_metrics_of_all_answers_together_are_counted_over_the_rows() -> None:
    rows = [row(n, {}, act={"text": text}) for n, text in enumerate(["a b", "b c", "c b"])]

    assert make_report(rows, "interdistinct-1").metrics["interdistinct-1"].value == pytest.approx(
        2 / 5  # "a" is an article
    )


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("episodes", [1, 2, 40])
def test_no_share_is_certain(value: float, episodes: int) -> None:
    found = clustered_mean([(n % episodes, value) for n in range(80)])

    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 0.04


def test_few_episodes_tell_less_than_many() -> None:
    def width(episodes: int) -> float:
        found = clustered_mean([(n % episodes, 1.0) for n in range(80)])
        assert found.low is not None
        return 1 - found.low

    assert width(2) > width(4) > width(40) > width(80)


def test_one_episode_of_several_turns_is_estimated_by_its_examples() -> None:
    found = clustered_mean([(0, 1.0), (0, 0.0), (0, 1.0), (0, 0.0)])

    assert found.method == "examples"
    assert found.error == pytest.approx(sqrt(0.25 / 3))
    assert found.low == pytest.approx(0.1500, abs=1e-4)  # Wilson, 2 of 4


def test_more_values_than_are_drawn_again_have_the_normal_interval() -> None:
    found = clustered_mean([(n, float(n % 3)) for n in range(3000)])

    assert found.value == pytest.approx(1.0)
    assert found.method == "normal"
    assert found.error == pytest.approx(sqrt(2 / 3 / 2999))


def of_two_tasks() -> list[ExampleRow]:
    return [
        *(
            row(n, {"f1": 1.0}, task="big", metrics={"ppl": ["PPLMetric", 0.0, 1]})
            for n in range(6)
        ),
        *(row(n, {"f1": 0.0}, task="small") for n in range(6, 8)),
    ]


@pytest.mark.parametrize(("aggregate", "value"), [("macro", 0.5), ("micro", 0.75)])
def test_several_tasks_are_aggregated_as_parlai_does(aggregate: Any, value: float) -> None:
    rows = of_two_tasks()
    parlai = aggregate_named_reports(
        {
            task: {"f1": F1Metric.from_sums(total, total, count), "exs": SumMetric(count)}
            for task, total, count in (("big", 6, 6), ("small", 0, 2))
        },
        micro_average=aggregate == "micro",
    )

    report = make_report(rows, aggregate=aggregate)

    assert report.metrics["f1"].value == value
    for name, metric in parlai.items():
        assert (found := report.find(name)) is not None
        assert found.value == metric.value()
    assert report.metrics["ppl"].value == 1
    assert report.aggregate == aggregate


def test_the_mean_of_tasks_has_an_interval() -> None:
    found = make_report(of_two_tasks()).metrics["f1"]

    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.5 < found.high < 1


def test_the_number_of_examples_is_a_metric() -> None:
    report = make_report([row(0, {"f1": 1.0}), row(1, {"f1": 0.0}, error="down")])

    assert report.metrics["exs"].value == 2


def test_groups_that_are_the_tasks_are_not_shown_twice() -> None:
    def groups(last: str) -> set[str]:
        tasks = ["a", "a", "b", "b"]
        names = ["a", "a", "b", last]
        pairs = enumerate(zip(tasks, names, strict=True))
        rows = [row(n, {"f1": 1.0}, task=task, group=name) for n, (task, name) in pairs]
        return set(make_report(rows).groups)

    assert groups("b") == set()
    assert groups("a") == {"a", "b"}
