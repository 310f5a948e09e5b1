"""RiskCurve: how often a ranker's sure answers are wrong, counted by folds over all questions.

Thresholds are tried from the surest down, and the first that cannot be shown to keep within the
wanted error ends the search (fixed-sequence testing, as in Learn then Test, Angelopoulos et al.
2021): so the bound (95 %, Clopper and Pearson 1934) holds for the one that is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, exp, lgamma, log
from typing import Final

import msgspec

from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.model_files import Model

_PART: Final = "risks"
"""The part of a ranker's model that holds its curve."""

_THRESHOLDS: Final = tuple(n / 50 for n in range(49, 0, -1))
_DOUBT: Final = 0.05
_ROOM: Final = 2
"""The search begins at so many times the answers for which a promise is possible without errors."""

_STEPS: Final = 40
_NONE: Final = 1.01
"""A bound that no probability reaches."""


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
        """Return the lowest threshold with at most a share of wrong answers, surely.

        It is above 1, so that nothing is answered, if no threshold does.
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
    """Return the upper bound (95 %) of the share of wrong answers, after `wrong` of `number`."""
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
    """Return the probability of at most `wrong` wrong answers, each wrong with this share."""
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


def risk_curve(choices: Iterable[tuple[float, float]]) -> RiskCurve:
    """Count choices, each with its probability and whether it is right (more than 0)."""
    seen = list(choices)
    points = []
    for threshold in _THRESHOLDS:
        given = [right > 0 for probability, right in seen if probability >= threshold]
        points.append(RiskPoint(threshold, len(given), given.count(False)))
    return RiskCurve(points, len(seen))


def stored_risk_curve(model: Model) -> RiskCurve | None:
    """Return a model's curve, None if the model has no curve."""
    if _PART not in model.parts:
        return None
    try:
        return msgspec.convert(model.parts[_PART], RiskCurve)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the model {model.id} has no curve of {_PART}: {error}") from None


def store_risk_curve(model: Model, curve: RiskCurve) -> Model:
    """Return a model with its curve."""
    return msgspec.structs.replace(model, parts=model.parts | {_PART: msgspec.to_builtins(curve)})
