"""Cards: a router without labels; BM25 between a question and the agents' cards.

A score is evidence plus prior, as in Bayes' rule with logarithms: the best sentence or example of a
card, and how much the card claims to know, so that the broadest agent gets what no card speaks of.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Final

from prolocutor.contracts.pairing import Card, Pairing, TrainingData, UserQuestion
from prolocutor.plugins.pairing.agent_cards import breadth, checked, documents, name_stems
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.method_catalog import PairingMethod
from prolocutor.plugins.pairing.question_agent.follow_ups import pairings
from prolocutor.plugins.pairing.text import Bm25, content_stems

_BREADTH: Final = 1.5
_CURVE: Final = Sigmoid(0.8, 0.5)
_MOST_POSTINGS: Final = 3000

BestDocuments = dict[int, tuple[float, int]]


def fit(training: TrainingData) -> CardsRouter:
    """Make the router from cards alone."""
    return CardsRouter(training.cards)


class CardsRouter:
    """Routes by cards; for a new agent, make the router anew."""

    def __init__(self, cards: Sequence[Card]) -> None:
        known = checked(cards)
        self.agents: Sequence[str] = [card.name for card in known]
        self._breadths = [_BREADTH * breadth(card) for card in known]
        self._texts: list[str] = []
        self._latest: tuple[str, BestDocuments] | None = None
        self._sentences: Bm25[tuple[int, int]] = Bm25()
        for place, card in enumerate(known):
            for text in documents(card):
                self._sentences.add((place, len(self._texts)), content_stems(text))
                self._texts.append(text)
            self._sentences.add((place, len(self._texts)), name_stems(card.name))
            self._texts.append(card.name)

    def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        return pairings(self, question)

    def probabilities(self, text: str) -> list[float]:
        """Return the probability of each agent, by its share of the evidence.

        Without labels it is rough: the curve was fitted to one data set (of nineteen agents).
        """
        scores = list(self._breadths)
        for place, (score, _) in self._best(text).items():
            scores[place] += score
        most = max(scores)
        whole = most + log(sum(exp(score - most) for score in scores))
        return [_CURVE(score - whole) for score in scores]

    def reason(self, text: str, agent: str) -> str:
        """Quote the most similar sentence or example of the card."""
        found = self._best(text).get(self.agents.index(agent))
        if found is None:
            return "its card claims the most, and no card speaks of this"
        quoted = self._texts[found[1]]
        return f"its card: {quoted if len(quoted) <= 80 else f'{quoted[:79]}…'}"

    def _best(self, text: str) -> BestDocuments:
        """Return the best document of each agent; cached for the latest text, for `reason`."""
        if self._latest is None or self._latest[0] != text:
            best: BestDocuments = {}
            found = self._sentences.search(content_stems(text), _MOST_POSTINGS)
            for (place, number), score in found:
                if place not in best or score > best[place][0]:
                    best[place] = score, number
            self._latest = text, best
        return self._latest[1]


METHOD: Final = PairingMethod(fit=fit)
