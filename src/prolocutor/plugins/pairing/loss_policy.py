"""LossBudget: a budget policy of a wanted loss, by the loss curve of the ranker in use."""

from __future__ import annotations

from prolocutor.contracts.pairing import Ranker
from prolocutor.plugins.pairing.budget import (
    AskAll,
    BudgetPolicy,
    BudgetState,
    BudgetStep,
    UntilSure,
)
from prolocutor.plugins.pairing.model_reloading import MethodSource, latest


class LossBudget:
    """A policy that asks until the loss against asking all is surely within what is wanted.

    The threshold is that of the ranker's latest model; where that knows none, all are asked.
    """

    def __init__(self, ranker: MethodSource[Ranker], loss: float) -> None:
        self._ranker: MethodSource[Ranker] = ranker
        self._loss = loss

    def next(self, standing: BudgetState) -> BudgetStep:
        """Ask two, then one by one until an answer is sure enough."""
        return self.policy().next(standing)

    def policy(self) -> BudgetPolicy:
        """Return the policy of the latest model."""
        curve = latest(self._ranker).losses
        threshold = None if curve is None else curve.threshold(self._loss)
        if threshold is None:
            return AskAll()
        return UntilSure(sure=threshold, certain=max(threshold, UntilSure().certain))
