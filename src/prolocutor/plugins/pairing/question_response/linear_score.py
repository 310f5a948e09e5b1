"""Training of the linear part of the learned ranker, by Newton's method."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from prolocutor.plugins.pairing.question_response.learned import LinearScore
from prolocutor.plugins.pairing.question_response.trees import Floats, Rows, Singles

_PENALTY: Final = 1 / 0.03
_MOST_STEPS: Final = 20
_SMALL: Final = 1e-4
_BLOCK: Final = 2048


class ScaledRows(msgspec.Struct, frozen=True):
    """Rows of features, standardised once for all models that learn from parts of them.

    `table` has a column of ones at the end. Means and deviations are those of all rows, which say
    nothing of labels.
    """

    mean: Floats
    deviation: Floats
    table: Singles

    @classmethod
    def of(cls, rows: Rows) -> ScaledRows:
        """Return the rows, standardised block by block."""
        mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
        table = np.ones((len(rows), rows.shape[1] + 1), np.float32)
        scale = LinearScore(mean, deviation, np.ones_like(mean), 0.0)
        for start in range(0, len(rows), _BLOCK):
            table[start : start + _BLOCK, :-1] = scale.terms(rows[start : start + _BLOCK])
        return cls(mean, deviation, table)

    def learn(
        self,
        part: NDArray[np.int64],
        target: Floats,
        weights: Floats,
        start: LinearScore | None = None,
    ) -> LinearScore:
        """Fit a logistic regression with a quadratic penalty to shares of votes, 0 to 1.

        It learns from the rows `part`; `target` and `weights` have a value for each row of all.
        `start` is a model that is near. With a hundred features and very many rows a step costs one
        product of matrices (iteratively reweighted least squares): six of them, or three from a
        near model.
        """
        penalty = np.full(self.table.shape[1], _PENALTY)
        penalty[-1] = 1e-6
        found = np.zeros(len(penalty))
        if start is not None:
            found[:-1], found[-1] = start.weight, start.offset
        for _ in range(_MOST_STEPS):
            slope, bend = self._slopes(part, target, weights, found)
            slope += penalty * found
            bend[np.diag_indices(len(penalty))] += penalty
            step = np.linalg.solve(bend, slope)
            found -= step
            if np.abs(step).max() < _SMALL:
                break
        return LinearScore(self.mean, self.deviation, found[:-1], float(found[-1]))

    def _slopes(
        self, part: NDArray[np.int64], target: Floats, weights: Floats, found: Floats
    ) -> tuple[Floats, Floats]:
        """Return the first and second derivatives of the loss, summed up block by block."""
        slope, bend = np.zeros(len(found)), np.zeros((len(found), len(found)))
        at = found.astype(np.float32)
        for start in range(0, len(part), _BLOCK):
            numbers = part[start : start + _BLOCK]
            block = self.table[numbers]
            right = 1 / (1 + np.exp(-np.clip(block @ at, -30, 30).astype(float)))
            slope += block.T @ (weights[numbers] * (right - target[numbers])).astype(np.float32)
            block *= np.sqrt(weights[numbers] * right * (1 - right)).astype(np.float32)[:, None]
            bend += block.T @ block
        return slope, bend
