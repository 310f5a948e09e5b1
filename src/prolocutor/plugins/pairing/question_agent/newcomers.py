"""New agents: what is expected of them by their cards and their like, and learned of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt
from typing import Final

import msgspec

from prolocutor.contracts.pairing import Card
from prolocutor.plugins.pairing.calibration import Sigmoid, fit_sigmoid, logit
from prolocutor.plugins.pairing.question_agent.cards import CardsRouter, documents
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.plugins.pairing.text import content_stems

_USUAL: Final = -2.0
"""The logit of an agent's probability where nothing is known of any agent."""

_MAX_LESSONS: Final = 300
"""Lessons on which cards are calibrated."""

_PRIOR: Final = (4.0, 4.0)
_LEAST: Final = 1e-3
_PLAIN: Final = Sigmoid()

_PROMISED: Final = 0.8
_LENT: Final = 0.5
"""Weights of logits: for the promise of the card, and for the worth of similar agents."""

_DOUBT: Final = 2.1
_VOTES: Final = 3.0
"""Ratings that the usual share of right answers counts for."""

_LEAST_ALIKE: Final = 0.02
"""The similarity of agents without a common word."""

_RIGHT: Final = 0.5
_FARTHEST: Final = 3.0
"""The largest absolute difference of logits that counts."""


class CardPromise(msgspec.Struct, frozen=True):
    """What a card's probability is worth, and the logit of how often any agent is right."""

    curve: Sigmoid = Sigmoid()
    usual: float = _USUAL

    def __call__(self, probability: float) -> float:
        """Return the logit of how often an agent is right whose card says this."""
        return self.curve.logit(logit(probability))


def card_promise(
    cards: CardsRouter, settled: Sequence[str], lessons: Sequence[RouterLabel]
) -> CardPromise:
    """Return the measured promise of the cards of these agents; a guess without labels."""
    known = [one for one in lessons if one.agents]
    scores: list[float] = []
    right: list[float] = []
    for one in known[:: max(1, len(known) // _MAX_LESSONS)]:
        found = dict(zip(cards.agents, cards.probabilities(one.text), strict=True))
        scores += [logit(found[agent]) for agent in settled]
        right += [one.agents.get(agent, 0.0) for agent in settled]
    if not sum(right):
        return CardPromise()
    curve = fit_sigmoid(scores, right, strength=_PRIOR)
    return CardPromise(curve, logit(sum(right) / len(right), _LEAST))


class NewAgents:
    """The agents `new` among those with cards, and the ratings of each.

    `lessons` are labels of the others, on which cards are calibrated.
    """

    def __init__(
        self, cards: Sequence[Card], new: Iterable[str], lessons: Sequence[RouterLabel] = ()
    ) -> None:
        self.agents: Sequence[str] = list(new)
        self._cards = CardsRouter(cards)
        settled = [card.name for card in cards if card.name not in self.agents]
        self._promise = card_promise(self._cards, settled, lessons)
        self._alike = {agent: _alike(agent, cards, settled) for agent in self.agents}
        self._rated = {agent: _RatingSums() for agent in self.agents}

    def learn(self, lessons: Iterable[tuple[RouterLabel, Mapping[str, float]]]) -> None:
        """Learn what lessons say of new agents; each comes with the others' probabilities."""
        for lesson, worth in lessons:
            for agent in self.agents:
                if (right := lesson_share(lesson, agent)) is not None:
                    expected = _PLAIN(self._logit(lesson.text, agent, worth))
                    self._rated[agent].add(right, expected, lesson.weight)

    def probability(self, text: str, agent: str, worth: Mapping[str, float]) -> float:
        """Return how probably a new agent is right; `worth` are the others' probabilities."""
        return _PLAIN(self._logit(text, agent, worth) + self._rated[agent].offset)

    def doubt(self, agent: str) -> float:
        """Return how unsure that is, as the standard deviation of its logit."""
        return _DOUBT / sqrt(1 + self._rated[agent].weight / _VOTES)

    def reason(self, text: str, agent: str) -> str:
        """Quote the card."""
        return self._cards.reason(text, agent)

    def _logit(self, text: str, agent: str, worth: Mapping[str, float]) -> float:
        """Return the logit from the card and from similar agents."""
        promise, alike = self._promise, self._alike[agent]
        place = self._cards.agents.index(agent)
        promised = promise(self._cards.probabilities(text)[place])
        whole = sum(alike.values())
        lent = sum(share * worth.get(other, 0.0) for other, share in alike.items())
        near = logit(lent / whole, _LEAST) if whole else promise.usual
        usual = promise.usual
        return usual + _PROMISED * _clip(promised - usual) + _LENT * _clip(near - usual)


class _RatingSums(msgspec.Struct):
    """The weight of an agent's ratings, and the weighted sums of them and of what was expected."""

    weight: float = 0.0
    right: float = 0.0
    expected: float = 0.0

    def add(self, right: float, expected: float, weight: float) -> None:
        """Add a rating."""
        self.weight += weight
        self.right += weight * right
        self.expected += weight * expected

    @property
    def offset(self) -> float:
        """How much higher the logit is than was expected; a few ratings change little."""
        if not self.weight:
            return 0.0
        usual = self.expected / self.weight
        found = (self.right + _VOTES * usual) / (self.weight + _VOTES)
        return logit(found, _LEAST) - logit(usual, _LEAST)


def _clip(logit: float) -> float:
    return max(-_FARTHEST, min(_FARTHEST, logit))


def lesson_share(lesson: RouterLabel, agent: str) -> float | None:
    """Return how right an agent is by a lesson; None if the lesson does not concern it.

    After a thumb down of another agent any may be right, which says nothing.
    """
    share = lesson.agents.get(agent)
    return share if share is None or share == 0.0 or share > _RIGHT else None


def _alike(agent: str, cards: Sequence[Card], settled: Sequence[str]) -> dict[str, float]:
    """Return how alike the cards of an agent and of others are, 0 to 1: the cosine of tf-idf."""
    stems = {
        card.name: frozenset(stem for text in documents(card) for stem in content_stems(text))
        for card in cards
    }
    counts = Counter(stem for found in stems.values() for stem in found)
    idf = {stem: log(1 + len(stems) / count) for stem, count in counts.items()}

    def square(of: frozenset[str]) -> float:
        return sum(idf[stem] ** 2 for stem in sorted(of))

    mine = stems[agent]
    return {
        other: _LEAST_ALIKE
        + square(mine & stems[other]) / (sqrt(square(mine) * square(stems[other])) or 1.0)
        for other in settled
    }
