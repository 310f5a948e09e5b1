"""The metrics give ParlAI's own numbers: vectors computed by ParlAI 1.7.2."""

import json
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from prolocutor.plugins.evaluation.parlai.metrics import (
    AverageMetric,
    Metric,
    SumMetric,
    TeacherMetrics,
    aggregate_named_reports,
    aggregate_unnamed_reports,
    normalize_answer,
)

VECTORS = Path(__file__).parents[6] / "shared" / "data" / "parlai"

if not VECTORS.is_dir():
    pytest.skip("ParlAI vectors (../shared/data/parlai is absent)", allow_module_level=True)

EXAMPLES, TASKS = (
    [json.loads(line) for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()]
    for name in ("metrics.jsonl", "aggregate.jsonl")
)


def test_the_guesses_normalise_as_in_parlai() -> None:
    assert [normalize_answer(one["guess"]) for one in EXAMPLES] == [
        one["normalized"] for one in EXAMPLES
    ]


def test_the_reports_of_single_examples_are_parlais() -> None:
    wrong = []
    for number, example in enumerate(EXAMPLES):
        metrics = TeacherMetrics(metrics_list="default,bleu,distinct")
        metrics.evaluate_response(act(example), example["answers"])
        for report in (metrics.report(), metrics.report_recent()):
            wrong += [(number, *fault) for fault in differences(report, example["report"])]

    assert wrong == []


def test_the_means_over_all_examples_are_the_means_of_parlais() -> None:
    metrics = TeacherMetrics(metrics_list="default,bleu")
    for example in EXAMPLES:
        metrics.evaluate_response(act(example), example["answers"])

    assert differences(metrics.report(), means_of([one["report"] for one in EXAMPLES])) == []


def test_aggregation_over_tasks_is_parlais() -> None:
    wrong = []
    for number, vector in enumerate(TASKS):
        tasks = {task: metrics_of(report) for task, report in vector["tasks"].items()}
        for name, report in (
            ("macro", aggregate_named_reports(tasks)),
            ("micro", aggregate_named_reports(tasks, micro_average=True)),
            ("unnamed", aggregate_unnamed_reports(tasks.values())),
        ):
            expected = {key: float(value) for key, value in vector[name].items()}
            wrong += [(number, name, *fault) for fault in differences(report, expected)]

    assert wrong == []


def act(example: dict[str, Any]) -> dict[str, Any]:
    candidates = example["text_candidates"]
    given = {} if candidates is None else {"text_candidates": candidates}
    return {"text": example["guess"], **given}


def metrics_of(report: dict[str, list[float]]) -> dict[str, Metric]:
    return {
        name: SumMetric(*parts) if len(parts) == 1 else AverageMetric(*parts)
        for name, parts in report.items()
    }


def means_of(reports: list[dict[str, float]]) -> dict[str, float]:
    names = {name for report in reports for name in report if "distinct" not in name}
    known = {name: [report[name] for report in reports if name in report] for name in names}
    means = {name: sum(values) / len(values) for name, values in known.items()}
    return means | {"exs": float(len(reports))}


def differences(
    report: Mapping[str, Metric], expected: Mapping[str, float]
) -> list[tuple[str, float | None, float | None]]:
    found = {name: float(metric) for name, metric in report.items()}
    return [
        (name, found.get(name), expected.get(name))
        for name in found.keys() | expected.keys()
        if not same(found.get(name), expected.get(name))
    ]


def same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return False
    if isnan(one) or isnan(other):
        return isnan(one) and isnan(other)
    return one == other or abs(one - other) <= 1e-9 * max(abs(one), abs(other))
