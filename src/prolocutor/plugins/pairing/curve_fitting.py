"""Curve fitting: the sigmoid from scores to probabilities.

Platt's sigmoid with his corrected targets (Platt 1999; Lin, Lin and Weng 2007), fitted to scores of
examples unknown to the scorer.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from prolocutor.plugins.pairing.calibration import Sigmoid, logit

_STEPS: Final = 50
_NEAR: Final = 1e-9
_RIDGE: Final = 1e-6

_Floats = NDArray[np.float64]


class _Rows(msgspec.Struct, frozen=True):
    """Examples: their scores, corrected targets, and weights."""

    scores: _Floats
    targets: _Floats
    weights: _Floats

    def loss(self, slope: float, offset: float) -> float:
        """Return the negative log likelihood of a curve."""
        x = slope * self.scores + offset
        each = np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0) - self.targets * x
        return float(self.weights @ each)

    def step(self, slope: float, offset: float, *, is_fixed: bool) -> tuple[float, float]:
        """Return Newton's step, the gradient by the inverse Hessian; `is_fixed`: of the offset."""
        small = np.exp(-np.abs(slope * self.scores + offset))
        right = np.where(slope * self.scores + offset >= 0, 1.0, small) / (1 + small)
        off, bend = self.weights * (right - self.targets), self.weights * right * (1 - right)
        a, b = float(off @ self.scores), float(off.sum())
        ab = float(bend @ self.scores)
        aa = _RIDGE + float(bend @ (self.scores * self.scores))
        bb = _RIDGE + float(bend.sum())
        det = aa * bb - ab * ab
        if is_fixed or abs(det) < _RIDGE * _RIDGE:
            return 0.0, b / bb
        return (bb * a - ab * b) / det, (aa * b - ab * a) / det


def fit_sigmoid(
    scores: ArrayLike,
    right: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    least_slope: float = 0.0,
) -> Sigmoid:
    """Return the curve of maximum likelihood among those of `least_slope` or more.

    `right` is 0 to 1. Newton's method with halved steps. Of no examples, or of one kind only, a
    curve that hardly depends on the score.
    """
    given, known = np.asarray(scores, dtype=float), np.asarray(right, dtype=float)
    each = np.ones(len(given)) if weights is None else np.asarray(weights, dtype=float)
    yes = float(each @ known)
    no = float(each.sum()) - yes
    high, low = (yes + 1) / (yes + 2), 1 / (no + 2)
    kept = each > 0
    rows = _Rows(given[kept], (low + (high - low) * known)[kept], each[kept])
    start = logit((yes + 1) / (yes + no + 2))
    found = _descend(rows, Sigmoid(0.0, start))
    if found.slope >= least_slope:
        return found
    # The loss is convex: the best curve of the others lies on the bound.
    return _descend(rows, Sigmoid(least_slope, start), is_fixed=True)


def _descend(rows: _Rows, curve: Sigmoid, *, is_fixed: bool = False) -> Sigmoid:
    """Return the curve of the least loss; with `is_fixed` the slope stays."""
    slope, offset = curve.slope, curve.offset
    loss = rows.loss(slope, offset)
    for _ in range(_STEPS):
        by, up = rows.step(slope, offset, is_fixed=is_fixed)
        size = 1.0
        while (new := rows.loss(slope - size * by, offset - size * up)) >= loss and size > _NEAR:
            size /= 2
        if new >= loss:
            break
        slope, offset, gain, loss = slope - size * by, offset - size * up, loss - new, new
        if gain < _NEAR * max(1.0, loss):
            break
    return Sigmoid(slope, offset)
