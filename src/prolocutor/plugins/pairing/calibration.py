"""Calibration: scores become probabilities. Of choices with probability p the share p is right."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_LEAST: Final = 1e-6
_STEPS: Final = 50
_NEAR: Final = 1e-9
_RIDGE: Final = 1e-6


class Sigmoid(msgspec.Struct, frozen=True):
    """The curve 1 / (1 + exp(-(slope x + offset)))."""

    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, score: float) -> float:
        """Return the probability of a score."""
        x = self.logit(score)
        if x >= 0:
            return 1 / (1 + exp(-x))
        small = exp(max(x, -700.0))
        return small / (1 + small)

    def logit(self, score: float) -> float:
        """Return the logit of that probability."""
        return self.slope * score + self.offset


USUAL: Final = Sigmoid()


def logit(probability: float, least: float = _LEAST) -> float:
    """Return the score of a probability, of which `least` to 1 - `least` count."""
    kept = min(max(probability, least), 1 - least)
    return log(kept / (1 - kept))


def fit_sigmoid(
    scores: ArrayLike,
    right: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    least_slope: float = 0.0,
    usual: Sigmoid = USUAL,
    strength: tuple[float, float] = (0.0, 0.0),
) -> Sigmoid:
    """Return the curve of maximum likelihood among those of `least_slope` or more.

    Platt's sigmoid with his corrected targets (Platt 1999; Lin, Lin and Weng 2007), by Newton's
    method with halved steps. `right` is 0 to 1, of scores by what did not know the examples.
    `strength` is that of a prior for the slope and the offset of the `usual` curve; one for the
    offset takes the place of the correction. Of no examples, or of one kind only, the curve without
    a prior hardly depends on the score. It needs NumPy.
    """
    import numpy as np

    given, known = np.asarray(scores, dtype=float), np.asarray(right, dtype=float)
    each = np.ones(len(given)) if weights is None else np.asarray(weights, dtype=float)
    yes = float(each @ known)
    no = float(each.sum()) - yes
    high, low = (1.0, 0.0) if strength[1] else ((yes + 1) / (yes + 2), 1 / (no + 2))
    targets, rows = low + (high - low) * known, np.stack([given, np.ones(len(given))])
    middle, prior = np.array([usual.slope, usual.offset]), np.array(strength)

    def loss(at: Any) -> float:
        x, off = at @ rows, at - middle
        return float(each @ (np.logaddexp(0.0, x) - targets * x) + prior @ (off * off) / 2)

    def descend(at: Any, free: Sequence[int]) -> Any:
        """Return the best curve of those that differ in the parameters `free`."""
        for _ in range(_STEPS):
            likely = np.exp(-np.logaddexp(0.0, -(at @ rows)))
            slope = rows @ (each * (likely - targets)) + prior * (at - middle)
            bend = rows * (each * likely * (1 - likely)) @ rows.T + np.diag(prior + _RIDGE)
            step, size, before = np.zeros(2), 1.0, loss(at)
            step[free] = np.linalg.solve(bend[np.ix_(free, free)], slope[free])
            while (after := loss(at - size * step)) >= before and size > _NEAR:
                size /= 2
            if after >= before:
                break
            at = at - size * step
            if before - after < _NEAR * max(1.0, after):
                break
        return at

    start = logit((yes + 1) / (yes + no + 2))
    found = descend(np.array([0.0, start]), [0, 1])
    if found[0] < least_slope:  # the loss is convex: the best of the others is on the bound
        found = descend(np.array([least_slope, start]), [1])
    return Sigmoid(float(found[0]), float(found[1]))
