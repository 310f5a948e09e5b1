"""Budgets on recorded answers: whom a policy asks, what it ends with, and what stopping costs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import Final

import msgspec

from prolocutor.contracts.pairing import Card, Pairing, Ranker
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.pairing.budget import AgentOffer, BudgetPolicy, BudgetState, UntilSure
from prolocutor.plugins.pairing.measuring.choice_record import ChoiceScoring
from prolocutor.plugins.pairing.measuring.fitting import Priors, await_result
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.selector_settings import BudgetSettings
from prolocutor.plugins.pairing.stopping_curves import THRESHOLDS, LossCurve, LossPoint, loss_bound

Rank = Callable[[Sequence[str]], Awaitable[Sequence[Pairing]]]

AskedPath = Sequence[MethodChoice]
"""The choice after each step of asking one agent more; the last is after the last agent."""

SUREST: Final = THRESHOLDS[0]


def read_policy(text: str) -> BudgetPolicy:
    """Read a budget such as `top:3`, as a file has it in short; `BadInput` for other texts.

    A loss is no budget here: `train ranker --loss-budget` measures it.
    """
    try:
        settings = msgspec.convert(BudgetSettings.from_short(text), BudgetSettings)
    except (ValueError, ConfigError):
        settings = BudgetSettings(loss=1.0)
    if settings.loss is not None:
        what = f"{text!r} is no budget; write all, top:3, sure:0.3, gain:0.02"
        raise BadInput(what, field="budget")
    return settings.made()


async def spend(
    policy: BudgetPolicy,
    cards: Sequence[Card],
    prior: Mapping[str, float],
    answering: Sequence[str],
    rank: Rank,
    seen: Callable[[list[list[str]], Sequence[Pairing]], None],
) -> None:
    """Ask by a policy until it has enough.

    An agent without a recorded answer has failed. `seen` is called after every step with the agents
    by step, and the last ranking.
    """
    offers = [
        AgentOffer(
            agent=card.name,
            prior=prior.get(card.name, 0.0),
            price=card.price or 0.0,
            latency=card.latency or 0.0,
        )
        for card in cards
    ]
    steps: list[list[str]] = []
    called: list[str] = []
    answered: dict[str, float] = {}
    while True:
        step = policy.next(BudgetState(offers=offers, answered=answered))
        asked = [agent for agent in step.ask if agent not in called]
        if step.enough or not asked:
            return
        steps.append(asked)
        called += asked
        pairs = await rank([agent for agent in called if agent in answering])
        seen(steps, pairs)
        found = {one.agent: one.probability for one in reversed(pairs)}
        answered = {agent: found.get(agent, 0.0) for agent in called}


def loss_curve(known: Sequence[tuple[AskedPath, MethodChoice]], router: str = "") -> LossCurve:
    """Return the curve over questions with their paths and the choices after asking all."""
    points = [
        LossPoint(
            threshold,
            loss_bound([after.right - stopped(path, threshold).right for path, after in known]),
        )
        for threshold in THRESHOLDS
    ]
    return LossCurve(points=points, questions=len(known), router=router)


def stopped(path: AskedPath, threshold: float | None) -> MethodChoice:
    """Return the first choice that is sure enough, else the last."""
    for choice in path:
        if threshold is not None and (choice.probability or 0.0) >= threshold:
            return choice
    return path[-1]


class BudgetMeasurement:
    """Spends budgets on the questions of a test."""

    def __init__(self, data: PairingData, scoring: ChoiceScoring) -> None:
        self._data, self._scoring = data, scoring

    async def choices(
        self, budget: str, rankers: Sequence[Ranker], priors: Priors
    ) -> list[MethodChoice]:
        """Return the choice for every question."""
        everything = range(len(self._data.test))
        paths = await self._paths(read_policy(budget), rankers, priors, everything)
        return [path[-1] for path in paths]

    async def curve(
        self,
        rankers: Sequence[Ranker],
        priors: Priors,
        whole: Sequence[MethodChoice],
        router: str,
    ) -> LossCurve:
        """Return what stopping costs, over the questions with a right agent."""
        counted = [position for position, one in enumerate(self._data.test) if one.gold]
        paths = await self._paths(UntilSure(sure=SUREST), rankers, priors, counted)
        after = [whole[position] for position in counted]
        return loss_curve(list(zip(paths, after, strict=True)), router)

    async def _paths(
        self,
        policy: BudgetPolicy,
        rankers: Sequence[Ranker],
        priors: Priors,
        positions: Sequence[int],
    ) -> list[AskedPath]:
        """Return the choices after each step of asking, for the questions at these positions."""
        return [
            await self._path(policy, rankers[position], priors[position], position)
            for position in positions
        ]

    async def _path(
        self, policy: BudgetPolicy, ranker: Ranker, prior: Mapping[str, float], position: int
    ) -> AskedPath:
        question, answers = self._data.test[position].question, self._scoring.answers(position)
        path: list[MethodChoice] = []
        start = perf_counter()

        async def rank(called: Sequence[str]) -> Sequence[Pairing]:
            known = [each for each in answers if each.agent in called]
            return await await_result(ranker.rank(question, known, prior))

        def seen(steps: list[list[str]], pairs: Sequence[Pairing]) -> None:
            spent = perf_counter() - start
            path.append(self._scoring.of_pairs(position, pairs, spent, [*steps]))

        answering = [answer.agent for answer in answers]
        await spend(policy, self._data.cards, prior, answering, rank, seen)
        return path or [self._scoring.of_agent(position, "", ())]
