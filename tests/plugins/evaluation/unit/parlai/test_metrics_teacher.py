"""A teacher's metrics: what is reported of which act, under which name."""

import logging
from math import e
from typing import Any

import pytest

from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.evaluation.parlai.metrics import (
    AverageMetric,
    LegacyMetric,
    PPLMetric,
    SumMetric,
    TeacherMetrics,
    check_names,
    dict_report,
    observed_metric,
    reported_metric,
)

ALWAYS = {"exs", "accuracy", "precision", "recall", "f1"}
BLEU = {"bleu-1", "bleu-2", "bleu-3", "bleu-4"}
DISTINCT = {"interdistinct-1", "interdistinct-2", "intradistinct-1", "intradistinct-2"}
ROUGE = {"rouge_1", "rouge_2", "rouge_L"}
HITS = {"hits@1", "hits@5", "hits@10", "hits@100"}
HERE = "tests.plugins.evaluation.unit.parlai.measured"


@pytest.mark.parametrize(
    ("names", "reported"),
    [
        ("default", ALWAYS | {"bleu-4"}),
        ("f1", ALWAYS),
        ("", ALWAYS),
        ("bleu", ALWAYS | BLEU),
        ("distinct,bleu-2", ALWAYS | DISTINCT | {"bleu-2"}),
        (["default", "intradistinct-1"], ALWAYS | {"bleu-4", "intradistinct-1"}),
        ("all", ALWAYS | BLEU | DISTINCT),
        ("mrr", ALWAYS),
        ("rouge", ALWAYS | ROUGE),
        ("rouge-L", ALWAYS | {"rouge_L"}),
    ],
)
def test_a_list_of_names_chooses_what_is_reported(names: Any, reported: set[str]) -> None:
    assert observed({"text": "b"}, ["b"], names=names).keys() == reported


def test_an_act_without_text_counts_as_an_example_only() -> None:
    assert observed({}, ["b"]) == {"exs": 1}
    assert observed({"text": None}, ["b"]) == {"exs": 1}


def test_an_act_without_labels_keeps_what_needs_none() -> None:
    assert observed({"text": "b c"}, None, names="default,intradistinct-1") == {
        "exs": 1, "intradistinct-1": 1,
    }  # fmt: skip


def test_one_label_may_be_a_string() -> None:
    assert observed({"text": "yes"}, "yes", names="f1")["accuracy"] == 1


@pytest.mark.parametrize(
    ("candidates", "hits", "reciprocal"),
    [
        (["yes"], [1, 1, 1, 1], 1),
        (["no"] * 4 + ["Yes!", "yes"], [0, 1, 1, 1], 1 / 5),
        (["no"] * 9 + ["yes"], [0, 0, 1, 1], 1 / 10),
        (["no"] * 99 + ["yes"], [0, 0, 0, 1], 1 / 100),
        (["no"] * 100 + ["yes"], [0, 0, 0, 0], 1 / 101),
        ([], [0, 0, 0, 0], 0),
    ],
)
def test_candidates_are_scored_by_the_rank_of_the_first_right_one(
    candidates: list[str], hits: list[int], reciprocal: float
) -> None:
    report = observed({"text_candidates": candidates}, ["yes"], names="mrr")

    assert [report[f"hits@{most}"] for most in (1, 5, 10, 100)] == hits
    assert report["mrr"] == reciprocal
    assert report.keys() == HITS | {"exs", "mrr"}


def test_hits_are_averaged_over_the_examples_with_candidates() -> None:
    metrics = TeacherMetrics()
    metrics.evaluate_response({"text_candidates": ["yes"]}, ["yes"])
    metrics.evaluate_response({"text": "yes"}, ["yes"])

    report = dict_report(metrics.report())

    assert report["exs"] == 2
    assert report["hits@1"] == 1
    assert report["f1"] == 1


def test_an_agents_own_metrics_are_averaged_unless_they_are_metrics() -> None:
    metrics = TeacherMetrics()
    metrics.evaluate_response({"metrics": {"loss": 1, "tokens": SumMetric(3), "none": None}}, ["b"])
    metrics.evaluate_response({"metrics": {"loss": 2, "tokens": SumMetric(4)}}, ["b"])
    metrics.evaluate_response({"metrics": {"ppl": PPLMetric(4, 8)}}, ["b"])
    metrics.evaluate_response({"metrics": {"ppl": PPLMetric(4, 0)}}, ["b"])

    assert dict_report(metrics.report()) == pytest.approx(
        {"exs": 4, "loss": 1.5, "tokens": 7, "ppl": e}
    )


def test_an_agent_cannot_take_the_name_of_a_metric_of_ours() -> None:
    given = {"f1": 0.25, "bleu-1": 0.5, "rouge-L": 0.5, "interdistinct-2": 0.5, "hits@1": 0.5}

    report = observed({"text": "b", "metrics": given}, ["b"], names="f1")

    assert report == {
        "exs": 1, "accuracy": 1, "precision": 1, "recall": 1, "f1": 1, "USER_f1": 0.25,
        "USER_bleu-1": 0.5, "USER_rouge-L": 0.5, "USER_interdistinct-2": 0.5, "hits@1": 0.5,
    }  # fmt: skip


def test_unprotected_names_of_an_agent_are_averaged_with_ours() -> None:
    act = {"text_candidates": ["yes"], "metrics": {"hits@1": 0.5}}

    assert observed(act, ["yes"])["hits@1"] == 0.75


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(TypeError, match="not of str"):
        observed({"metrics": {"loss": "low"}}, ["b"])


def test_recent_metrics_are_those_since_they_were_cleared() -> None:
    metrics = TeacherMetrics("f1,interdistinct-1")
    metrics.evaluate_response({"text": "b b", "metrics": {"loss": 1}}, ["c"])
    metrics.clear_recent()
    metrics.evaluate_response({"text": "b c"}, ["b c"])
    one = dict_report(metrics.report_recent())
    metrics.evaluate_response({"text": "d d"}, ["c"])
    two = dict_report(metrics.report_recent())

    assert one["exs"] == 1
    assert one["f1"] == 1
    assert one["interdistinct-1"] == 1
    assert "loss" not in one
    assert two["exs"] == 2
    assert two["f1"] == 0.5
    assert two["interdistinct-1"] == 3 / 4
    assert dict_report(metrics.report())["exs"] == 3


def test_recent_scores_are_the_plain_numbers_of_the_latest_example() -> None:
    metrics = TeacherMetrics("f1")
    metrics.evaluate_response({"text": "b"}, ["c"])
    metrics.evaluate_response({"text": "b"}, ["b"])

    assert metrics.recent_scores() == {"accuracy": 1, "precision": 1, "recall": 1, "f1": 1}


def test_a_report_does_not_change_afterwards() -> None:
    metrics = TeacherMetrics("default,distinct")
    metrics.evaluate_response({"text": "b b"}, ["b"])
    report = metrics.report()
    before = dict_report(report)

    metrics.evaluate_response({"text": "c d"}, ["b"])

    assert dict_report(report) == before


def test_cleared_metrics_are_empty_for_all_that_share_them() -> None:
    metrics = TeacherMetrics("distinct")
    clone = TeacherMetrics("distinct", shared=metrics.share())
    clone.evaluate_response({"text": "b", "metrics": {"loss": 1}}, ["b"])

    metrics.clear()

    assert metrics.report() == {}
    assert clone.report() == {}


def test_a_users_function_is_reported_by_its_own_name() -> None:
    names = f"f1,{HERE}:length,{HERE}.same_length,{HERE}:f1"

    report = observed({"text": "four"}, ["five"], names=names)

    assert {name: report[name] for name in report.keys() - ALWAYS} == {
        "length": 4, "same_length": 1, f"{HERE}:f1": 0.5,
    }  # fmt: skip


def test_a_users_function_that_fails_is_counted_and_harms_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = TeacherMetrics(f"f1,{HERE}:failing,{HERE}:words")
    for guess in ("fine", "boom", "nan", "boom"):
        metrics.evaluate_response({"text": guess}, ["fine"])

    failures = {name: (one.count, one.first) for name, one in metrics.failures.items()}
    assert dict_report(metrics.report())["failing"] == 1
    assert failures == {
        "failing": (3, "LookupError: no such guess"),
        "words": (4, "MetricFault: a metric is made of numbers, not of list"),
    }
    assert len(caplog.records) == 2


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("no_such_module:f", "importing 'no_such_module' failed"),
        ("math:no_such", "no function 'no_such' in 'math'"),
        ("math:pi", "no function 'pi' in 'math'"),
        (":f", "is not a dotted name"),
        ("math.", "is not a dotted name"),
    ],
)
def test_a_function_that_cannot_be_had_is_refused(name: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        TeacherMetrics(name)


def test_an_unknown_name_is_left_out_with_a_word(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        report = observed({"text": "b"}, ["b"], names="f1,no-such-metric")

    assert report.keys() == ALWAYS
    assert "no metric 'no-such-metric'" in caplog.text


def test_names_can_be_checked_beforehand() -> None:
    check_names(f"default,bleu,distinct,all,mrr,hits@5,{HERE}:length")
    with pytest.raises(BadInput, match="did you mean 'accuracy'"):
        check_names("default,acuracy")


class ForeignAverage:
    """A mean as another package has it."""

    def __init__(self) -> None:
        self._numer, self._denom = 1, 4


class Opaque:
    """A metric whose parts are unknown."""

    def value(self) -> float:
        return 0.75


ForeignPPL = type("PPLMetric", (ForeignAverage,), {})
ForeignSum = type("SumMetric", (), {"_sum": 3})


def test_metrics_of_parlai_itself_become_ours() -> None:
    taken = [observed_metric(one) for one in (ForeignPPL(), ForeignSum(), Opaque(), 2)]

    assert [type(one) for one in taken] == [PPLMetric, SumMetric, AverageMetric, AverageMetric]
    assert [one.value() for one in taken] == [pytest.approx(e**0.25), 3, 0.75, 2]
    assert type(reported_metric(2)) is LegacyMetric


def observed(act: dict[str, Any], labels: Any, *, names: Any = "default") -> dict[str, float]:
    metrics = TeacherMetrics(metrics_list=names)
    metrics.evaluate_response(act, labels)
    return dict_report(metrics.report())


@pytest.mark.parametrize("names", ["default", "all"])
def test_the_report_of_one_example_is_that_of_a_run_of_one(names: str) -> None:
    metrics = TeacherMetrics(names)

    metrics.evaluate_response({"text": "a b c", "text_candidates": ["x", "a b"]}, ["a b"])

    recent, whole = metrics.report_recent(), metrics.report()
    assert [(name, type(one), one) for name, one in recent.items()] == [
        (name, type(one), one) for name, one in whole.items()
    ]
    assert recent["f1"].observations() == whole["f1"].observations() == 1
    doubled = recent["f1"] + whole["f1"]
    assert doubled.standard_error() == 0
