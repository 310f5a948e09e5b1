"""Loss budgets: the threshold of `sure` that costs no more precision than is wanted, by folds.

The thresholds are tried from the surest down, each on the questions of other folds, and the first
that cannot be shown to keep within the loss ends the search (fixed-sequence testing, as in Learn
then Test, Angelopoulos et al. 2021): so the promise holds for the one that is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

import msgspec

from prolocutor.errors import BadInput
from prolocutor.evaluation.pairing.method_rows import MethodChoice

AskedPath = Sequence[MethodChoice]
"""The choice after each step of asking one agent more; the last is after the last agent."""

SUREST: Final = 0.95
_THRESHOLDS: Final = tuple(n / 20 for n in range(19, 0, -1))
_ONE_SIDED: Final = 1.28
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
        fold: threshold_of(
            loss,
            [
                (path, after)
                for path, after, count, its in zip(paths, whole, counted, folds, strict=True)
                if count and its != fold
            ],
        )
        for fold in set(folds)
    }
    return [
        after
        if chosen[fold] is None
        else msgspec.structs.replace(stopped(path, chosen[fold]), threshold=chosen[fold])
        for path, after, fold in zip(paths, whole, folds, strict=True)
    ]


def threshold_of(loss: float, known: Sequence[tuple[AskedPath, MethodChoice]]) -> float | None:
    """Return the lowest threshold whose loss is surely (90 %) as wanted; None: ask all."""
    found = None
    for threshold in _THRESHOLDS:
        lost = [after.right - stopped(path, threshold).right for path, after in known]
        if not lost or _bound(lost) > loss:
            break
        found = threshold
    return found


def stopped(path: AskedPath, threshold: float | None) -> MethodChoice:
    """Return the first choice that is sure enough, else the last."""
    for choice in path:
        if threshold is not None and (choice.probability or 0.0) >= threshold:
            return choice
    return path[-1]


def _bound(lost: Sequence[float]) -> float:
    """Return the upper bound of a mean loss; where none was seen, that of the rule of three."""
    number = len(lost)
    mean = sum(lost) / number
    spread = sum((one - mean) ** 2 for one in lost) / number
    return mean + max(_ONE_SIDED * sqrt(spread / number), 1 / number)
