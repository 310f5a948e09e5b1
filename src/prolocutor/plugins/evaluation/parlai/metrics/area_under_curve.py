"""The area under the ROC curve of a classifier (ParlAI's `-auc`), by counts of probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any, Final

from prolocutor.plugins.evaluation.parlai.metrics.metric import Metric, MetricFault, Number

DIGITS: Final = 3
"""Decimal places of probabilities."""


class AUCMetrics(Metric):
    """The area under the ROC curve of a class; probabilities are cut to some decimal places.

    More places (`max_bucket_dec_places`) are more exact and take more memory. Where all examples
    have the same class the area is 0.
    """

    __slots__ = ("_class", "_digits", "_negative", "_positive")

    def __init__(
        self,
        class_name: int | str,
        max_bucket_dec_places: int = DIGITS,
        pos_dict: Mapping[float, int] | None = None,
        neg_dict: Mapping[float, int] | None = None,
    ) -> None:
        self._class = class_name
        self._digits = max_bucket_dec_places
        self._positive: Counter[float] = Counter(pos_dict or {})
        self._negative: Counter[float] = Counter(neg_dict or {})

    @classmethod
    def raw_data_to_auc(
        cls,
        true_labels: Sequence[int | str],
        pos_probs: Sequence[float],
        class_name: int | str,
        max_bucket_dec_places: int = DIGITS,
    ) -> AUCMetrics:
        """Make the metric of examples: their labels, and the probabilities of the class."""
        made = cls(class_name, max_bucket_dec_places)
        made.update_raw(true_labels, pos_probs, class_name)
        return made

    def update_raw(
        self,
        true_labels: Sequence[int | str],
        pos_probs: Sequence[float],
        class_name: int | str,
    ) -> None:
        """Count further examples."""
        if class_name != self._class or len(true_labels) != len(pos_probs):
            raise MetricFault("as many probabilities as labels, of the metric's own class")
        scale = 10**self._digits
        for label, probability in zip(true_labels, pos_probs, strict=True):
            counts = self._positive if label == self._class else self._negative
            counts[floor(self.as_float(probability) * scale) / scale] += 1

    def __add__(self, other: Any) -> AUCMetrics:
        if other is None:
            return self
        if not isinstance(other, AUCMetrics) or other._class != self._class:
            raise MetricFault(f"the curve of {self._class!r:.80} takes no other class")
        return AUCMetrics(
            self._class,
            self._digits,
            self._positive + other._positive,
            self._negative + other._negative,
        )

    def value(self) -> Number:
        positives, negatives = self._positive.total(), self._negative.total()
        if not positives or not negatives:
            return 0
        area = 0.0
        found = 0  # positives at least as probable as the threshold before
        for threshold in sorted({*self._positive, *self._negative}, reverse=True):
            more = self._positive[threshold]
            area += self._negative[threshold] * (found + more / 2)
            found += more
        return area / (positives * negatives)
