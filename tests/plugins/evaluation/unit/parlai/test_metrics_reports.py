"""Reports of tasks and parts become one."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.evaluation.parlai.metrics import (
    AverageMetric,
    GlobalSumMetric,
    LegacyMetric,
    Metric,
    SumMetric,
    TeacherMetrics,
    aggregate_named_reports,
    aggregate_unnamed_reports,
    dict_report,
)

TEXT = st.lists(st.sampled_from(["b", "c", "d", "e", "the"]), max_size=6).map(" ".join)
EXAMPLE = st.tuples(
    st.fixed_dictionaries(
        {}, optional={"text": TEXT, "text_candidates": st.lists(TEXT, max_size=8)}
    ),
    st.lists(TEXT, min_size=1, max_size=3),
)
EXAMPLES = st.lists(EXAMPLE, max_size=12)
NAMES = "default,bleu,distinct,mrr"


@pytest.mark.slow
@given(first=EXAMPLES, second=EXAMPLES, third=EXAMPLES)
def test_merged_reports_of_parts_are_the_report_of_the_whole(
    first: list[Any], second: list[Any], third: list[Any]
) -> None:
    parts = [evaluated(part).report() for part in (first, second, third)]
    sent = [pickle.loads(pickle.dumps(part)) for part in parts]

    assert_same(aggregate_unnamed_reports(sent), evaluated([*first, *second, *third]).report())


@pytest.mark.slow
@given(first=EXAMPLES, second=EXAMPLES)
def test_sharers_report_what_all_of_them_saw(first: list[Any], second: list[Any]) -> None:
    original = TeacherMetrics(metrics_list=NAMES)
    clone = TeacherMetrics(metrics_list=NAMES, shared=original.share())

    evaluated(second, clone)
    evaluated(first, original)

    assert_same(original.report(), evaluated([*first, *second]).report())
    assert_same(clone.report(), original.report())


@pytest.mark.slow
@given(first=EXAMPLES, second=EXAMPLES)
def test_added_metrics_count_as_seen(first: list[Any], second: list[Any]) -> None:
    metrics = evaluated(first)

    metrics.add_metrics(evaluated(second))

    assert_same(metrics.report(), evaluated([*first, *second]).report())


@pytest.mark.slow
@given(tasks=st.lists(EXAMPLES, min_size=2, max_size=4))
def test_the_micro_average_over_tasks_is_that_of_all_examples(tasks: list[list[Any]]) -> None:
    named = {f"t{number}": evaluated(task).report() for number, task in enumerate(tasks)}

    whole = aggregate_named_reports(named, micro_average=True)

    together = evaluated([example for task in tasks for example in task]).report()
    assert_same({name: whole[name] for name in together}, together)
    assert {name for name in whole if "/" in name} == {
        f"{task}/{name}" for task, report in named.items() for name in report
    }


def test_tasks_are_averaged_or_summed_or_the_first_is_taken() -> None:
    report = aggregate_named_reports(
        {
            "t": {"exs": SumMetric(3), "f1": AverageMetric(1, 4), "lr": 0.5},
            "u": {"exs": SumMetric(1), "f1": AverageMetric(1), "lr": 9, "n": GlobalSumMetric(7)},
        }
    )

    assert dict_report(report) == {
        "t/exs": 3, "u/exs": 1, "exs": 4, "t/f1": 0.25, "u/f1": 1, "f1": 0.625, "lr": 0.5, "n": 7,
    }  # fmt: skip
    assert isinstance(report["lr"], LegacyMetric)


def test_one_task_is_given_without_a_prefix() -> None:
    assert dict_report(aggregate_named_reports({"t": {"f1": AverageMetric(1, 4)}})) == {"f1": 0.25}


def test_no_reports_cannot_be_aggregated() -> None:
    with pytest.raises(ValueError, match="no reports"):
        aggregate_named_reports({})


def test_plain_numbers_stay_in_a_plain_report() -> None:
    assert dict_report({"f1": AverageMetric(1, 4), "lr": 3}) == {"f1": 0.25, "lr": 3}


def evaluated(examples: list[Any], metrics: TeacherMetrics | None = None) -> TeacherMetrics:
    metrics = metrics or TeacherMetrics(metrics_list=NAMES)
    for act, labels in examples:
        metrics.evaluate_response(act, labels)
    return metrics


def assert_same(found: dict[str, Metric], expected: dict[str, Metric]) -> None:
    assert dict_report(found) == pytest.approx(dict_report(expected), rel=1e-12)
    assert {name: type(one) for name, one in found.items()} == {
        name: type(one) for name, one in expected.items()
    }
    errors = {name: one.standard_error() for name, one in expected.items()}
    assert {name: one.standard_error() for name, one in found.items()} == {
        name: error if error is None else pytest.approx(error, abs=1e-7)
        for name, error in errors.items()
    }
