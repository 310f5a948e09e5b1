"""Reporting: what the rows of a run come to, in all and group by group, with intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import NormalDist
from typing import Any, Final

import msgspec

from prolocutor.evaluation.rows import Row
from prolocutor.evaluation.scoring import TeacherScorer, needs_corpus, own_report
from prolocutor.parlai.metrics.estimates import CONFIDENCE, Estimate, estimates_of, mean_of
from prolocutor.parlai.metrics.rows import measure_rows

Estimates = dict[str, Estimate]

_FEW_ENOUGH: Final = 200
"""As many groups, or one for each example, are none."""


class Report(msgspec.Struct, kw_only=True):
    """What a run comes to. `metrics` are scores, `figures` latency, calls, abstention, errors.

    `groups`: the metrics by domain or task, where there are several. `by`: how many examples each
    agent answered.
    """

    examples: int
    episodes: int
    answered: int
    failed: int
    metrics: Estimates
    figures: Estimates
    groups: dict[str, Estimates] = {}
    by: dict[str, int] = {}

    def find(self, name: str) -> Estimate | None:
        """Give a metric or figure by name; a group's by `group/name`."""
        group, slash, own = name.rpartition("/")
        if slash and group in self.groups:
            return self.groups[group].get(own)
        return self.metrics.get(name) or self.figures.get(name)


def report_of(rows: Sequence[Row], metrics: str = "default") -> Report:
    """Make the report of a run's rows."""
    failed = sum(row.error is not None for row in rows)
    found = {**_metrics(rows), **estimates_of(own_report(rows))}
    if needs_corpus(metrics):
        found.update(_corpus(rows, metrics))
    groups = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    shown = 1 < len(groups) < min(_FEW_ENOUGH, len(rows))
    return Report(
        examples=len(rows),
        episodes=len({(row.episode, row.repeat) for row in rows}),
        answered=len(rows) - failed,
        failed=failed,
        metrics=found,
        figures=measure_rows(map(_measured, rows)),
        groups={name: _metrics(groups[name]) for name in sorted(groups)} if shown else {},
        by=dict(Counter(row.by for row in rows if row.error is None).most_common()),
    )


def _metrics(rows: Sequence[Row]) -> Estimates:
    """Estimate the mean of each score, examples of an episode being no independent draws."""
    values: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for row in rows:
        for name, score in row.scores.items():
            if score is not None:
                values[name].append((row.episode, score))
    return {name: clustered_mean(pairs) for name, pairs in values.items()}


def clustered_mean(pairs: Sequence[tuple[int, float]]) -> Estimate:
    """Estimate a mean of values that come in clusters: (cluster, value), at least one.

    With one value a cluster as `mean_of` does; else with the standard error of a ratio of cluster
    totals (Cochran, Sampling Techniques, section 9A.2) and the normal interval.
    """
    clusters: dict[int, list[float]] = {}
    for cluster, value in pairs:
        if cluster in clusters:
            clusters[cluster][0] += value
            clusters[cluster][1] += 1
        else:
            clusters[cluster] = [value, 1]
    if len(clusters) == len(pairs):
        found = mean_of(value for _, value in pairs)
        assert found is not None
        return found
    count, number = len(pairs), len(clusters)
    mean = sum(total for total, _ in clusters.values()) / count
    if number < 2:
        return Estimate(mean, count=count)
    rest = sum((total - mean * size) ** 2 for total, size in clusters.values())
    error = sqrt(rest * number / (number - 1)) / count
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * error
    low, high = mean - half, mean + half
    if all(0 <= value <= 1 for _, value in pairs):
        low, high = max(0.0, low), min(1.0, high)
    return Estimate(mean, error, low, high, count, "normal")


def _corpus(rows: Iterable[Row], metrics: str) -> Estimates:
    scorer = TeacherScorer(metrics)
    for row in rows:
        scorer.score(row.input, row.act if row.error is None else {"text": ""})
    whole = estimates_of(scorer.report())
    return {name: one for name, one in whole.items() if name.startswith("interdistinct")}


def _measured(row: Row) -> Mapping[str, Any]:
    return {
        "seconds": row.seconds,
        "calls": row.calls,
        "cost": row.act.get("cost"),
        "text": row.answer,
        "error": row.error,
    }
