"""What agents give as metrics, made into metrics: ours, numbers, and those of ParlAI itself.

ParlAI's own objects are taken by their parts, so that an agent written for it reports here
without a line changed.
"""

from __future__ import annotations

from typing import Any, Final

from prolocutor.parlai.metrics.averages import (
    AverageMetric,
    GlobalAverageMetric,
    LegacyMetric,
    PPLMetric,
)
from prolocutor.parlai.metrics.metric import (
    FixedMetric,
    GlobalFixedMetric,
    GlobalSumMetric,
    GlobalTimerMetric,
    Metric,
    SumMetric,
    TimerMetric,
)

_MEAN: Final = ("_numer", "_denom")
_TIMER: Final = ("_value", "_start", "_end")
_PARTS: Final[dict[str, tuple[type[Metric], tuple[str, ...]]]] = {
    "AverageMetric": (AverageMetric, _MEAN),
    "FixedMetric": (FixedMetric, ("_value",)),
    "GlobalAverageMetric": (GlobalAverageMetric, _MEAN),
    "GlobalFixedMetric": (GlobalFixedMetric, ("_value",)),
    "GlobalSumMetric": (GlobalSumMetric, ("_sum",)),
    "GlobalTimerMetric": (GlobalTimerMetric, _TIMER),
    "LegacyMetric": (LegacyMetric, _MEAN),
    "PPLMetric": (PPLMetric, _MEAN),
    "SumMetric": (SumMetric, ("_sum",)),
    "TimerMetric": (TimerMetric, _TIMER),
}


def observed_metric(given: Any) -> Metric:
    """Return what an act's field `metrics` holds as a metric; a number is averaged over examples.

    `TypeError` for what is neither.
    """
    return given if isinstance(given, Metric) else _foreign(given) or AverageMetric(given)


def reported_metric(given: Any) -> Metric:
    """Return what an agent's report holds as a metric; a number is global, a `LegacyMetric`.

    `TypeError` for what is neither.
    """
    return given if isinstance(given, Metric) else _foreign(given) or LegacyMetric(given)


def _foreign(given: Any) -> Metric | None:
    """Return a metric of ParlAI, or of a class derived from it, as ours of the nearest class."""
    for ancestor in type(given).__mro__:
        ours, parts = _PARTS.get(ancestor.__name__, (None, ()))
        if ours and all(hasattr(given, part) for part in parts):
            return ours(*(getattr(given, part) for part in parts))
    value = getattr(given, "value", None)
    return AverageMetric(value()) if callable(value) else None
