"""The metrics of a teacher: every observed act is scored against the labels and added up.

Numbers and names are from ParlAI 1.7.2's `TeacherMetrics`; ours are computed only when requested by
name (`names.py`). Beyond ParlAI: labels may be one string, or None, which leaves only the metrics
that need no labels.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import isnan
from typing import Any, Final

from prolocutor.errors import MissingExtra
from prolocutor.plugins.evaluation.parlai.metrics.area_under_curve import AUCMetrics
from prolocutor.plugins.evaluation.parlai.metrics.averages import AverageMetric
from prolocutor.plugins.evaluation.parlai.metrics.metric import Metric, SumMetric
from prolocutor.plugins.evaluation.parlai.metrics.names import ALL_METRICS, requested_metrics
from prolocutor.plugins.evaluation.parlai.metrics.reports import Report, observed_metric
from prolocutor.plugins.evaluation.parlai.metrics.rouge import ROUGES, rouge_scores
from prolocutor.plugins.evaluation.parlai.metrics.score_functions import FunctionFailure
from prolocutor.plugins.evaluation.parlai.metrics.text_metrics import (
    BleuMetric,
    ExactMatchMetric,
    F1Metric,
    Gram,
    InterDistinctMetric,
    IntraDistinctMetric,
    RougeMetric,
    intra_distinct,
    ngrams,
)
from prolocutor.plugins.evaluation.parlai.metrics.text_scores import (
    best_overlap,
    bleu_scores,
    normal_words,
    rank_of_first,
)

_CLASSES: Final[dict[str, type[AverageMetric]]] = {
    "accuracy": ExactMatchMetric,
    **dict.fromkeys(("precision", "recall", "f1"), F1Metric),
    **dict.fromkeys((f"bleu-{order}" for order in range(1, 5)), BleuMetric),
    **dict.fromkeys(("rouge_1", "rouge_2", "rouge_L"), RougeMetric),
    **dict.fromkeys(("intradistinct-1", "intradistinct-2"), IntraDistinctMetric),
}

_ONE: Final = SumMetric(1)

log = logging.getLogger(__name__)


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
        """Count an example with its scores."""
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


class Metrics:
    """Metrics by name: added up over everything, and over the latest example alone."""

    def __init__(self, threadsafe: bool = False, shared: Mapping[str, Any] | None = None) -> None:
        self._all: Tally = shared["data"] if shared and "data" in shared else Tally()
        self._recent = Tally()
        self._latest: dict[str, float] | None = None  # not yet in `_recent`

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.report()!r})"

    def add(self, key: str, value: Metric | None) -> None:
        """Add a metric to the total under `key`; None adds nothing."""
        if value is not None:
            self._all.add_metric(key, value)
            self._recent.add_metric(key, value)

    def report(self) -> Report:
        """Return the metrics over all acts so far, including those of sharing instances."""
        return self._all.report()

    def report_recent(self) -> Report:
        """Return the metrics since `clear_recent`."""
        if self._latest is not None and self._recent.is_empty():
            return report_of_example(self._latest)
        self._settle()
        return self._recent.report()

    def recent_scores(self) -> dict[str, float]:
        """Return the scores of the latest example as plain numbers: quicker than `report_recent`.

        Agents' own metrics and corpus metrics are left out.
        """
        return dict(self._latest or {})

    def clear_recent(self) -> None:
        """Forget the latest example."""
        self._latest = None
        if not self._recent.is_empty():
            self._recent.clear()

    def clear(self) -> None:
        """Reset all totals, including those of sharing instances."""
        self._all.clear()
        self.clear_recent()

    def share(self) -> dict[str, Any]:
        """Return the argument `shared` for another instance that adds to the same totals."""
        return {"data": self._all}

    def add_metrics(self, other: Metrics) -> None:
        """Add all metrics of another instance."""
        for name, metric in other.report().items():
            self.add(name, metric)

    def _settle(self) -> None:
        if self._latest is not None:
            self._recent.add_example(self._latest)
            self._latest = None


class TeacherMetrics(Metrics):
    """Scores of acts against labels: texts, rankings, and agents' own metrics."""

    def __init__(
        self,
        metrics_list: str | Iterable[str] = "default",
        shared: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(shared=shared)
        self.eval_pr = [1, 5, 10, 100]
        self._wanted = wanted = requested_metrics(metrics_list)
        self._beyond_labels = bool(wanted.intra_distinct or wanted.inter_distinct)
        for name in wanted.unknown:
            _warn(f"there is no metric {name!r}: it is left out")
        self._rouge = _keep_computable(wanted.rouge)

    @property
    def failures(self) -> dict[str, FunctionFailure]:
        """Failures of users' functions: name -> number of failures and the first failure."""
        return self._all.failures

    def evaluate_response(
        self, observation: Mapping[str, Any], labels: Sequence[str] | None
    ) -> None:
        """Score an act (`text`, `text_candidates`, `metrics`) against the labels."""
        if self._latest is not None:
            self._settle()
        if isinstance(labels, str):
            labels = [labels]
        scores: dict[str, float] = {}
        guess = observation.get("text")
        if guess is not None:
            words = normal_words(guess)
            if labels is not None:
                self._score_text(guess, words, labels, scores)
            if self._beyond_labels:
                self._score_words(words, scores)
            if self._wanted.functions and labels is not None:
                self._call_functions(guess, labels, scores)
        candidates = observation.get("text_candidates")
        if candidates is not None and labels is not None:
            self._score_ranking(candidates, labels, scores)
            if self._wanted.auc is not None and "probs" in observation:
                self._count_classes(candidates, observation["probs"], labels, self._wanted.auc)
        self._all.add_example(scores)
        self._latest = scores
        if "metrics" in observation:
            self._take_metrics(observation["metrics"])

    def _score_text(
        self, guess: str, words: list[str], labels: Sequence[str], scores: dict[str, float]
    ) -> None:
        texts = [words if label == guess else normal_words(label) for label in labels]
        if words in texts:
            precision = recall = f1 = 1.0 if words else 0.0
            scores["accuracy"] = 1.0
        else:
            precision, recall, f1 = best_overlap(words, texts)
            scores["accuracy"] = 0.0
        scores["precision"], scores["recall"], scores["f1"] = precision, recall, f1
        if self._rouge and labels:
            found = dict(zip(ROUGES.values(), rouge_scores(guess, labels) or (), strict=True))
            scores.update((name, found[name]) for name in self._rouge)
        orders = self._wanted.bleu
        if orders and texts:
            for order, score in zip(orders, bleu_scores(words, texts, orders), strict=True):
                scores[f"bleu-{order}"] = score

    def _score_words(self, words: list[str], scores: dict[str, float]) -> None:
        for order in self._wanted.inter_distinct:
            grams = ngrams(words, order)
            self._all.add_grams(f"interdistinct-{order}", grams)
            self._recent.add_grams(f"interdistinct-{order}", grams)
        for order in self._wanted.intra_distinct:
            scores[f"intradistinct-{order}"] = intra_distinct(words, order)

    def _call_functions(self, guess: str, labels: Sequence[str], scores: dict[str, float]) -> None:
        for name, function in self._wanted.functions:
            try:
                value = function(guess, list(labels))
                if value is not None:
                    scores[name] = checked_score(value)
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                if self._all.add_failure(name, what):
                    log.warning("the metric %s failed: %s", name, what)

    def _score_ranking(
        self, candidates: Iterable[str], labels: Sequence[str], scores: dict[str, float]
    ) -> None:
        mrr = self._wanted.mrr
        rank = rank_of_first(candidates, labels, within=None if mrr else max(self.eval_pr))
        for most in self.eval_pr:
            scores[f"hits@{most}"] = 1.0 if rank is not None and rank <= most else 0.0
        if mrr:
            scores["mrr"] = 1 / rank if rank else 0.0

    def _count_classes(
        self, classes: Iterable[str], probabilities: Any, labels: Sequence[str], digits: int
    ) -> None:
        """Count a classifier's probabilities of all classes for the areas under their curves."""
        for name, probability in zip(classes, probabilities, strict=True):
            label = name if name in labels else ""
            self.add(
                f"AUC_{name}", AUCMetrics.raw_data_to_auc([label], [probability], name, digits)
            )

    def _take_metrics(self, given: Mapping[str, Any]) -> None:
        """Take an agent's own metrics; metrics with a name of ours become `USER_<name>`."""
        for name, value in given.items():
            if value is not None:
                self.add(f"USER_{name}" if name in ALL_METRICS else name, observed_metric(value))


def _keep_computable(rouge: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names; empty, with ParlAI's warning, if rouge cannot be computed."""
    if rouge:
        try:
            rouge_scores("", ())
        except MissingExtra as missing:
            _warn(str(missing))
            return ()
    return rouge


@cache
def _warn(what: str) -> None:
    """Say it once."""
    log.warning(what)
