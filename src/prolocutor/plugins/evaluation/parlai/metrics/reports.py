"""Reports, name -> metric: agents' metrics converted to ours, and several reports aggregated.

Source: ParlAI 1.7.2's aggregation. ParlAI's own metric objects are read by their parts, so that
agents written for ParlAI report here without a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from prolocutor.plugins.evaluation.parlai.metrics.averages import (
    AverageMetric,
    GlobalAverageMetric,
    LegacyMetric,
    MacroAverageMetric,
    PPLMetric,
)
from prolocutor.plugins.evaluation.parlai.metrics.metric import (
    FixedMetric,
    GlobalFixedMetric,
    GlobalSumMetric,
    GlobalTimerMetric,
    Metric,
    Number,
    SumMetric,
    TimerMetric,
)

Report = dict[str, Metric]

_MEAN: Final = ("_numer", "_denom")
_TIMER: Final = ("_value", "_start", "_end")
_PARTS: Final[dict[str, tuple[type[Metric], tuple[str, ...]]]] = {
    "AverageMetric": (AverageMetric, _MEAN),
    "FixedMetric": (FixedMetric, ("_value",)),
    "GlobalAverageMetric": (GlobalAverageMetric, _MEAN),
    "GlobalFixedMetric": (GlobalFixedMetric, ("_value",)),
    "GlobalSumMetric": (GlobalSumMetric, ("_sum",)),
    "GlobalTimerMetric": (GlobalTimerMetric, _TIMER),
    "LegacyMetric": (LegacyMetric, _MEAN),
    "PPLMetric": (PPLMetric, _MEAN),
    "SumMetric": (SumMetric, ("_sum",)),
    "TimerMetric": (TimerMetric, _TIMER),
}


def aggregate_named_reports(
    named_reports: Mapping[str, Mapping[str, Any]], micro_average: bool = False
) -> Report:
    """Aggregate the reports of several tasks; the result also holds each figure as `task/name`.

    Over all tasks a mean is the mean of the tasks' figures (where they have it), or with
    `micro_average` the mean of all examples; sums are added; the first global metric is taken. A
    single task's report has no prefix. Bare numbers count as `LegacyMetric`. Raise `ValueError`
    without reports.
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
    """Add up the reports of parts, as if all examples had been counted in one place."""
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


def observed_metric(given: Any) -> Metric:
    """Return a value of an act's field `metrics` as a metric; a number is averaged over examples.

    Raise `TypeError` for any other value.
    """
    return given if isinstance(given, Metric) else _foreign(given) or AverageMetric(given)


def reported_metric(given: Any) -> Metric:
    """Return a value of an agent's report as a metric; a number is global, a `LegacyMetric`.

    Raise `TypeError` for any other value.
    """
    return given if isinstance(given, Metric) else _foreign(given) or LegacyMetric(given)


def _foreign(given: Any) -> Metric | None:
    """Return a metric of ParlAI, or of a class derived from it, as ours of the nearest class."""
    for ancestor in type(given).__mro__:
        ours, parts = _PARTS.get(ancestor.__name__, (None, ()))
        if ours and all(hasattr(given, part) for part in parts):
            return ours(*(getattr(given, part) for part in parts))
    value = getattr(given, "value", None)
    return AverageMetric(value()) if callable(value) else None
