"""Loss curves: what it costs in precision to stop asking at an answer that is sure enough.

A curve is measured by folds in training and stored in the ranker's model, so that a budget of any
wanted loss finds its threshold there. Thresholds are tried from the surest down, and the first that
cannot be shown to keep within the loss ends the search (fixed-sequence testing, as in Learn then
Test, Angelopoulos et al. 2021): so the promise holds for the one that is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, Final

import msgspec

from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.model_files import Model

PART: Final = "losses"
"""The part of a ranker's model that holds its curve."""

THRESHOLDS: Final = tuple(n / 20 for n in range(19, 0, -1))
"""The probabilities that are tried, the surest first."""

_ONE_SIDED: Final = 1.28


class LossPoint(msgspec.Struct, frozen=True):
    """A threshold, and the loss of precision that stopping there surely (90 %) keeps within."""

    threshold: float
    bound: float


class LossCurve(msgspec.Struct, frozen=True, kw_only=True):
    """What stopping costs against asking all, over `questions` with a right agent.

    `points` are in the order of `THRESHOLDS`. Agents were asked in the order of `router`.
    """

    points: list[LossPoint]
    questions: int
    router: str = ""

    def threshold(self, loss: float) -> float | None:
        """Return the lowest threshold whose loss is surely as wanted; None: ask all."""
        found = None
        for point in self.points:
            if point.bound > loss:
                break
            found = point.threshold
        return found


def loss_bound(lost: Sequence[float]) -> float:
    """Return the upper bound of a mean loss; where none was seen, that of the rule of three."""
    number = len(lost)
    if not number:
        return 1.0
    mean = sum(lost) / number
    spread = sum((one - mean) ** 2 for one in lost) / number
    return mean + max(_ONE_SIDED * sqrt(spread / number), 1 / number)


def loss_curve_of(model: Model) -> LossCurve | None:
    """Return a model's curve, None where it was trained without one."""
    found: Any = model.parts.get(PART)
    if found is None:
        return None
    try:
        return msgspec.convert(found, LossCurve)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the model {model.id} has no loss curve: {error}") from None


def with_loss_curve(model: Model, curve: LossCurve | None) -> Model:
    """Return a model with a curve; the same where there is none."""
    if curve is None:
        return model
    return msgspec.structs.replace(model, parts={**model.parts, PART: msgspec.to_builtins(curve)})
