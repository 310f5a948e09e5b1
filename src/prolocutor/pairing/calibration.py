"""Calibration: probabilities from scores, such that of those with p, the share p is right.

Platt's sigmoid with his corrected targets (Platt 1999; Lin, Lin and Weng 2007), fitted to scores of
examples that the scorer has not learned from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log, log1p
from typing import Final

import msgspec

_STEPS: Final = 50
_NEAR: Final = 1e-9
_LEAST: Final = 1e-6
_RIDGE: Final = 1e-6


class Sigmoid(msgspec.Struct, frozen=True):
    """The curve 1 / (1 + exp(-(slope x + offset)))."""

    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, score: float) -> float:
        """Return the probability that a score stands for."""
        return _sigmoid(self.slope * score + self.offset)


def fit_sigmoid(
    scores: Sequence[float], right: Sequence[float], weights: Iterable[float] | None = None
) -> Sigmoid:
    """Return the curve of maximum likelihood; `right` is 0 to 1.

    Newton's method with halved steps. Of no examples, or of one kind only, a curve that hardly
    depends on the score.
    """
    each = list(weights) if weights is not None else [1.0] * len(scores)
    yes = sum(w * r for w, r in zip(each, right, strict=True))
    no = sum(each) - yes
    high, low = (yes + 1) / (yes + 2), 1 / (no + 2)
    rows = [
        (score, low + (high - low) * target, weight)
        for score, target, weight in zip(scores, right, each, strict=True)
        if weight > 0
    ]
    slope, offset = 0.0, logit((yes + 1) / (yes + no + 2))
    loss = _loss(rows, slope, offset)
    for _ in range(_STEPS):
        by, up = _step(rows, slope, offset)
        size = 1.0
        while (new := _loss(rows, slope - size * by, offset - size * up)) >= loss and size > _NEAR:
            size /= 2
        if new >= loss:
            break
        slope, offset, gain, loss = slope - size * by, offset - size * up, loss - new, new
        if gain < _NEAR * max(1.0, loss):
            break
    return Sigmoid(slope, offset)


_Rows = list[tuple[float, float, float]]


def _loss(rows: _Rows, slope: float, offset: float) -> float:
    total = 0.0
    for score, target, weight in rows:
        x = slope * score + offset
        total += weight * (log1p(exp(-abs(x))) + max(x, 0.0) - target * x)
    return total


def _step(rows: _Rows, slope: float, offset: float) -> tuple[float, float]:
    """Return Newton's step: the gradient by the inverse of the Hessian."""
    a = b = 0.0
    aa = bb = _RIDGE
    ab = 0.0
    for score, target, weight in rows:
        p = _sigmoid(slope * score + offset)
        off, bend = weight * (p - target), weight * p * (1 - p)
        a += off * score
        b += off
        aa += bend * score * score
        ab += bend * score
        bb += bend
    det = aa * bb - ab * ab
    if abs(det) < _RIDGE * _RIDGE:
        return 0.0, b / bb
    return (bb * a - ab * b) / det, (aa * b - ab * a) / det


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + exp(-x))
    small = exp(max(x, -700.0))
    return small / (1 + small)


def logit(probability: float) -> float:
    """Return the score that stands for a probability, also for 0 and 1."""
    kept = min(max(probability, _LEAST), 1 - _LEAST)
    return log(kept / (1 - kept))
