"""Calibration: scores become probabilities. Of choices with probability p the share p is right."""

from __future__ import annotations

from math import exp, log
from typing import Final

import msgspec

_LEAST: Final = 1e-6


class Sigmoid(msgspec.Struct, frozen=True):
    """The curve 1 / (1 + exp(-(slope x + offset)))."""

    slope: float = 1.0
    offset: float = 0.0

    def __call__(self, score: float) -> float:
        """Return the probability of a score."""
        return _sigmoid(self.logit(score))

    def logit(self, score: float) -> float:
        """Return the logit of that probability."""
        return self.slope * score + self.offset


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + exp(-x))
    small = exp(max(x, -700.0))
    return small / (1 + small)


def logit(probability: float, least: float = _LEAST) -> float:
    """Return the score of a probability, of which `least` to 1 - `least` count."""
    kept = min(max(probability, least), 1 - least)
    return log(kept / (1 - kept))
