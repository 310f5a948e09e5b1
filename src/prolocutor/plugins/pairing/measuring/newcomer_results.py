"""Results of new agents: the share of their gain that they bring after so many turns.

The gain of an agent is what it brings with all of its labels: the right answers of a system that is
trained with it, less those of one without it. Gains of all agents and seeds are added up before the
share that is reached is taken of them, because an agent that brings nothing has no share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.plugins.pairing.measuring.method_rows import BootstrapSamples
from prolocutor.plugins.pairing.question_agent.newcomers import NewcomerSettings

TURNS: Final = (0, 10, 25, 50, 100, 200)


class NewcomerPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is measured: after how many `turns`, over which `seeds`, of which agents (all).

    Without a ranker the likeliest agent alone is asked, whatever the budget.
    """

    router: str = "ensemble"
    ranker: str | None = "ensemble"
    budget: str = "sure:0.3"
    turns: Sequence[int] = TURNS
    seeds: Sequence[int] = (0, 1, 2)
    agents: Sequence[str] = ()
    newcomers: NewcomerSettings = NewcomerSettings()


class NewcomerPoint(msgspec.Struct, frozen=True, kw_only=True):
    """After so many turns: the share of the gain that is reached, with its 95 % interval.

    `precision_at_1` and `calls` of a question are means over agents and seeds; `asked` is in how
    many turns the new agent was asked until then, `rated` how many of its answers were.
    """

    turns: int
    share: float
    low: float
    high: float
    precision_at_1: float
    calls: float
    asked: float
    rated: float


class AgentGain(msgspec.Struct, frozen=True, kw_only=True):
    """The right answers that one agent brings, of all seeds: with all labels, and by turns."""

    agent: str
    whole: float
    by_turns: dict[int, float]


class NewcomerResults(msgspec.Struct, frozen=True, kw_only=True):
    """The figures: `held_out` questions with a right agent a seed, of which precision@1 are."""

    data: str
    plan: NewcomerPlan
    held_out: float
    without: float
    with_labels: float
    calls_with_labels: float
    points: list[NewcomerPoint]
    agents: list[AgentGain]


class CountedAnswers(msgspec.Struct, frozen=True):
    """The questions kept apart: whether each is answered right, by number, and the mean calls."""

    right: dict[int, float]
    calls: float


class NewcomerOutcome(msgspec.Struct, frozen=True):
    """One agent and seed: what was counted, and (asked, rated) after so many turns."""

    agent: str
    groups: list[int]
    without: CountedAnswers
    whole: CountedAnswers
    after: dict[int, CountedAnswers]
    seen: dict[int, tuple[int, int]]


def newcomer_results(
    data: str, plan: NewcomerPlan, outcomes: Sequence[NewcomerOutcome]
) -> NewcomerResults:
    """Return the figures of all outcomes."""
    reached = sorted({turns for one in outcomes for turns in one.after})
    return NewcomerResults(
        data=data,
        plan=plan,
        held_out=_mean([len(one.groups) for one in outcomes]),
        without=_mean([_mean([*one.without.right.values()]) for one in outcomes]),
        with_labels=_mean([_mean([*one.whole.right.values()]) for one in outcomes]),
        calls_with_labels=_mean([one.whole.calls for one in outcomes]),
        points=[_point(outcomes, turns) for turns in reached],
        agents=[
            AgentGain(
                agent=agent,
                whole=sum(_gain(one, one.whole) for one in own),
                by_turns={
                    turns: sum(_gain(one, one.after[turns]) for one in own if turns in one.after)
                    for turns in reached
                },
            )
            for agent in dict.fromkeys(one.agent for one in outcomes)
            for own in [[one for one in outcomes if one.agent == agent]]
        ],
    )


def _point(outcomes: Sequence[NewcomerOutcome], turns: int) -> NewcomerPoint:
    """Return the point after so many turns, its interval by groups of near duplicates."""
    there = [one for one in outcomes if turns in one.after]
    gained: dict[int, float] = {}
    whole: dict[int, float] = {}
    for one in there:
        rows = zip(one.groups, one.without.right.items(), strict=True)
        for group, (number, before) in rows:
            gained[group] = gained.get(group, 0.0) + one.after[turns].right[number] - before
            whole[group] = whole.get(group, 0.0) + one.whole.right[number] - before
    groups = list(whole)
    low, high = BootstrapSamples(groups, 0).ratio_interval(
        [gained[group] for group in groups], [whole[group] for group in groups]
    )
    return NewcomerPoint(
        turns=turns,
        share=_ratio(sum(gained.values()), sum(whole.values())),
        low=low,
        high=high,
        precision_at_1=_mean([_mean([*one.after[turns].right.values()]) for one in there]),
        calls=_mean([one.after[turns].calls for one in there]),
        asked=_mean([one.seen[turns][0] for one in there]),
        rated=_mean([one.seen[turns][1] for one in there]),
    )


def _gain(one: NewcomerOutcome, counted: CountedAnswers) -> float:
    return sum(counted.right.values()) - sum(one.without.right.values())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")
