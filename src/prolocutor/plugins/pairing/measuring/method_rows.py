"""Rows of a measurement, one a method."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from prolocutor.contracts.model_use import CalibrationBin
from prolocutor.contracts.pairing import LabelledQuestion

PairingStage = Literal["route", "rank", "budget"]

_DRAWS: Final = 1000
_BINS: Final = 10
_LOW: Final = 0.025
_FALSE_ABSTENTIONS: Final = 0.05
_MEANS: Final = (
    "precision_at_1", "low", "high", "mean_calls", "cost", "ms", "ece", "ece_all",
    "among_three", "nobody_found",
)  # fmt: skip


class MethodChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of a method for one question.

    `right` is 1 or 0, or the expectation of a random method. `called` agents were
    asked, `scores` are the probabilities of all scored agents, the best first.
    """

    agent: str
    right: float
    called: int
    cost: float | None = None
    seconds: float = 0.0
    probability: float | None = None
    scores: dict[str, float] = {}


class MethodRow(msgspec.Struct, frozen=True, kw_only=True):
    """One method; shares are 0 to 1, `low` and `high` a 95 % interval.

    `mean_calls`, `cost` and `ece` are over the questions with a right agent; `ece_all` is over all,
    where every choice for a question without one is wrong, as is `reliability`: its choices by
    their probability. `ms` is the method's own time. `difference` is the paired one from the method
    `than`, with its interval. `coverage`: the share of right choices among the questions with the
    highest probability. `among_three`: the share for which a right agent is among the first three.
    `nobody_found`: the share of questions without a right agent that are held for such where 5 % of
    the others are, by the lowest probabilities.
    """

    method: str
    stage: PairingStage
    precision_at_1: float
    low: float
    high: float
    mean_calls: float
    cost: float | None
    ms: float
    ece: float | None
    domains: dict[str, float]
    coverage: list[tuple[float, float]] = []
    reliability: list[CalibrationBin] = []
    ece_all: float | None = None
    among_three: float | None = None
    nobody_found: float | None = None
    than: str | None = None
    difference: tuple[float, float, float] | None = None


class BootstrapSamples:
    """The same bootstrap samples for all methods: groups of near duplicates, with replacement."""

    def __init__(self, groups: Sequence[int], seed: int) -> None:
        members: dict[int, list[int]] = {}
        for position, group in enumerate(groups):
            members.setdefault(group, []).append(position)
        chance = random.Random(seed)
        pools = list(members.values())
        self._draws = [
            [position for pool in chance.choices(pools, k=len(pools)) for position in pool]
            for _ in range(_DRAWS if pools else 0)
        ]

    def interval(self, values: Sequence[float]) -> tuple[float, float]:
        """Return the percentile interval of a mean."""
        means = sorted(sum(map(values.__getitem__, draw)) / len(draw) for draw in self._draws)
        last = len(means) - 1
        return means[round(_LOW * last)], means[round((1 - _LOW) * last)]


def method_row(
    method: str,
    stage: PairingStage,
    questions: Sequence[LabelledQuestion],
    choices: Sequence[MethodChoice],
    draws: BootstrapSamples,
    against: tuple[str, Sequence[MethodChoice]] | None = None,
) -> MethodRow:
    """Return the row of a method; `draws` are over the questions with a right agent."""
    asked = [(one, made) for one, made in zip(questions, choices, strict=True) if one.gold]
    values = [made.right for _, made in asked]
    number = len(values)
    low, high = draws.interval(values)
    costs = [made.cost for _, made in asked if made.cost is not None]
    sure = [(made.probability, made.right) for _, made in asked if made.probability is not None]
    everywhere = [
        (made.probability, made.right) for made in choices if made.probability is not None
    ]
    bins = bin_by_probability(everywhere)
    difference = None
    if against is not None:
        other = [made.right for one, made in zip(questions, against[1], strict=True) if one.gold]
        gains = [mine - its for mine, its in zip(values, other, strict=True)]
        difference = sum(gains) / number, *draws.interval(gains)
    return MethodRow(
        method=method,
        stage=stage,
        precision_at_1=sum(values) / number,
        low=low,
        high=high,
        mean_calls=sum(made.called for _, made in asked) / number,
        cost=sum(costs) / number if costs else None,
        ms=1000 * sum(made.seconds for made in choices) / len(choices),
        ece=calibration_error(bin_by_probability(sure)) if sure else None,
        domains=_precision_by_domain(asked),
        coverage=coverage_curve(sure),
        reliability=bins,
        ece_all=calibration_error(bins) if bins else None,
        among_three=_among_three(asked),
        nobody_found=_nobody_found(questions, choices),
        than=against[0] if against else None,
        difference=difference,
    )


def bin_by_probability(sure: Sequence[tuple[float, float]]) -> list[CalibrationBin]:
    """Return ten bins of choices by their probability, without the empty ones."""
    bins: list[list[tuple[float, float]]] = [[] for _ in range(_BINS)]
    for probability, right in sure:
        bins[min(_BINS - 1, max(0, int(probability * _BINS)))].append((probability, right))
    return [
        CalibrationBin(
            len(one), sum(p for p, _ in one) / len(one), sum(r for _, r in one) / len(one)
        )
        for one in bins
        if one
    ]


def calibration_error(bins: Sequence[CalibrationBin]) -> float:
    """Return the expected calibration error (Guo et al. 2017)."""
    whole = sum(one.count for one in bins)
    return sum(one.count * abs(one.probability - one.right) for one in bins) / whole


def coverage_curve(sure: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the share of right choices among the surest tenth, two tenths, ... of them."""
    order = sorted(sure, key=lambda one: -one[0])
    found = []
    for tenth in range(1, 11 if order else 1):
        first = order[: max(1, round(len(order) * tenth / 10))]
        found.append((tenth / 10, sum(right for _, right in first) / len(first)))
    return found


def _precision_by_domain(
    asked: Sequence[tuple[LabelledQuestion, MethodChoice]],
) -> dict[str, float]:
    domains: dict[str, list[float]] = {}
    for one, made in asked:
        if one.domain:
            domains.setdefault(one.domain, []).append(made.right)
    return {name: sum(found) / len(found) for name, found in sorted(domains.items())}


def _among_three(asked: Sequence[tuple[LabelledQuestion, MethodChoice]]) -> float | None:
    if not any(made.scores for _, made in asked):
        return None
    hits = sum(not one.gold.isdisjoint([*made.scores][:3]) for one, made in asked)
    return hits / len(asked)


def _nobody_found(
    questions: Sequence[LabelledQuestion], choices: Sequence[MethodChoice]
) -> float | None:
    sure: dict[bool, list[float]] = {True: [], False: []}
    for one, made in zip(questions, choices, strict=True):
        if made.probability is not None:
            sure[bool(one.gold)].append(made.probability)
    if not sure[True] or not sure[False]:
        return None
    least = sorted(sure[True])[int(_FALSE_ABSTENTIONS * len(sure[True]))]
    return sum(one < least for one in sure[False]) / len(sure[False])


def mean_row(rows: Sequence[MethodRow]) -> MethodRow:
    """Return the mean of a method's rows over several draws; bounds are means as well."""
    means = {}
    for name in _MEANS:
        found = [value for one in rows if (value := getattr(one, name)) is not None]
        means[name] = sum(found) / len(found) if found else None
    return msgspec.structs.replace(rows[0], **means, difference=None, than=None)
