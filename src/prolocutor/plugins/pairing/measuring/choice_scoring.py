"""Choices on recorded questions: whether they are right, their calls, cost and waiting time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, Pairing
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData

_SHOWN: Final = 3

Steps = Sequence[Sequence[str]]
"""The agents asked, step by step: those of one step at the same time."""


class ChoiceScoring:
    """Makes choices of agents on the questions of a test, by their number in it."""

    def __init__(self, data: PairingData) -> None:
        self._data = data
        self._prices = {card.name: card.price for card in data.cards}

    def answers(self, position: int) -> list[AgentAnswer]:
        """Return the answers to a question, in the order of the agents."""
        given = self._data.test[position].answers
        return [
            AgentAnswer(agent=one, text=given[one]) for one in self._data.agents if one in given
        ]

    def asked(self, position: int) -> list[str]:
        """Return the agents that were asked a question, with or without an answer."""
        one = self._data.test[position]
        return [*(one.calls or one.answers)]

    def of_agent(
        self,
        position: int,
        agent: str,
        steps: Steps,
        *,
        seconds: float = 0.0,
        probability: float | None = None,
        ranked: tuple[tuple[str, float], ...] = (),
        scores: dict[str, float] | None = None,
    ) -> MethodChoice:
        """Return the choice of an agent after asking step by step."""
        one = self._data.test[position]
        asked = [agent for step in steps for agent in step]
        return MethodChoice(
            agent=agent,
            right=float(agent in one.gold),
            called=len(asked),
            cost=self._cost(one, asked),
            wait=_wait(one, steps),
            seconds=seconds,
            probability=probability,
            ranked=ranked,
            scores=scores or {},
        )

    def of_pairs(
        self, position: int, pairs: Sequence[Pairing], seconds: float, steps: Steps | None = None
    ) -> MethodChoice:
        """Return the choice of the best pairing; without steps its agent alone is asked."""
        if not pairs:
            return self.of_agent(position, "", steps or (), seconds=seconds, probability=0.0)
        best = pairs[0]
        return self.of_agent(
            position,
            best.agent,
            [[best.agent]] if steps is None else steps,
            seconds=seconds,
            probability=best.probability,
            ranked=tuple((one.agent, round(one.probability, 4)) for one in pairs[:_SHOWN]),
            scores={one.agent: one.probability for one in reversed(pairs)},
        )

    def _cost(self, one: LabelledQuestion, asked: Sequence[str]) -> float | None:
        """Return the price of the calls, by the cards where no price was recorded."""
        paid = (one.calls[name].price if name in one.calls else None for name in asked)
        prices = [
            self._prices.get(name) if price is None else price
            for name, price in zip(asked, paid, strict=True)
        ]
        known = [price for price in prices if price is not None]
        return sum(known) if known else None


def _wait(one: LabelledQuestion, steps: Steps) -> float | None:
    """Return the seconds that the steps took, each as long as its slowest agent."""
    if not one.calls:
        return None
    return sum(
        max((one.calls[name].seconds for name in step if name in one.calls), default=0.0)
        for step in steps
    )
