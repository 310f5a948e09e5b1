"""Means: of values or of numerators over denominators, with their standard errors.

A mean keeps, beside its two sums, the terms of its standard error: the number of observations and
their sums of n², n·d and d² (n numerator, d denominator). With r = Σn/Σd it is sqrt(m/(m-1) · Σ(n -
r·d)²) / Σd, the linearised variance of a ratio (Cochran, Sampling Techniques, section 2.11), which
for d = 1 is the usual s/√m.
"""

from __future__ import annotations

from math import exp, inf, isfinite, nan, sqrt
from typing import Any, Final, Self

from prolocutor.plugins.evaluation.parlai.metrics.metric import GlobalMetric, Metric, Number

Spread = tuple[int, float, float, float]
"""Observations, and the sums over them of n², n·d and d²."""

_PLAIN: Final = frozenset((int, float, bool))


class AverageMetric(Metric):
    """A mean: the sum of the numerators over the sum of the denominators.

    The mean of no observations (0/0) is 0.0, any other number over 0 is nan, as in ParlAI.
    """

    __slots__ = ("_denom", "_numer", "_spread")

    _numer: Number
    _denom: Number
    _spread: Spread | None  # None: a single observation

    def __init__(self, numer: Any, denom: Any = 1) -> None:
        self._numer = numer if type(numer) in _PLAIN else self.as_number(numer)
        self._denom = denom if type(denom) in _PLAIN else self.as_number(denom)
        self._spread = None

    @classmethod
    def from_sums(cls, total: float, squares: float, count: int) -> Self:
        """Make the mean of `count` values from their sum and the sum of their squares."""
        mean = cls(numer=total, denom=count)
        mean._spread = count, squares, total, count
        return mean

    @property
    def macro_average(self) -> bool:
        """Whether the figure over several tasks is the mean of theirs: it is."""
        return True

    def __add__(self, other: Any) -> AverageMetric:
        if other is None:
            return self
        both = type(self)(numer=self._numer + other._numer, denom=self._denom + other._denom)
        ours, theirs = _metric_spread(self), _metric_spread(other)
        both._spread = (
            ours[0] + theirs[0], ours[1] + theirs[1], ours[2] + theirs[2], ours[3] + theirs[3],
        )  # fmt: skip
        return both

    def value(self) -> Number:
        if self._denom:
            return self._numer / self._denom
        return nan if self._numer else 0.0

    def observations(self) -> int:
        """Return how many observations were added up."""
        return _metric_spread(self)[0]

    def is_share(self) -> bool:
        """Return whether every observation was 0 or 1, over 1: then v² = v for all."""
        count, squares, products, _ = _metric_spread(self)
        return 0 <= self._numer <= count == self._denom and squares == products == self._numer

    def standard_error(self) -> float | None:
        """Return the standard error of the mean; None for fewer than two observations."""
        count, squares, products, weights = _metric_spread(self)
        if count < 2 or not self._denom:
            return None
        ratio = self._numer / self._denom
        rest = squares - 2 * ratio * products + ratio * ratio * weights
        if not isfinite(rest):
            return nan
        return sqrt(max(0.0, rest) * count / (count - 1)) / abs(self._denom)


class MacroAverageMetric(Metric):
    """The mean of several tasks' figures, whatever the number of their examples."""

    __slots__ = ("_values",)

    def __init__(self, metrics: dict[str, Metric]) -> None:
        self._values = metrics

    def __add__(self, other: Any) -> MacroAverageMetric:
        if other is None:
            return self
        both = dict(self._values)
        for task, metric in other._values.items():
            both[task] = both[task] + metric if task in both else metric
        return MacroAverageMetric(both)

    def value(self) -> Number:
        return sum(metric.value() for metric in self._values.values()) / len(self._values)

    def standard_error(self) -> float | None:
        """Return the standard error of the mean of independent figures; None if any of them lacks
        its own.
        """
        errors = [metric.standard_error() for metric in self._values.values()]
        known = [error for error in errors if error is not None]
        if len(known) < len(errors):
            return None
        return sqrt(sum(error * error for error in known)) / len(known)


class GlobalAverageMetric(GlobalMetric, AverageMetric):
    """A mean over the whole run, of which the first task's is taken."""

    __slots__ = ()


class LegacyMetric(GlobalAverageMetric):
    """A bare number in an agent's report."""

    __slots__ = ()


class PPLMetric(AverageMetric):
    """Perplexity: e to the mean loss per token."""

    __slots__ = ()

    def value(self) -> Number:
        try:
            return exp(super().value())
        except OverflowError:
            return inf

    def standard_error(self) -> float | None:
        """Return the standard error by the delta method: the value times that of the mean loss."""
        error = super().standard_error()
        return None if error is None else self.value() * error


def _metric_spread(metric: Any) -> Spread:
    spread: Spread | None = getattr(metric, "_spread", None)  # ParlAI's own metrics have no spread
    if spread is not None:
        return spread
    numer, denom = metric._numer, metric._denom
    if not numer and not denom:
        return 0, 0.0, 0.0, 0.0
    return 1, numer * numer, numer * denom, denom * denom
