"""Budgets on recorded answers: which agents a policy asks, and which answer it ends with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from prolocutor.contracts.pairing import Card, Pairing
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.budget import (
    AgentOffer,
    AskAll,
    BudgetPolicy,
    BudgetState,
    ExpectedGain,
    TopK,
    UntilSure,
)

Rank = Callable[[Sequence[str]], Awaitable[Sequence[Pairing]]]


def policy_of(text: str) -> BudgetPolicy:
    """Read `all`, `top:K`, `sure:P` (two, then until so sure) or `gain:C` (C is what a call costs).

    Raise `BadInput` for other texts.
    """
    name, _, value = text.partition(":")
    try:
        if text == "all":
            return AskAll()
        if name == "top" and int(value) > 0:
            return TopK(int(value))
        if name == "sure" and 0 <= float(value) <= 1:
            return UntilSure(sure=float(value))
        if name == "gain" and float(value) > 0:
            return ExpectedGain(per_call=float(value))
    except ValueError:
        pass
    raise BadInput(
        f"{text!r} is no budget; write all, top:3, sure:0.3, gain:0.02, loss:0.01", field="budget"
    )


async def spend(
    policy: BudgetPolicy,
    cards: Sequence[Card],
    prior: Mapping[str, float],
    answering: Sequence[str],
    rank: Rank,
    seen: Callable[[list[list[str]], Sequence[Pairing]], None] = lambda steps, pairs: None,
) -> tuple[list[list[str]], Sequence[Pairing]]:
    """Ask by a policy until it has enough; return the agents by step, and the last ranking.

    An agent without a recorded answer has failed. `seen` is called with both after every step.
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
    pairs: Sequence[Pairing] = ()
    while True:
        step = policy.next(BudgetState(offers=offers, answered=answered))
        asked = [agent for agent in step.ask if agent not in called]
        if step.enough or not asked:
            return steps, pairs
        steps.append(asked)
        called += asked
        pairs = await rank([agent for agent in called if agent in answering])
        seen(steps, pairs)
        found = {one.agent: one.probability for one in reversed(pairs)}
        answered = {agent: found.get(agent, 0.0) for agent in called}
