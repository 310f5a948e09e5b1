"""A tally: running totals by name, from which a report is made.

For speed, scores of examples are added up as plain numbers and become metrics only in a report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import isnan
from typing import Any, Final

from prolocutor.plugins.evaluation.parlai.metrics.averages import AverageMetric
from prolocutor.plugins.evaluation.parlai.metrics.metric import Metric, SumMetric
from prolocutor.plugins.evaluation.parlai.metrics.reports import Report
from prolocutor.plugins.evaluation.parlai.metrics.score_functions import FunctionFailure
from prolocutor.plugins.evaluation.parlai.metrics.text_metrics import (
    BleuMetric,
    ExactMatchMetric,
    F1Metric,
    Gram,
    InterDistinctMetric,
    IntraDistinctMetric,
    RougeMetric,
)

_CLASSES: Final[dict[str, type[AverageMetric]]] = {
    "accuracy": ExactMatchMetric,
    **dict.fromkeys(("precision", "recall", "f1"), F1Metric),
    **dict.fromkeys((f"bleu-{order}" for order in range(1, 5)), BleuMetric),
    **dict.fromkeys(("rouge_1", "rouge_2", "rouge_L"), RougeMetric),
    **dict.fromkeys(("intradistinct-1", "intradistinct-2"), IntraDistinctMetric),
}

_ONE: Final = SumMetric(1)


class Tally:
    """Running totals of examples, scores, n-grams and metrics."""

    __slots__ = ("examples", "failures", "grams", "metrics", "sums")

    def __init__(self) -> None:
        self.examples = 0
        self.sums: dict[str, list[float]] = {}
        """Name -> sum, sum of squares, number of the scores."""
        self.grams: dict[str, Counter[Gram]] = {}
        self.metrics: Report = {}
        self.failures: dict[str, FunctionFailure] = {}

    def add_example(self, scores: Mapping[str, float]) -> None:
        """Count one example with its scores."""
        self.examples += 1
        sums = self.sums
        for name, score in scores.items():
            if name in sums:
                cell = sums[name]
                cell[0] += score
                cell[1] += score * score
                cell[2] += 1
            else:
                sums[name] = [score, score * score, 1]

    def add_grams(self, name: str, grams: Iterable[Gram]) -> None:
        """Count n-grams, at a cost independent of earlier n-grams."""
        self.grams.setdefault(name, Counter()).update(grams)

    def add_metric(self, name: str, metric: Metric) -> None:
        """Add a metric to the total of its name."""
        known = self.metrics.get(name)
        self.metrics[name] = metric if known is None else known + metric

    def add_failure(self, name: str, what: str) -> bool:
        """Count a failure of a user's function; True if it is the first."""
        known = self.failures.get(name)
        if known is None:
            self.failures[name] = FunctionFailure(what)
            return True
        known.count += 1
        return False

    def report(self) -> Report:
        """Return everything as metrics, which do not change with the tally afterwards."""
        report: Report = {"exs": SumMetric(self.examples)} if self.examples else {}
        for name, (total, squares, count) in self.sums.items():
            report[name] = _CLASSES.get(name, AverageMetric).from_sums(total, squares, int(count))
        for name, grams in self.grams.items():
            report[name] = InterDistinctMetric(grams.copy())
        for name, metric in self.metrics.items():
            known = report.get(name)
            report[name] = metric if known is None else known + metric
        return report

    def is_empty(self) -> bool:
        """Return whether there is nothing to report."""
        return not (self.examples or self.metrics or self.grams)

    def clear(self) -> None:
        """Forget everything."""
        self.examples = 0
        for part in (self.sums, self.grams, self.metrics, self.failures):
            part.clear()


def report_of_example(scores: Mapping[str, float]) -> Report:
    """Return the report of a tally of this single example."""
    report: Report = {"exs": _ONE}
    class_of = _CLASSES.get
    for name, score in scores.items():
        report[name] = class_of(name, AverageMetric)(score)
    return report


def checked_score(value: Any) -> float:
    """Return the result of a user's function as a number; raise `TypeError` or `ValueError`
    otherwise.
    """
    number = AverageMetric.as_number(value)
    if isnan(number):
        raise ValueError("it gave nan")
    return number
