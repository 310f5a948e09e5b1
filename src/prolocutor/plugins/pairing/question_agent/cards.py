"""Agents' cards as texts, and the router based on them alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, log
from typing import Final

from prolocutor.contracts.pairing import Card, Pairing, TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.encoders.meanings import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.method_catalog import PairingMethod
from prolocutor.plugins.pairing.question_agent.follow_ups import pairings
from prolocutor.plugins.pairing.text import Bm25, content_stems, stem

_END: Final = re.compile(r"(?<=[.!?;。！？])\s*(?=[^\s\d.!?;])|\n+")
_APART: Final = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")

_BREADTH: Final = 1.5
_CURVE: Final = Sigmoid(0.8, 0.5)
_MOST_POSTINGS: Final = 3000

BestDocuments = dict[int, tuple[float, int]]


def sentences(text: str) -> list[str]:
    """Cut a description into sentences; those without a word are left out."""
    return [part.strip() for part in _END.split(text) if any(map(str.isalnum, part))]


def documents(card: Card) -> list[str]:
    """Return the sentences of a card's description, then its examples."""
    return [*sentences(card.description), *card.examples]


def name_stems(name: str) -> list[str]:
    """Return the stems of an agent's name: `task_manager` and `TaskManager` are two words."""
    return [stem(part.lower()) for part in _APART.split(name) if part]


def spoken_name(name: str) -> str:
    """Return an agent's name as words."""
    return " ".join(filter(None, _APART.split(name)))


def breadth(card: Card) -> float:
    """Return how much an agent claims to know.

    It is the log of the number of different words in its card, times their share of all words:
    repetition claims little more.
    """
    stems = [one for text in documents(card) for one in content_stems(text)]
    return log(1 + len(set(stems)) ** 2 / (len(stems) or 1))


def check_cards(cards: Sequence[Card]) -> list[Card]:
    """Return the cards; raise `BadInput` for an empty list, or two cards with the same name."""
    names = [card.name for card in cards]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadInput(f"two agents are named {twice!r}", field="cards")
    if not names:
        raise BadInput("there is no agent to choose from", field="cards")
    return list(cards)


def fit(training: TrainingData) -> CardsRouter:
    """Make the router from cards alone."""
    return CardsRouter(training.cards)


class CardsRouter:
    """Routes by cards; for a new agent, make the router anew."""

    def __init__(self, cards: Sequence[Card]) -> None:
        known = check_cards(cards)
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

    def probabilities(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return the probability of each agent, by its share of the evidence.

        Without labels it is rough: the curve was fitted to one data set (of nineteen agents).
        """
        scores = list(self._breadths)
        for place, (score, _) in self._best(text).items():
            scores[place] += score
        most = max(scores)
        whole = most + log(sum(exp(score - most) for score in scores))
        return [_CURVE(score - whole) for score in scores]

    def reason(self, text: str, agent: str, vectors: Vectors = NO_VECTORS) -> str:
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
