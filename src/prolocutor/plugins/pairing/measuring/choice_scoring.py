"""Choices of methods scored on questions, and the baselines without a method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import msgspec

from prolocutor.contracts.pairing import (
    AgentAnswer,
    Card,
    LabelledQuestion,
    Pairing,
    Ranker,
    UserQuestion,
)
from prolocutor.plugins.pairing.budget import AgentOffer, Budget, BudgetState
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.method_catalog import await_result
from prolocutor.plugins.pairing.question_agent.cards import documents
from prolocutor.plugins.pairing.text import Bm25, stems


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

    def answering_agents(self, position: int) -> list[str]:
        """Return the agents that answered a question."""
        return [*self._data.test[position].answers]

    async def ask(
        self, position: int, method: Any, prior: Mapping[str, float] | None = None
    ) -> MethodChoice:
        """Return the choice of a router, or of a ranker of all answers, which is given a prior."""
        question = self._data.test[position].question
        start = perf_counter()
        if prior is None:
            pairs = await await_result(method.route(question))
            return self._choose_first(position, pairs, perf_counter() - start, None)
        pairs = await await_result(method.rank(question, self.answers(position), prior))
        return self._choose_first(
            position, pairs, perf_counter() - start, self.answering_agents(position)
        )

    async def ask_within(
        self, position: int, ranker: Ranker, prior: Mapping[str, float], budget: Budget
    ) -> MethodChoice:
        """Return the choice after the last step of a budget; who gives no answer has failed."""
        question, answers = self._data.test[position].question, self.answers(position)
        offers = [
            AgentOffer(
                agent=card.name,
                prior=prior.get(card.name, 0.0),
                price=card.price or 0.0,
                latency=card.latency or 0.0,
            )
            for card in self._data.cards
        ]
        answered: dict[str, float] = {}
        pairs: Sequence[Pairing] = ()
        start = perf_counter()
        while not (step := budget.next(BudgetState(offers=offers, answered=answered))).enough:
            answered |= dict.fromkeys(step.ask, 0.0)
            known = [each for each in answers if each.agent in answered]
            pairs = await await_result(ranker.rank(question, known, prior))
            found = {one.agent: one.probability for one in reversed(pairs)}
            answered = {agent: found.get(agent, 0.0) for agent in answered}
        return self._choose_first(position, pairs, perf_counter() - start, [*answered])

    def choose_agent(self, position: int, agent: str, asked: Sequence[str]) -> MethodChoice:
        """Return the choice of an agent after asking some."""
        return MethodChoice(
            agent=agent,
            right=float(agent in self._data.test[position].gold),
            called=len(asked),
            cost=self._cost(asked),
        )

    def _choose_first(
        self, position: int, pairs: Sequence[Pairing], seconds: float, asked: Sequence[str] | None
    ) -> MethodChoice:
        """Return the choice of the best pairing; if `asked` is None, its agent alone is asked."""
        best = pairs[0] if pairs else Pairing("", 0.0)
        alone = [best.agent] if pairs else []
        return msgspec.structs.replace(
            self.choose_agent(position, best.agent, alone if asked is None else asked),
            seconds=seconds,
            probability=best.probability,
            scores={one.agent: one.probability for one in pairs},
        )

    def _cost(self, asked: Sequence[str]) -> float | None:
        """Return the price of the calls by the cards; None if no price is known."""
        known = [price for name in asked if (price := self._prices.get(name)) is not None]
        return sum(known) if known else None


def choose_by_chance(question: LabelledQuestion, agents: Sequence[str]) -> MethodChoice:
    """Choose any agent; `right` is the expectation."""
    return MethodChoice(agent="", right=len(question.gold & {*agents}) / len(agents), called=1)


def best_single(learned: Sequence[LabelledQuestion], agents: Sequence[str]) -> str:
    """Return the agent with most right answers; the first of equal agents."""
    counts = Counter(agent for one in learned for agent in one.gold)
    return max(agents, key=lambda agent: counts[agent])


def first_answer(question: LabelledQuestion, agents: Sequence[str]) -> str:
    """Return the first agent in order with an answer."""
    given = [agent for agent in agents if question.answers.get(agent, "").strip()]
    return given[0] if given else agents[0]


class SentenceBm25:
    """BM25 between a question and the sentences of cards; the best sentence of each card counts."""

    def __init__(self, cards: Sequence[Card]) -> None:
        self._agents = [card.name for card in cards]
        self._index = Bm25((card.name, stems(text)) for card in cards for text in documents(card))

    def choose(self, question: UserQuestion) -> str:
        """Return the agent of the best sentence; the first agent, if no sentence matches."""
        best = dict.fromkeys(self._agents, 0.0)
        for agent, score in self._index.search(stems(question.text)):
            best[agent] = max(best[agent], score)
        return max(self._agents, key=best.__getitem__)


def nearest_answer(question: UserQuestion, answers: Sequence[AgentAnswer]) -> str:
    """Return the agent whose answer is most similar to the question by BM25 among the answers."""
    index = Bm25((one.agent, stems(one.text)) for one in answers)
    found = dict(index.search(stems(question.text)))
    return max((one.agent for one in answers), key=lambda agent: found.get(agent, 0.0))
