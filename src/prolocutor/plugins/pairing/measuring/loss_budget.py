"""Loss budgets: the threshold of `sure` that costs no more precision than is wanted, by folds.

The threshold of each fold is that of the loss curve over the questions of the other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.loss_curve import THRESHOLDS, LossCurve, LossPoint, loss_bound
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice

AskedPath = Sequence[MethodChoice]
"""The choice after each step of asking one agent more; the last is after the last agent."""

SUREST: Final = THRESHOLDS[0]
_LOSS: Final = "loss:"


def loss_of(budget: str) -> float | None:
    """Return the loss of `loss:0.01`; None for other budgets. `BadInput` for what is no share."""
    if not budget.startswith(_LOSS):
        return None
    try:
        loss = float(budget.removeprefix(_LOSS))
    except ValueError:
        loss = -1.0
    if not 0 < loss < 1:
        raise BadInput(f"{budget!r} is no loss between 0 and 1, such as loss:0.01", field="budget")
    return loss


def within_loss(
    loss: float,
    paths: Sequence[AskedPath],
    whole: Sequence[MethodChoice],
    counted: Sequence[bool],
    folds: Sequence[int],
) -> list[MethodChoice]:
    """Return for every question the choice at the threshold that the other folds give.

    `whole` are the choices after asking all, `counted` the questions that precision is counted on.
    """
    chosen = {
        fold: curve_of(
            [
                (path, after)
                for path, after, count, its in zip(paths, whole, counted, folds, strict=True)
                if count and its != fold
            ]
        ).threshold(loss)
        for fold in set(folds)
    }
    return [
        after
        if chosen[fold] is None
        else msgspec.structs.replace(stopped(path, chosen[fold]), threshold=chosen[fold])
        for path, after, fold in zip(paths, whole, folds, strict=True)
    ]


def curve_of(known: Sequence[tuple[AskedPath, MethodChoice]], router: str = "") -> LossCurve:
    """Return the curve over questions with their paths and the choices after asking all."""
    points = [
        LossPoint(
            threshold,
            loss_bound([after.right - stopped(path, threshold).right for path, after in known]),
        )
        for threshold in THRESHOLDS
    ]
    return LossCurve(points=points, questions=len(known), router=router)


def stopped(path: AskedPath, threshold: float | None) -> MethodChoice:
    """Return the first choice that is sure enough, else the last."""
    for choice in path:
        if threshold is not None and (choice.probability or 0.0) >= threshold:
            return choice
    return path[-1]
