"""NewAgents: agents that a router has no labels of; what their cards and ratings say of them.

What a card is worth is found on the other agents: how often are those right whose cards speak of a
question that much? Agents with similar cards lend what they are worth at a question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from prolocutor.bounds import MANY, Share, about
from prolocutor.contracts.pairing import Card
from prolocutor.plugins.pairing.agent_cards import documents
from prolocutor.plugins.pairing.question_agent.card_promise import bounded_logit, card_promise
from prolocutor.plugins.pairing.question_agent.cards import CardsRouter
from prolocutor.plugins.pairing.question_agent.newcomer_estimate import (
    NewcomerEstimate,
    Observation,
    Traits,
)
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.plugins.pairing.text import content_stems

_LEAST_ALIKE: Final = 0.02
_RIGHT: Final = 0.5
_THUMB: Final = 0.5
_AT_FIRST: Final = 3.0
_WIDEST: Final = 4.0
_FARTHEST: Final = 3.0


class NewcomerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How new agents are tried out.

    A new agent is asked in addition in the share `ask` of the turns, within the budget, until it
    was asked in `turns` turns.
    """

    expected: ClassVar[str] = "how new agents are tried out ({ask: ..., turns: ...})"

    ask: Annotated[
        Share, about("The share of turns in which a new agent is asked in addition.")
    ] = 1.0
    turns: Annotated[
        int, Meta(ge=0, le=MANY), about("In how many turns it is tried out.", unit="turns")
    ] = 50


class NewAgents:
    """The agents `new` among those that have cards, and what was learned of each.

    `lessons` are labels of the others, on which cards are calibrated.
    """

    def __init__(
        self,
        cards: Sequence[Card],
        new: Iterable[str],
        lessons: Sequence[RouterLabel] = (),
        turns: int = NewcomerSettings().turns,
    ) -> None:
        self.agents: Sequence[str] = list(new)
        self._cards = CardsRouter(cards)
        self._turns = turns
        self._asked: Counter[str] = Counter()
        self._promised = self._ranked = _AT_FIRST
        settled = [card.name for card in cards if card.name not in self.agents]
        self._promise = card_promise(self._cards, settled, lessons)
        self._alike = {agent: _alike(agent, cards, settled) for agent in self.agents}
        self._estimates = {agent: NewcomerEstimate(self._promise.usual) for agent in self.agents}

    @property
    def tried(self) -> list[str]:
        """The agents that are still tried out."""
        return [agent for agent in self.agents if self._asked[agent] < self._turns]

    def learn(self, lessons: Iterable[tuple[RouterLabel, Mapping[str, float]]]) -> None:
        """Learn what lessons say of new agents; each comes with the others' probabilities."""
        seen: dict[str, list[Observation]] = {agent: [] for agent in self.agents}
        for lesson, worth in lessons:
            if lesson.judged:
                self._count(lesson, worth)
            for agent in self.agents:
                if (right := said_of(lesson, agent)) is not None:
                    traits = self._traits(lesson.text, agent, worth)
                    weight = lesson.weight / _THUMB
                    seen[agent].append(
                        Observation(lesson.text, traits, right, weight, lesson.judged)
                    )
        scale = max(1 / _WIDEST, min(_WIDEST, self._promised / self._ranked))
        for agent, found in seen.items():
            if found:
                self._estimates[agent].learn(found, scale)

    def _count(self, lesson: RouterLabel, worth: Mapping[str, float]) -> None:
        """Count who was asked, and what router and ranker say of those that are not new.

        A ranker's scores and a router's probabilities need not be on one scale: where many
        questions have no right answer, those of a router are too high for all agents alike.
        """
        for agent, score in lesson.agents.items():
            if agent in self._estimates:
                self._asked[agent] += 1
            elif lesson.weight > 0:
                self._promised += worth.get(agent, 0.0)
                self._ranked += score

    def probability(self, text: str, agent: str, worth: Mapping[str, float]) -> float:
        """Return how probably a new agent is right; `worth` are the others' probabilities."""
        return self._estimates[agent].probability(text, self._traits(text, agent, worth))

    def doubt(self, text: str, agent: str, worth: Mapping[str, float]) -> float:
        """Return how unsure that is, as the standard deviation of its logit."""
        return self._estimates[agent].doubt(self._traits(text, agent, worth))

    def reason(self, text: str, agent: str) -> str:
        """Quote the card."""
        return self._cards.reason(text, agent)

    def _traits(self, text: str, agent: str, worth: Mapping[str, float]) -> Traits:
        promise, alike = self._promise, self._alike[agent]
        place = self._cards.agents.index(agent)
        promised = promise(self._cards.probabilities(text)[place])
        whole = sum(alike.values())
        lent = sum(share * worth.get(other, 0.0) for other, share in alike.items())
        near = bounded_logit(lent / whole) if whole else promise.usual
        return 1.0, _within(promised - promise.usual), _within(near - promise.usual)


def _within(trait: float) -> float:
    return max(-_FARTHEST, min(_FARTHEST, trait))


def said_of(lesson: RouterLabel, agent: str) -> float | None:
    """Return how right a lesson says that an agent is, None if it does not speak of it.

    After a thumb down of another agent any may be right, which says nothing.
    """
    share = lesson.agents.get(agent)
    if share is None or lesson.judged or share == 0.0 or share > _RIGHT:
        return share
    return None


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
