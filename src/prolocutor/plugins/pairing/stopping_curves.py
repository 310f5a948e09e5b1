"""Curves of a ranker's model: what stopping early loses, and how often sure answers are wrong.

They are counted by folds in training, losses over questions with a right agent, errors over all.
Thresholds are tried from the surest down, and the first that cannot be shown to keep within what is
wanted ends the search (fixed-sequence testing, as in Learn then Test, Angelopoulos et al. 2021): so
the promise holds for the one that is taken, of losses with 90 %, of errors with 95 % (Clopper and
Pearson 1934).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, exp, lgamma, log, sqrt
from typing import Final, TypeVar

import msgspec

from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.model_files import Model

LOSSES: Final = "losses"
RISKS: Final = "risks"
"""The parts of a ranker's model that hold its curves."""

THRESHOLDS: Final = tuple(n / 20 for n in range(19, 0, -1))
"""The probabilities that are tried, the surest first."""

_ONE_SIDED: Final = 1.28


Curve = TypeVar("Curve")


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


def stored_loss_curve(model: Model) -> LossCurve | None:
    """Return a model's curve, None where it was trained without one."""
    return _stored_curve(model, LOSSES, LossCurve)


_THRESHOLDS: Final = tuple(n / 50 for n in range(49, 0, -1))
_DOUBT: Final = 0.05
_ROOM: Final = 2
"""The search begins at so many times the answers for which a promise is possible without errors."""

_STEPS: Final = 40
_NONE: Final = 1.01


class RiskPoint(msgspec.Struct, frozen=True):
    """A threshold, how many questions were answered with it or more, and how many wrongly."""

    threshold: float
    answered: int
    wrong: int


class RiskCurve(msgspec.Struct, frozen=True):
    """Errors by threshold, the highest first, over `questions`."""

    points: list[RiskPoint]
    questions: int

    def threshold(self, error: float) -> float:
        """Return the lowest threshold whose share of wrong answers is surely as wanted.

        Above 1, so that nothing is answered, where none is.
        """
        least = _ROOM * ceil(log(_DOUBT) / log(1 - error)) if 0 < error < 1 else 1
        found = _NONE
        for point in self.points:
            if point.answered < least:
                continue
            if upper_bound(point.wrong, point.answered) > error:
                break
            found = point.threshold
        return found


def upper_bound(wrong: int, number: int) -> float:
    """Return the share of which more is surely (95 %) not wrong, after so many of a number."""
    if wrong >= number:
        return 1.0
    low, high = wrong / number, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _chance_of_fewer(wrong, number, middle) > _DOUBT:
            low = middle
        else:
            high = middle
    return high


def _chance_of_fewer(wrong: int, number: int, share: float) -> float:
    """Return how probable at most so many are where each is wrong with this share."""
    if share >= 1:
        return 0.0
    whole = lgamma(number + 1)
    return sum(
        exp(
            whole
            - lgamma(n + 1)
            - lgamma(number - n + 1)
            + n * log(share or 1e-300)
            + (number - n) * log(1 - share)
        )
        for n in range(wrong + 1)
    )


def risk_curve(choices: Iterable[tuple[float, bool]]) -> RiskCurve:
    """Count choices, each with its probability and whether it is right."""
    seen = list(choices)
    points = []
    for threshold in _THRESHOLDS:
        given = [right for probability, right in seen if probability >= threshold]
        points.append(RiskPoint(threshold, len(given), given.count(False)))
    return RiskCurve(points, len(seen))


def stored_risk_curve(model: Model) -> RiskCurve | None:
    """Return a model's curve, None where it was trained without one."""
    return _stored_curve(model, RISKS, RiskCurve)


def store_curves(model: Model, losses: LossCurve | None, risks: RiskCurve | None) -> Model:
    """Return a model with the curves that there are."""
    curves = {LOSSES: losses, RISKS: risks}
    found = {part: msgspec.to_builtins(one) for part, one in curves.items() if one is not None}
    return msgspec.structs.replace(model, parts={**model.parts, **found})


def _stored_curve(model: Model, part: str, kind: type[Curve]) -> Curve | None:
    if part not in model.parts:
        return None
    try:
        return msgspec.convert(model.parts[part], kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the model {model.id} has no curve of {part}: {error}") from None
