"""Reports of several tasks, or several parts of one, made into one.

Source: ParlAI 1.7.2's aggregation. A report is a dictionary: name -> metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prolocutor.parlai.metrics.averages import MacroAverageMetric
from prolocutor.parlai.metrics.conversion import reported_metric
from prolocutor.parlai.metrics.metric import Metric, Number

Report = dict[str, Metric]


def aggregate_named_reports(
    named_reports: Mapping[str, Mapping[str, Any]], micro_average: bool = False
) -> Report:
    """Make one report of those of several tasks, which it holds too, as `task/name`.

    Over all tasks a mean is the mean of the tasks' figures (of those that have it), or with
    `micro_average` that of all examples; sums are summed; of global metrics the first is taken.
    One task alone is given without a prefix. Bare numbers count as `LegacyMetric`. `ValueError`
    if there are none.
    """
    if not named_reports:
        raise ValueError("there are no reports to aggregate")
    if len(named_reports) == 1:
        return aggregate_unnamed_reports(named_reports.values())
    whole: Report = {}
    macro: dict[str, Report] = {}
    for task, report in named_reports.items():
        for name, given in report.items():
            metric = reported_metric(given)
            if metric.is_global:
                whole.setdefault(name, metric)
                continue
            _add(whole, f"{task}/{name}", metric)
            if micro_average or not metric.macro_average:
                _add(whole, name, metric)
            else:
                macro.setdefault(name, {})[task] = metric
    whole.update((name, MacroAverageMetric(of_tasks)) for name, of_tasks in macro.items())
    return whole


def aggregate_unnamed_reports(reports: Iterable[Mapping[str, Any]]) -> Report:
    """Make one report of parts: the same as if all had been counted in one place."""
    whole: Report = {}
    for report in reports:
        for name, given in report.items():
            _add(whole, name, reported_metric(given))
    return whole


def dict_report(report: Mapping[str, Any]) -> dict[str, Number]:
    """Return a report as plain numbers."""
    return {name: one.value() if isinstance(one, Metric) else one for name, one in report.items()}


def _add(report: Report, name: str, metric: Metric) -> None:
    known = report.get(name)
    report[name] = metric if known is None else known + metric
