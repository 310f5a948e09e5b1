"""Baselines: what any router and ranker has to beat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prolocutor.contracts.pairing import AgentAnswer, Card, LabelledQuestion, UserQuestion
from prolocutor.plugins.pairing.agent_cards import documents
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice
from prolocutor.plugins.pairing.text import Bm25, stems


def by_chance(question: LabelledQuestion, agents: Sequence[str]) -> MethodChoice:
    """Choose any agent; `right` is the expectation."""
    return MethodChoice(agent="", right=len(question.gold & {*agents}) / len(agents), called=1)


def best_single(learned: Sequence[LabelledQuestion], agents: Sequence[str]) -> str:
    """Return the agent that is right most often; the first of equal ones."""
    counts = Counter(agent for one in learned for agent in one.gold)
    return max(agents, key=lambda agent: counts[agent])


def first_answer(question: LabelledQuestion, agents: Sequence[str]) -> str:
    """Return the first agent in order that has an answer."""
    given = [agent for agent in agents if question.answers.get(agent, "").strip()]
    return given[0] if given else agents[0]


def surest_answer(question: LabelledQuestion, agents: Sequence[str]) -> str:
    """Return the agent with the highest confidence, as an assistant without a selector does.

    The first of equal ones.
    """
    sure = {agent: question.calls[agent].confidence for agent in question.calls}
    given = [agent for agent in agents if agent in question.answers] or agents
    return max(given, key=lambda agent: sure.get(agent) or 0.0)


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
