"""Scoring: the figures of one example, and what the rows of a run come to."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, Final

from prolocutor.evaluation.rows import Row
from prolocutor.parlai.metrics import averages, metric
from prolocutor.parlai.metrics.conversion import observed_metric
from prolocutor.parlai.metrics.metric import Metric
from prolocutor.parlai.metrics.names import ALL_METRICS, check_names
from prolocutor.parlai.metrics.reports import Report
from prolocutor.parlai.metrics.teacher_metrics import TeacherMetrics

Scores = dict[str, float | None]
Kept = dict[str, list[Any]]
"""An agent's own metrics as JSON: name -> class and parts."""

_PARTS: Final = (("_numer", "_denom"), ("_sum",), ("_value", "_start", "_end"), ("_value",))


class TeacherScorer:
    """Scores acts as ParlAI's teachers do; `metrics` are names with commas between them."""

    def __init__(self, metrics: str = "default") -> None:
        check_names(metrics)
        self.metrics = metrics
        self._scored = TeacherMetrics(metrics)

    def score(self, message: Mapping[str, Any], act: Mapping[str, Any]) -> Scores:
        """Give the figures of one example by name."""
        labels = message.get("eval_labels")
        if labels is None:
            labels = message.get("labels")
        self._scored.clear_recent()
        self._scored.evaluate_response(act, labels)
        scores: Scores = {}
        for name, value in self._scored.recent_scores().items():
            scores[name] = value if isfinite(value) else None
        return scores

    def rescored(self, row: Row) -> Row:
        """Give a row its figures anew, from what was kept of it."""
        act = row.act if row.error is None else {"text": ""}
        row.scores = self.score(row.input, act)
        return row

    def report(self) -> Report:
        """Give the metrics over all that was scored."""
        return self._scored.report()


def kept_metrics(act: Mapping[str, Any]) -> Kept:
    """Give what an act's field `metrics` holds in a form that a row can keep."""
    given = act.get("metrics")
    if not isinstance(given, Mapping):
        return {}
    kept = {}
    for name, value in given.items():
        if value is not None:
            own = observed_metric(value)
            for parts in _PARTS:
                if all(hasattr(own, part) for part in parts):
                    known = f"USER_{name}" if name in ALL_METRICS else str(name)
                    kept[known] = [_class_name(own), *(getattr(own, part) for part in parts)]
                    break
    return kept


def own_report(rows: Iterable[Row]) -> Report:
    """Add up the metrics that agents gave of themselves."""
    report: Report = {}
    for row in rows:
        for name, (kind, *parts) in row.metrics.items():
            one = _KINDS[kind](*parts)
            known = report.get(name)
            report[name] = one if known is None else known + one
    return report


def needs_corpus(metrics: str) -> bool:
    """Tell whether some of the metrics are of all answers together."""
    return any(name.startswith(("interdistinct", "distinct", "all")) for name in _names(metrics))


def _names(metrics: str) -> Sequence[str]:
    return [name.strip() for name in metrics.split(",")]


def _class_name(own: Metric) -> str:
    return next(one.__name__ for one in type(own).__mro__ if one.__name__ in _KINDS)


_KINDS: Final[Mapping[str, type[Metric]]] = {
    name: kind
    for module in (metric, averages)
    for name, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, Metric) and kind is not Metric and name != "MacroAverageMetric"
}
