"""Scoring: the scores of an example, and the agents' own metrics."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, Final

from prolocutor.errors import BadReply
from prolocutor.plugins.evaluation.example_rows import ExampleRow
from prolocutor.plugins.evaluation.parlai.metrics import averages, metric
from prolocutor.plugins.evaluation.parlai.metrics.metric import Metric
from prolocutor.plugins.evaluation.parlai.metrics.names import (
    ALL_METRICS,
    ALWAYS,
    HITS,
    check_names,
    requested_metrics,
)
from prolocutor.plugins.evaluation.parlai.metrics.reports import Report, observed_metric
from prolocutor.plugins.evaluation.parlai.metrics.teacher_metrics import TeacherMetrics

Scores = dict[str, float | None]
OwnMetricParts = dict[str, list[Any]]
"""An agent's own metrics as JSON: name -> class and parts."""

_PARTS: Final = (("_numer", "_denom"), ("_sum",), ("_value", "_start", "_end"), ("_value",))

_KINDS: Final[Mapping[str, type[Metric]]] = {
    name: kind
    for module in (metric, averages)
    for name, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, Metric) and kind is not Metric and name != "MacroAverageMetric"
}


class TeacherScorer:
    """Scores acts as ParlAI's teachers do; `metrics` are names with commas between them."""

    def __init__(self, metrics: str = "default") -> None:
        check_names(metrics)
        self.metrics = metrics
        self._scored = TeacherMetrics(metrics)

    def score(self, message: Mapping[str, Any], act: Mapping[str, Any]) -> Scores:
        """Return the scores of one example by name; None for values that are not finite numbers."""
        labels = message.get("eval_labels")
        if labels is None:
            labels = message.get("labels")
        self._scored.clear_recent()
        self._scored.evaluate_response(act, _texts(labels))
        scores: Scores = {}
        for name, value in self._scored.recent_scores().items():
            scores[name] = value if isfinite(value) else None
        return scores

    def rescore(self, row: ExampleRow) -> ExampleRow:
        """Replace the scores of a row, and return it."""
        act = row.act if row.error is None else {"text": ""}
        row.scores = self.score(row.input, act)
        return row

    def report(self) -> Report:
        """Return the metrics over all scored acts."""
        return self._scored.report()


def plain_act(act: Mapping[str, Any]) -> dict[str, Any]:
    """Return an act with its candidates as a list; raise `BadReply` if it cannot be scored.

    An iterator of candidates is read here, before it is scored and stored.
    """
    plain = dict(act)
    text, candidates = plain.get("text"), plain.get("text_candidates")
    if text is not None and not isinstance(text, str):
        raise BadReply(f"the act's text is of type {type(text).__name__}, not a text")
    if candidates is not None:
        if isinstance(candidates, str | bytes) or not isinstance(candidates, Iterable):
            kind = type(candidates).__name__
            raise BadReply(f"the act's text_candidates are of type {kind}, not a list of texts")
        plain["text_candidates"] = given = list(candidates)
        for one in given:
            if not isinstance(one, str):
                kind = type(one).__name__
                raise BadReply(f"one of the act's text_candidates is of type {kind}, not a text")
    return plain


def read_own_metrics(act: Mapping[str, Any]) -> OwnMetricParts:
    """Return the act's field `metrics` as JSON; raise `BadReply` for values other than numbers."""
    given = act.get("metrics")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadReply(f"the act's metrics are of type {type(given).__name__}, not a dictionary")
    kept = {}
    for name, value in given.items():
        if value is not None:
            own = _own_metric(name, value)
            for parts in _PARTS:
                if all(hasattr(own, part) for part in parts):
                    known = f"USER_{name}" if name in ALL_METRICS else str(name)
                    kept[known] = [_class_name(own), *(getattr(own, part) for part in parts)]
                    break
    return kept


def _own_metric(name: str, value: Any) -> Metric:
    """Return a metric of an agent; raise `BadReply` unless it is finite."""
    try:
        own = observed_metric(value)
        finite = isfinite(own.value())
    except Exception:
        raise BadReply(f"the act's metric {name!r} is not a number: {value!r:.100}") from None
    if not finite:
        raise BadReply(f"the act's metric {name!r} is {own.value()}")
    return own


def _texts(labels: Any) -> list[str] | None:
    """Return labels as texts; data may have numbers."""
    if labels is None:
        return None
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        return [str(labels)]
    return [label if isinstance(label, str) else str(label) for label in labels]


class OwnMetrics:
    """The sums of agents' own metrics."""

    def __init__(self) -> None:
        self.report: Report = {}

    def add(self, row: ExampleRow) -> None:
        """Add the metrics of a row."""
        for name, (kind, *parts) in row.metrics.items():
            one = _KINDS[kind](*parts)
            known = self.report.get(name)
            self.report[name] = one if known is None else known + one


def needs_corpus(metrics: str) -> bool:
    """Return whether some of the metrics are computed over all answers together."""
    return any(name.startswith(("interdistinct", "distinct", "all")) for name in _names(metrics))


def possible_scores(metrics: str) -> frozenset[str]:
    """Return the names of all scores that these metrics can give."""
    wanted = requested_metrics(metrics)
    orders = {
        "bleu": wanted.bleu,
        "interdistinct": wanted.inter_distinct,
        "intradistinct": wanted.intra_distinct,
    }
    return frozenset(
        (
            *ALWAYS,
            *HITS,
            *(f"{kind}-{order}" for kind, found in orders.items() for order in found),
            *(name for name, _ in wanted.functions),
            *(("mrr",) if wanted.mrr else ()),
        )
    )


def _names(metrics: str) -> Sequence[str]:
    return [name.strip() for name in metrics.split(",")]


def _class_name(own: Metric) -> str:
    return next(one.__name__ for one in type(own).__mro__ if one.__name__ in _KINDS)
