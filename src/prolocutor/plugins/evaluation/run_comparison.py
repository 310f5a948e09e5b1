"""Comparison: two runs over the same examples, pair by pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.example_rows import ExampleRow
from prolocutor.plugins.evaluation.parlai.metrics.estimates import (
    Estimate,
    bootstrap,
    estimate_difference,
)
from prolocutor.plugins.evaluation.run_report import clustered_mean

HALF: Final = 0.5
"""The least score of a right answer."""

_FEW: Final = 2000

RowPair = tuple[ExampleRow, ExampleRow]
Cluster = tuple[float, int]


class MetricDifference(msgspec.Struct, frozen=True):
    """A metric over the pairs: both means, and the second minus the first.

    `better` and `worse` count the pairs in which the second scored higher and lower.
    """

    metric: str
    first: float
    second: float
    difference: Estimate
    better: int
    worse: int
    same: int


class FlippedExample(msgspec.Struct, frozen=True, kw_only=True):
    """An example that was right in one run only (right: a score of at least a half)."""

    n: int
    repeat: int
    group: str
    text: str
    labels: list[str]
    first: str
    second: str
    first_by: str
    second_by: str
    first_score: float
    second_score: float


class RunComparison(msgspec.Struct, kw_only=True):
    """The common examples of two runs, and their differences.

    `flips` are by the metric `flipped_by`, the examples won by the second run first.
    """

    pairs: int
    only_first: int
    only_second: int
    metrics: list[MetricDifference]
    groups: dict[str, list[MetricDifference]]
    flipped_by: str
    flips: list[FlippedExample]


def compare(
    first: Sequence[ExampleRow], second: Sequence[ExampleRow], by: str | None = None
) -> RunComparison:
    """Compare two runs' rows; raise `BadInput` if they share no example.

    Examples are matched by their content, not by their position. `by`: the metric by which examples
    flip; by default accuracy if present, else the first metric.
    """
    pairs, only_first, only_second = pair_rows(first, second)
    if not pairs:
        raise BadInput("the two runs have no example in common")
    metrics = differences(pairs)
    names = [one.metric for one in metrics]
    if by is not None and by not in names:
        raise BadInput(f"the two runs have no metric {by!r} in common, but {', '.join(names)}")
    flipped_by = by or ("accuracy" if "accuracy" in names else next(iter(names), ""))
    groups: defaultdict[str, list[RowPair]] = defaultdict(list)
    for pair in pairs:
        groups[pair[0].group].append(pair)
    several = 1 < len(groups) < len(pairs)
    return RunComparison(
        pairs=len(pairs),
        only_first=only_first,
        only_second=only_second,
        metrics=metrics,
        groups={name: differences(groups[name]) for name in sorted(groups)} if several else {},
        flipped_by=flipped_by,
        flips=flips(pairs, flipped_by),
    )


def pair_rows(
    first: Iterable[ExampleRow], second: Iterable[ExampleRow]
) -> tuple[list[RowPair], int, int]:
    """Pair the rows of the same example, and count those without a counterpart on either side.

    Several equal examples are paired in their order.
    """
    waiting: dict[tuple[str, int, int], ExampleRow] = dict(_key_rows(first))
    pairs, alone = [], 0
    for key, row in _key_rows(second):
        partner = waiting.pop(key, None)
        if partner is None:
            alone += 1
        else:
            pairs.append((partner, row))
    return pairs, len(waiting), alone


def differences(pairs: Sequence[RowPair]) -> list[MetricDifference]:
    """Estimate how the second run differs from the first in each metric that both have."""
    names = dict.fromkeys(name for first, second in pairs for name in first.scores)
    found = [_difference(name, pairs) for name in names]
    return [one for one in found if one is not None]


def flips(pairs: Iterable[RowPair], metric: str) -> list[FlippedExample]:
    """Return the examples that were right in one run only."""
    found = []
    for first, second in pairs:
        before, after = first.scores.get(metric), second.scores.get(metric)
        if before is None or after is None or (before >= HALF) == (after >= HALF):
            continue
        flip = FlippedExample(
            n=first.n,
            repeat=first.repeat,
            group=first.group,
            text=str(first.input.get("text") or ""),
            labels=first.labels,
            first=_told(first),
            second=_told(second),
            first_by=first.by,
            second_by=second.by,
            first_score=before,
            second_score=after,
        )
        found.append(flip)
    return sorted(found, key=lambda one: (one.first_score >= HALF, one.n, one.repeat))


def _key_rows(rows: Iterable[ExampleRow]) -> Iterable[tuple[tuple[str, int, int], ExampleRow]]:
    seen: Counter[tuple[str, int]] = Counter()
    for row in rows:
        key = (row.example, row.repeat)
        yield (*key, seen[key]), row
        seen[key] += 1


def _difference(name: str, pairs: Sequence[RowPair]) -> MetricDifference | None:
    scored = [
        (first.episode, before, after)
        for first, second in pairs
        if (before := first.scores.get(name)) is not None
        and (after := second.scores.get(name)) is not None
    ]
    if not scored:
        return None
    better = sum(after > before for _, before, after in scored)
    worse = sum(after < before for _, before, after in scored)
    return MetricDifference(
        metric=name,
        first=sum(before for _, before, _ in scored) / len(scored),
        second=sum(after for _, _, after in scored) / len(scored),
        difference=_estimate(scored),
        better=better,
        worse=worse,
        same=len(scored) - better - worse,
    )


def _estimate(scored: Sequence[tuple[int, float, float]]) -> Estimate:
    """Estimate the mean difference by drawing whole episodes, whose turns are not independent."""
    clusters: dict[int, Cluster] = {}
    for episode, before, after in scored:
        total, count = clusters.get(episode, (0.0, 0))
        clusters[episode] = (total + after - before, count + 1)
    if len(clusters) == len(scored):
        found = estimate_difference(
            [after for *_, after in scored], [before for _, before, _ in scored]
        )
        assert found is not None
        return found
    if len(clusters) > _FEW:
        pairs = [(episode, after - before) for episode, before, after in scored]
        return clustered_mean(pairs, difference=True)
    return bootstrap(list(clusters.values()), _ratio)


def _ratio(clusters: Sequence[Cluster]) -> float:
    return sum(total for total, _ in clusters) / sum(count for _, count in clusters)


def _told(row: ExampleRow) -> str:
    return row.answer if row.error is None else f"({row.error})"
