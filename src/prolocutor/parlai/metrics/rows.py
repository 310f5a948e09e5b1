"""Figures over rows, one a turn: latency, cost, calls, abstention, errors.

A row is a dictionary, such as a line of an evaluation's JSONL file. What is read of it, each where
it is there and not None:

| field | what |
|---|---|
| `seconds` | from the input to the reply |
| `cost` | in whatever the agents' costs are given in |
| `calls` | calls of services in the turn |
| `text` | the reply; null or blank means that the assistant abstained |
| `error` | what failed; such a row counts for `errors` and for nothing else |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil, isfinite
from typing import Any, Final

from prolocutor.parlai.metrics.estimates import Estimate, bootstrap, mean_of, share_of

_MEANS: Final = {"latency": "seconds", "cost": "cost", "calls": "calls"}
_QUANTILES: Final = (50, 95, 99)
_RESAMPLED: Final = 5000


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
    found = {name: mean_of(values, seed=seed) for name, values in known.items()}
    figures = {name: estimate for name, estimate in found.items() if estimate is not None}
    for percent in _QUANTILES if known["latency"] else ():
        figures[f"latency_p{percent}"] = _quantile(known["latency"], percent, seed)
    if spoken or silent:
        figures["abstention"] = share_of(silent, spoken + silent)
    if rows_seen:
        figures["errors"] = share_of(failed, rows_seen)
    return figures


def _quantile(values: Sequence[float], percent: int, seed: int) -> Estimate:
    """Estimate the value that `percent` of the values do not exceed (nearest rank)."""
    if len(values) > _RESAMPLED:
        return Estimate(_nearest_rank(percent)(values), count=len(values))
    return bootstrap(values, _nearest_rank(percent), seed=seed, resamples=200)


def _nearest_rank(percent: int) -> Callable[[Sequence[float]], float]:
    return lambda values: sorted(values)[max(1, ceil(percent / 100 * len(values))) - 1]
