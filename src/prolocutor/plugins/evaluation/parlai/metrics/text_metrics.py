"""ParlAI's metrics of a text, one class each: `compute` scores one guess.

Custom teachers add them in `custom_evaluation`. With guess or labels None they count nothing.
Sources: see the modules that compute them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, overload

from prolocutor.errors import MissingExtra
from prolocutor.plugins.evaluation.parlai.metrics.averages import AverageMetric
from prolocutor.plugins.evaluation.parlai.metrics.metric import Metric, Number
from prolocutor.plugins.evaluation.parlai.metrics.rouge import rouge_scores
from prolocutor.plugins.evaluation.parlai.metrics.text_scores import (
    best_overlap,
    bleu_scores,
    normal_words,
)

Gram = tuple[str, ...]


class ExactMatchMetric(AverageMetric):
    """The share of guesses equal to a label in normal form (accuracy)."""

    __slots__ = ()

    @staticmethod
    def compute(guess: str | None, answers: Iterable[str] | None) -> ExactMatchMetric | None:
        """Score 1 if the guess equals an answer, else 0."""
        if guess is None or answers is None:
            return None
        words = normal_words(guess)
        return ExactMatchMetric(int(any(words == normal_words(answer) for answer in answers)))


class F1Metric(AverageMetric):
    """The mean of the best F1 (or precision, or recall) over the labels."""

    __slots__ = ()

    @overload
    @staticmethod
    def compute(
        guess: str | None, answers: Iterable[str] | None, expose_p_and_r: Literal[False] = False
    ) -> F1Metric: ...

    @overload
    @staticmethod
    def compute(
        guess: str | None, answers: Iterable[str] | None, expose_p_and_r: Literal[True]
    ) -> tuple[F1Metric, F1Metric, F1Metric]: ...

    @staticmethod
    def compute(
        guess: str | None, answers: Iterable[str] | None, expose_p_and_r: bool = False
    ) -> F1Metric | tuple[F1Metric, F1Metric, F1Metric]:
        """Score F1, or precision, recall and F1."""
        if guess is None or answers is None:
            nothing = F1Metric(0, 0)
            return (nothing, nothing, nothing) if expose_p_and_r else nothing
        precision, recall, f1 = best_overlap(normal_words(guess), map(normal_words, answers))
        if expose_p_and_r:
            return F1Metric(precision), F1Metric(recall), F1Metric(f1)
        return F1Metric(f1)


class BleuMetric(AverageMetric):
    """The mean of the sentences' BLEU-k."""

    __slots__ = ()

    @staticmethod
    def compute(guess: str, answers: Sequence[str], k: int = 4) -> BleuMetric:
        """Score BLEU-k against all answers."""
        labels = [normal_words(answer) for answer in answers]
        return BleuMetric(bleu_scores(normal_words(guess), labels, (k,))[0] if labels else 0.0)


class RougeMetric(AverageMetric):
    """The mean of ROUGE-1, ROUGE-2 or ROUGE-L as ParlAI has it (py-rouge)."""

    __slots__ = ()

    @staticmethod
    def compute_many(
        guess: str, answers: Sequence[str], measure: str = "r"
    ) -> tuple[RougeMetric | None, RougeMetric | None, RougeMetric | None]:
        """Score ROUGE-1, ROUGE-2 and ROUGE-L; None each where py-rouge is not installed."""
        try:
            found = rouge_scores(guess, answers, measure.lower())
        except MissingExtra:
            found = None
        if found is None:
            return None, None, None
        one, two, longest = map(RougeMetric, found)
        return one, two, longest


class IntraDistinctMetric(AverageMetric):
    """The mean share of different n-grams within a guess (Li et al. 2016, distinct-n)."""

    __slots__ = ()

    @classmethod
    def compute(cls, text: str, ngram: int = 1) -> IntraDistinctMetric:
        """Score the different n-grams of `text` over all of them."""
        return cls(intra_distinct(normal_words(text), ngram), 1.0)


class InterDistinctMetric(Metric):
    """The share of different n-grams among all guesses' n-grams (Li et al. 2016, distinct-n)."""

    __slots__ = ("_counts",)

    def __init__(self, counts: Counter[Gram]) -> None:
        self._counts = counts

    @classmethod
    def compute(cls, text: str, ngram: int = 1) -> InterDistinctMetric:
        """Count the n-grams of `text`."""
        return cls(Counter(ngrams(normal_words(text), ngram)))

    def __add__(self, other: Any) -> InterDistinctMetric:
        return self if other is None else type(self)(self._counts + other._counts)

    def value(self) -> Number:
        return _share(len(self._counts), self._counts.total())


def intra_distinct(words: Sequence[str], order: int) -> float:
    """Return the share of different n-grams of `words`; without words 1e-7, as in ParlAI."""
    grams = ngrams(words, order)
    return _share(len(set(grams)), len(grams))


def ngrams(words: Sequence[str], order: int) -> list[Gram]:
    """Return all runs of `order` words."""
    return list(zip(*[words[start:] for start in range(order)], strict=False))


def _share(different: int, all_: int) -> float:
    return max(different, 1e-12) / max(all_, 1e-5)
