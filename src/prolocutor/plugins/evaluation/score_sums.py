"""Sums for the mean and interval of one score, in constant memory.

Examples of an episode are not independent, therefore totals are by episode, each added when the
episode ends. Sources: Cochran, Sampling Techniques, section 9A.2 (a ratio of cluster totals); Korn
and Graubard 1998 (Wilson's interval on an effective number of draws, which few clusters make
smaller by the square of z / t); Zou and Donner 2008 (the interval of a mean of estimates).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import Final, Literal

import msgspec

from prolocutor.plugins.evaluation.parlai.metrics.estimates import (
    CONFIDENCE,
    Estimate,
    estimate_mean,
    estimate_share,
)

_FEW: Final = 2000
_Z: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_STUDENT: Final = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_NEXT_TO_NOTHING: Final = 1e-12


class ScoreSums:
    """The sums of one score over the examples, added episode by episode.

    `values` holds the scores of up to 2,000 examples, for a bootstrap interval; with more examples
    it is empty.
    """

    __slots__ = (
        "_cross", "_episode", "_open", "_sizes", "_squared_totals", "bounded", "count", "episodes",
        "share", "squares", "total", "values",
    )  # fmt: skip

    def __init__(self) -> None:
        self.count = self.episodes = 0
        self.total = self.squares = 0.0
        self.share = self.bounded = True
        self.values = array("d")
        self._squared_totals = self._cross = self._sizes = 0.0
        self._episode = -1
        self._open = (0.0, 0)

    def add(self, episode: int, value: float) -> None:
        """Add the score of one example; examples of an episode are added in succession."""
        if episode != self._episode:
            self._close()
            self._episode, self._open = episode, (0.0, 0)
            self.episodes += 1
        self._open = self._open[0] + value, self._open[1] + 1
        self.count += 1
        self.total += value
        self.squares += value * value
        self.share = self.share and value in (0.0, 1.0)
        self.bounded = self.bounded and 0 <= value <= 1
        if self.count <= _FEW:
            self.values.append(value)
        elif self.values:
            self.values = array("d")

    def estimate(self, *, difference: bool = False) -> Estimate:
        """Return the mean of all examples (at least one); `difference`: values are from -1 to 1."""
        mean, bounded = self.total / self.count, self.bounded and not difference
        if self.episodes == self.count:
            return self._estimate_independent(mean, bounded)
        if self.episodes == 1:
            found = self._estimate_independent(mean, bounded)
            return msgspec.structs.replace(found, method="examples")
        error = self._clustered_error(mean)
        if bounded:
            return self._estimate_bounded(mean, error)
        return _normal(mean, error, self.count)

    def _estimate_independent(self, mean: float, bounded: bool) -> Estimate:
        """Estimate as if the examples were independent."""
        if self.share and bounded:
            return estimate_share(round(self.total), self.count)
        if self.values:
            found = estimate_mean(self.values)
            assert found is not None
            if bounded and self.count > 1 and found.low == found.high:
                return _wilson(mean, found.error or 0.0, self.count, self.count)
            return found
        rest = max(0.0, self.squares - mean * self.total) / (self.count - 1)
        error = sqrt(rest / self.count) if rest > _NEXT_TO_NOTHING * self.squares else 0.0
        if bounded and not error:
            return _wilson(mean, error, self.count, self.count)
        return _normal(mean, error, self.count)

    def _estimate_bounded(self, mean: float, error: float) -> Estimate:
        draws = mean * (1 - mean) / (error * error) if error else float(self.episodes)
        if self.share:
            draws = min(draws, self.count)
        draws *= (_Z / _student(self.episodes - 1)) ** 2
        return _wilson(mean, error, draws, self.count)

    def _clustered_error(self, mean: float) -> float:
        self._close()
        self._episode, self._open = -1, (0.0, 0)
        number, squares = self.episodes, self._squared_totals
        rest = squares - 2 * mean * self._cross + mean * mean * self._sizes
        if rest <= _NEXT_TO_NOTHING * squares:
            return 0.0
        return sqrt(rest * number / (number - 1)) / self.count

    def _close(self) -> None:
        total, size = self._open
        self._squared_totals += total * total
        self._cross += total * size
        self._sizes += size * size


def mean_of_estimates(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent estimates, each with the same weight."""
    number = len(estimates)
    value = sum(one.value for one in estimates) / number
    count = sum(one.count for one in estimates)
    errors = [one.error for one in estimates if one.error is not None]
    error = sqrt(sum(one * one for one in errors)) / number if len(errors) == number else None
    below = [one.value - one.low for one in estimates if one.low is not None]
    above = [one.high - one.value for one in estimates if one.high is not None]
    if len(below) < number or len(above) < number:
        return Estimate(value, error, count=count)
    low, high = (sqrt(sum(one * one for one in arms)) / number for arms in (below, above))
    method: Literal["tasks"] = "tasks"
    return Estimate(value, error, value - low, value + high, count, method)


def _wilson(mean: float, error: float, draws: float, count: int) -> Estimate:
    """Return Wilson's interval as if `draws` shares had been drawn."""
    mean = min(1.0, max(0.0, mean))
    middle = (mean + _Z * _Z / (2 * draws)) / (1 + _Z * _Z / draws)
    spread = sqrt(mean * (1 - mean) / draws + _Z * _Z / (4 * draws * draws))
    half = _Z * spread / (1 + _Z * _Z / draws)
    low = 0.0 if mean == 0 else max(0.0, middle - half)
    high = 1.0 if mean == 1 else min(1.0, middle + half)
    return Estimate(mean, error, low, high, count, "wilson")


def _normal(mean: float, error: float, count: int) -> Estimate:
    return Estimate(mean, error, mean - _Z * error, mean + _Z * error, count, "normal")


def _student(freedom: int) -> float:
    """Return the 97.5 % point of Student's t."""
    if freedom <= len(_STUDENT):
        return _STUDENT[freedom - 1]
    return _Z * (1 + (_Z * _Z + 1) / (4 * freedom))
