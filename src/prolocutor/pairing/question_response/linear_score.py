"""Training of the linear part of the learned ranker, by Newton's method."""

from __future__ import annotations

from typing import Final

import numpy as np

from prolocutor.pairing.question_response.learned import LinearScore
from prolocutor.pairing.question_response.trees import Floats

_PENALTY: Final = 1 / 0.03
_MOST_STEPS: Final = 20
_SMALL: Final = 1e-4


def linear_score(rows: Floats, target: Floats, weights: Floats) -> LinearScore:
    """Fit a logistic regression with a quadratic penalty to shares of votes, 0 to 1.

    With a hundred features and very many rows a step costs one product of matrices, and there are
    about six (iteratively reweighted least squares).
    """
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    width = rows.shape[1]
    table = np.ones((len(rows), width + 1))
    table[:, :width] = LinearScore(mean, deviation, np.ones_like(mean), 0.0).terms(rows)
    penalty = np.full(width + 1, _PENALTY)
    penalty[width] = 1e-6
    found = np.zeros(width + 1)
    for _ in range(_MOST_STEPS):
        right = 1 / (1 + np.exp(-np.clip(table @ found, -30, 30)))
        slope = table.T @ (weights * (right - target)) + penalty * found
        bend = (table * (weights * right * (1 - right))[:, None]).T @ table
        bend[np.diag_indices(width + 1)] += penalty
        step = np.linalg.solve(bend, slope)
        found -= step
        if np.abs(step).max() < _SMALL:
            break
    return LinearScore(mean, deviation, found[:width], float(found[width]))
