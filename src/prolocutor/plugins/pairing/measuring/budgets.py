"""Budgets on recorded answers: a policy calls agents, and the best answer is chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter

import msgspec

from prolocutor.contracts.pairing import Card, Pairing, Ranker
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.budget import AgentOffer, BudgetPolicy, BudgetState
from prolocutor.plugins.pairing.measuring.choice_scoring import ChoiceScoring
from prolocutor.plugins.pairing.measuring.fitting import Priors
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.method_catalog import await_result
from prolocutor.plugins.pairing.selector_settings import BudgetSettings

Rank = Callable[[Sequence[str]], Awaitable[Sequence[Pairing]]]


def read_policy(text: str) -> BudgetPolicy:
    """Read a budget such as `top:3`, as a file has it in short; `BadInput` for other texts."""
    try:
        return msgspec.convert(BudgetSettings.from_short(text), BudgetSettings).made()
    except ValueError:
        what = f"{text!r} is not a budget; write all, top:3, sure:0.3, gain:0.02"
        raise BadInput(what, field="budget") from None


async def spend(
    policy: BudgetPolicy,
    cards: Sequence[Card],
    prior: Mapping[str, float],
    answering: Sequence[str],
    rank: Rank,
    on_ranking: Callable[[list[list[str]], Sequence[Pairing]], None],
) -> None:
    """Ask by a policy until it has enough.

    An agent without an answer has failed. `on_ranking` is called after every step with the agents
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
        on_ranking(steps, pairs)
        found = {one.agent: one.probability for one in reversed(pairs)}
        answered = {agent: found.get(agent, 0.0) for agent in called}


class BudgetMeasurement:
    """Spends budgets on the questions of a test."""

    def __init__(self, data: PairingData, scoring: ChoiceScoring) -> None:
        self._data, self._scoring = data, scoring

    async def choices(
        self, budget: str, rankers: Sequence[Ranker], priors: Priors
    ) -> list[MethodChoice]:
        """Return the choice for every question."""
        policy = read_policy(budget)
        return [
            await self._choice(policy, ranker, prior, position)
            for position, (ranker, prior) in enumerate(zip(rankers, priors, strict=True))
        ]

    async def _choice(
        self, policy: BudgetPolicy, ranker: Ranker, prior: Mapping[str, float], position: int
    ) -> MethodChoice:
        """Return the choice after the last step of asking."""
        question, answers = self._data.test[position].question, self._scoring.answers(position)
        last = self._scoring.choose_agent(position, "", ())
        start = perf_counter()

        async def rank(called: Sequence[str]) -> Sequence[Pairing]:
            known = [each for each in answers if each.agent in called]
            return await await_result(ranker.rank(question, known, prior))

        def keep_choice(steps: list[list[str]], pairs: Sequence[Pairing]) -> None:
            nonlocal last
            spent = perf_counter() - start
            last = self._scoring.choose_first(position, pairs, spent, [*steps])

        answering = [answer.agent for answer in answers]
        await spend(policy, self._data.cards, prior, answering, rank, keep_choice)
        return last
