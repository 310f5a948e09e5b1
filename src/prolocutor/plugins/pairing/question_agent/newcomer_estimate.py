"""NewcomerEstimate: how probably an agent without labels is right, learned from a few ratings.

A Bayesian logistic regression over three numbers of a question: 1, what the agent's card says of
it, and what similar agents are worth there. Before any evidence it says what the card promises;
with evidence the normal approximation of the posterior (Laplace; MacKay 1992) takes over, and
ratings of similar questions count once more, as votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, sqrt
from typing import Final

import msgspec

from prolocutor.plugins.pairing.question_agent.similarity_index import WordIndex

Traits = tuple[float, float, float]
"""1, the logit that the card promises, the logit of similar agents: both from their usual value."""

_DEVIATION: Final[Traits] = (1.5, 0.2, 0.2)
_WEIGHTS: Final[Traits] = (0.0, 0.8, 0.5)
_VOTES: Final = 3.0
_STEPS: Final = 12
_LONGEST: Final = 1.0
_SHORTEST: Final = 1e-4
_MOST_FITTED: Final = 200
_UNTOLD: Final = 1.5
_LONG: Final = 100.0
_SUREST: Final = 0.99
_FAR: Final = 30.0

Square = list[list[float]]


class Observation(msgspec.Struct, frozen=True):
    """How right the agent was for a question, 0 to 1, and how much that counts.

    `ranked`: that is a ranker's score, on a scale of its own.
    """

    text: str
    traits: Traits
    right: float
    weight: float
    ranked: bool = False


class NewcomerEstimate:
    """The posterior of one agent; `usual` is the logit of how often a new agent is right."""

    def __init__(self, usual: float) -> None:
        self._mean: Traits = (usual, *_WEIGHTS[1:])
        self._seen: list[Observation] = []
        self._near = WordIndex()
        self._scale = 1.0
        self._weight = 0.0
        self._weights: Sequence[float] = self._mean
        self._covariance = _inverse(self._precision())

    def learn(self, seen: Sequence[Observation], scale: float = 1.0) -> None:
        """Take in what was seen; `scale` brings all ranker's scores to that of probabilities."""
        self._scale = scale
        for one in seen:
            if one.weight > 0:
                self._near.add(len(self._seen), one.text)
                self._seen.append(one)
                self._weight += one.weight
        self._fit()

    def probability(self, text: str, traits: Traits) -> float:
        """Return how probably the agent is right for a question."""
        right = _VOTES * _sigmoid(_dot(self._weights, traits))
        total = _VOTES
        for number, alike in self._near.nearest(text):
            one = self._seen[number]
            right += alike * one.weight * self._right(one)
            total += alike * one.weight
        return right / total

    def doubt(self, traits: Traits) -> float:
        """Return the standard deviation of the logit.

        It falls with every observation, slowly: three numbers say little of one question.
        """
        known = _dot(traits, [_dot(row, traits) for row in self._covariance])
        untold = _UNTOLD**2 * _LONG / (_LONG + self._weight)
        return sqrt(untold + max(0.0, known))

    def _fit(self) -> None:
        """Find the weights of the largest posterior, by Newton's method."""
        weights = list(self._weights)
        for _ in range(_STEPS):
            hessian = self._precision()
            slope = [-hessian[n][n] * (weights[n] - self._mean[n]) for n in range(3)]
            for one in self._seen[-_MOST_FITTED:]:
                likely = _sigmoid(_dot(weights, one.traits))
                off = one.weight * (self._right(one) - likely)
                bend = one.weight * likely * (1 - likely)
                for row, mine in enumerate(one.traits):
                    slope[row] += off * mine
                    for column, its in enumerate(one.traits):
                        hessian[row][column] += bend * mine * its
            self._covariance = _inverse(hessian)
            step = [_dot(row, slope) for row in self._covariance]
            length = sqrt(_dot(step, step))
            size = min(1.0, _LONGEST / max(length, _SHORTEST))
            weights = [old + size * new for old, new in zip(weights, step, strict=True)]
            if length < _SHORTEST:
                break
        self._weights = weights

    def _right(self, one: Observation) -> float:
        return min(_SUREST, self._scale * one.right) if one.ranked else one.right

    def _precision(self) -> Square:
        return [
            [1 / _DEVIATION[row] ** 2 if row == column else 0.0 for column in range(3)]
            for row in range(3)
        ]


def _inverse(of: Square) -> Square:
    """Return the inverse of a symmetric positive definite matrix of three rows."""
    (a, b, c), (_, d, e), (_, _, f) = of
    first, second, third = d * f - e * e, c * e - b * f, b * e - c * d
    whole = a * first + b * second + c * third
    return [
        [first / whole, second / whole, third / whole],
        [second / whole, (a * f - c * c) / whole, (b * c - a * e) / whole],
        [third / whole, (b * c - a * e) / whole, (a * d - b * b) / whole],
    ]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(mine * its for mine, its in zip(one, other, strict=True))


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-max(-_FAR, min(_FAR, x))))
