"""Estimates: figures with standard error and interval; and the figures of turn records.

Sources: Wilson 1927 for shares; Efron and Tibshirani 1993, chapter 13, for the percentile
bootstrap, which is seeded and so the same in every run; the normal interval for the rest.

`measure_rows` reads rows of turns, such as the lines of an evaluation's JSONL file. Fields, all
optional:

| field | what |
|---|---|
| `seconds` | from the input to the reply |
| `cost` | in the unit of the agents' costs |
| `calls` | calls of services in the turn |
| `text` | the reply; null or blank means that the assistant abstained |
| `error` | what failed; such a row counts for `errors` and for nothing else |
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil, isfinite, sqrt
from statistics import NormalDist, fmean, stdev
from typing import Any, Final, Literal, TypeVar

import msgspec

from prolocutor.plugins.evaluation.parlai.metrics.averages import AverageMetric
from prolocutor.plugins.evaluation.parlai.metrics.metric import Metric

Item = TypeVar("Item")
Statistic = Callable[[Sequence[Item]], float]

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 1000
_FEW: Final = 2000

_MEANS: Final = {"latency": "seconds", "cost": "cost", "calls": "calls"}
_QUANTILES: Final = (50, 95, 99)
_RESAMPLED: Final = 5000


class Estimate(msgspec.Struct, frozen=True):
    """A figure over `count` observations; error and interval are None for too few observations."""

    value: float
    error: float | None = None
    low: float | None = None
    high: float | None = None
    count: int = 0
    method: Literal["wilson", "bootstrap", "normal", "examples", "tasks", "none"] = "none"


def estimate_mean(
    values: Iterable[float], *, seed: int = 0, confidence: float = CONFIDENCE
) -> Estimate | None:
    """Estimate a mean; None without values.

    The interval is Wilson's where all values are 0 or 1, the bootstrap's for up to 2,000 other
    values, and the normal one for more.
    """
    seen = [float(value) for value in values]
    if not seen:
        return None
    if all(value in (0.0, 1.0) for value in seen):
        return estimate_share(int(sum(seen)), len(seen), confidence=confidence)
    if len(seen) <= _FEW:
        error = stdev(seen) / sqrt(len(seen)) if len(seen) > 1 else None
        found = bootstrap(seen, fmean, seed=seed, confidence=confidence)
        return msgspec.structs.replace(found, error=error)
    return _normal(fmean(seen), stdev(seen) / sqrt(len(seen)), len(seen), confidence)


def estimate_share(count: int, of: int, *, confidence: float = CONFIDENCE) -> Estimate:
    """Estimate a share, `count` of `of` (at least 1), with Wilson's interval."""
    share, z = count / of, _z(confidence)
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    low = 0.0 if not count else max(0.0, middle - half)
    high = 1.0 if count == of else min(1.0, middle + half)
    error = sqrt(share * (1 - share) / (of - 1)) if of > 1 else None
    return Estimate(share, error, low, high, of, "wilson")


def estimate_difference(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate | None:
    """Estimate the mean of `ours - theirs`, pair by pair; None without pairs.

    Raise `ValueError` if the lengths differ.
    """
    pairs = [one - other for one, other in zip(ours, theirs, strict=True)]
    if not pairs:
        return None
    error = stdev(pairs) / sqrt(len(pairs)) if len(pairs) > 1 else None
    if len(pairs) > _FEW and error is not None:
        return _normal(fmean(pairs), error, len(pairs), confidence)
    found = bootstrap(pairs, fmean, seed=seed, confidence=confidence)
    return msgspec.structs.replace(found, error=error)


def bootstrap(
    items: Sequence[Item],
    statistic: Statistic[Item],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Estimate any statistic of `items` (not empty) by drawing them with replacement.

    The error is the standard deviation over the draws; a single item has neither error nor
    interval. The same seed gives the same estimate.
    """
    value = statistic(items)
    if len(items) < 2:
        return Estimate(value, count=len(items))
    draw = random.Random(seed)
    drawn = sorted(statistic(draw.choices(items, k=len(items))) for _ in range(resamples))
    tail = int(round((1 - confidence) / 2 * resamples, 9))
    return Estimate(
        value, stdev(drawn), drawn[tail], drawn[-1 - tail], len(items), "bootstrap"
    )  # fmt: skip


def report_estimates(
    report: Mapping[str, Any], *, confidence: float = CONFIDENCE
) -> dict[str, Estimate]:
    """Return a report's figures as estimates, with the errors known to its metrics."""
    return {
        name: _estimate_metric(metric, confidence)
        if isinstance(metric, Metric)
        else Estimate(float(metric))
        for name, metric in report.items()
    }


def _estimate_metric(metric: Metric, confidence: float) -> Estimate:
    value, error = float(metric.value()), metric.standard_error()
    count = metric.observations() if isinstance(metric, AverageMetric) else 0
    if isinstance(metric, AverageMetric) and metric.is_share() and count:
        return estimate_share(round(value * count), count, confidence=confidence)
    if error is None:
        return Estimate(value, count=count)
    return _normal(value, error, count, confidence)


def _normal(value: float, error: float, count: int, confidence: float) -> Estimate:
    half = _z(confidence) * error
    return Estimate(value, error, value - half, value + half, count, "normal")


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def measure_rows(rows: Iterable[Mapping[str, Any]], *, seed: int = 0) -> dict[str, Estimate]:
    """Estimate `latency` (with `latency_p50`, `_p95`, `_p99`), `cost`, `calls`, `abstention`.

    And `errors`. Rows are read once and not kept; a figure of which no row knows is left out.
    """
    known: dict[str, list[float]] = {name: [] for name in _MEANS}
    rows_seen = failed = spoken = silent = 0
    for row in rows:
        rows_seen += 1
        if row.get("error") is not None:
            failed += 1
            continue
        for name, field in _MEANS.items():
            value = row.get(field)
            if isinstance(value, int | float) and isfinite(value):
                known[name].append(value)
        if "text" in row:
            abstained = row["text"] is None or not str(row["text"]).strip()
            silent += abstained
            spoken += not abstained
    found = {name: estimate_mean(values, seed=seed) for name, values in known.items()}
    figures = {name: estimate for name, estimate in found.items() if estimate is not None}
    for percent in _QUANTILES if known["latency"] else ():
        figures[f"latency_p{percent}"] = _quantile(known["latency"], percent, seed)
    if spoken or silent:
        figures["abstention"] = estimate_share(silent, spoken + silent)
    if rows_seen:
        figures["errors"] = estimate_share(failed, rows_seen)
    return figures


def _quantile(values: Sequence[float], percent: int, seed: int) -> Estimate:
    """Estimate the value that `percent` of the values do not exceed (nearest rank)."""
    if len(values) > _RESAMPLED:
        return Estimate(_nearest_rank(percent)(values), count=len(values))
    return bootstrap(values, _nearest_rank(percent), seed=seed, resamples=200)


def _nearest_rank(percent: int) -> Callable[[Sequence[float]], float]:
    return lambda values: sorted(values)[max(1, ceil(percent / 100 * len(values))) - 1]
