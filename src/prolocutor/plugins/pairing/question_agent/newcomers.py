"""New agents: what is expected of them by their cards and their like, and learned of them.

How often agents are right whose cards speak of a question is fitted in plain Python, because
routers without NumPy meet new agents too: scores are counted in steps, of which there are few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import exp, log, sqrt
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from prolocutor.bounds import MANY, Share, about
from prolocutor.contracts.pairing import Card
from prolocutor.plugins.pairing.calibration import Sigmoid, logit
from prolocutor.plugins.pairing.question_agent.cards import CardsRouter, documents
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.plugins.pairing.text import WordIndex, content_stems

_USUAL: Final = -2.0
_MOST: Final = 300
_STEP: Final = 0.25
_ROUNDS: Final = 25
_RIDGE: Final = 4.0
_LONGEST_SENTENCE: Final = 1.0
_LEAST: Final = 1e-3


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
    """Return what the cards of these agents were worth; a guess without labels."""
    known = [one for one in lessons if one.agents and not one.judged]
    counts: dict[int, list[float]] = {}
    for one in known[:: max(1, len(known) // _MOST)]:
        found = dict(zip(cards.agents, cards.probabilities(one.text), strict=True))
        for agent in settled:
            bin_ = counts.setdefault(round(logit(found[agent]) / _STEP), [0.0, 0.0])
            bin_[0] += 1
            bin_[1] += one.agents.get(agent, 0.0)
    total, right = (sum(one[n] for one in counts.values()) for n in range(2))
    if not right:
        return CardPromise()
    rows = [(step * _STEP, number, share) for step, (number, share) in counts.items()]
    return CardPromise(_fit_curve(rows), bounded_logit(right / total))


def bounded_logit(share: float) -> float:
    """Return the logit of a share, of 0 and 1 too."""
    kept = min(max(share, _LEAST), 1 - _LEAST)
    return log(kept / (1 - kept))


def _fit_curve(rows: Sequence[tuple[float, float, float]]) -> Sigmoid:
    """Return the curve of (score, number, right ones), by Newton's method.

    A few labels leave it near the curve of which cards speak themselves.
    """
    slope, offset = 1.0, 0.0
    for _ in range(_ROUNDS):
        by = _RIDGE * (1.0 - slope)
        up = -_RIDGE * offset
        a, b, c = _RIDGE, 0.0, _RIDGE
        curve = Sigmoid(slope, offset)
        for score, number, right in rows:
            likely = curve(score)
            off, bend = right - number * likely, number * likely * (1 - likely)
            by, up = by + off * score, up + off
            a, b, c = a + bend * score * score, b + bend * score, c + bend
        whole = a * c - b * b
        steps = (c * by - b * up) / whole, (a * up - b * by) / whole
        size = min(1.0, _LONGEST_SENTENCE / max(_LEAST, *map(abs, steps)))
        slope, offset = slope + size * steps[0], offset + size * steps[1]
        if max(map(abs, steps)) < _LEAST:
            break
    return Sigmoid(slope, offset)


Traits = tuple[float, float, float]
"""1, the logit that the card promises, the logit of similar agents: both from their usual value."""

_DEVIATION: Final[Traits] = (1.5, 0.2, 0.2)
_WEIGHTS: Final[Traits] = (0.0, 0.8, 0.5)
_VOTES: Final = 3.0
_STEPS: Final = 12
_LONGEST: Final = 1.0
_SHORTEST: Final = 1e-4
_MOST_FITTED: Final = 200
_UNTOLD: Final = 1.5
_LONG: Final = 100.0
_SUREST: Final = 0.99
_FAR: Final = 30.0

Square = list[list[float]]


class Observation(msgspec.Struct, frozen=True):
    """How right the agent was for a question, 0 to 1, and how much that counts.

    `ranked`: that is a ranker's score, on a scale of its own.
    """

    text: str
    traits: Traits
    right: float
    weight: float
    ranked: bool = False


class NewcomerEstimate:
    """The posterior of one agent; `usual` is the logit of how often a new agent is right."""

    def __init__(self, usual: float) -> None:
        self._mean: Traits = (usual, *_WEIGHTS[1:])
        self._seen: list[Observation] = []
        self._near = WordIndex()
        self._scale = 1.0
        self._weight = 0.0
        self._weights: Sequence[float] = self._mean
        self._covariance = _inverse(self._precision())

    def learn(self, seen: Sequence[Observation], scale: float = 1.0) -> None:
        """Take in what was seen; `scale` brings all ranker's scores to that of probabilities."""
        self._scale = scale
        for one in seen:
            if one.weight > 0:
                self._near.add(len(self._seen), one.text)
                self._seen.append(one)
                self._weight += one.weight
        self._fit()

    def probability(self, text: str, traits: Traits) -> float:
        """Return how probably the agent is right for a question."""
        right = _VOTES * _sigmoid(_dot(self._weights, traits))
        total = _VOTES
        for number, alike in self._near.nearest(text):
            one = self._seen[number]
            right += alike * one.weight * self._right(one)
            total += alike * one.weight
        return right / total

    def doubt(self, traits: Traits) -> float:
        """Return the standard deviation of the logit.

        It falls with every observation, slowly: three numbers say little of one question.
        """
        known = _dot(traits, [_dot(row, traits) for row in self._covariance])
        untold = _UNTOLD**2 * _LONG / (_LONG + self._weight)
        return sqrt(untold + max(0.0, known))

    def _fit(self) -> None:
        """Find the weights of the largest posterior, by Newton's method."""
        weights = list(self._weights)
        for _ in range(_STEPS):
            hessian = self._precision()
            slope = [-hessian[n][n] * (weights[n] - self._mean[n]) for n in range(3)]
            for one in self._seen[-_MOST_FITTED:]:
                likely = _sigmoid(_dot(weights, one.traits))
                off = one.weight * (self._right(one) - likely)
                bend = one.weight * likely * (1 - likely)
                for row, mine in enumerate(one.traits):
                    slope[row] += off * mine
                    for column, its in enumerate(one.traits):
                        hessian[row][column] += bend * mine * its
            self._covariance = _inverse(hessian)
            step = [_dot(row, slope) for row in self._covariance]
            length = sqrt(_dot(step, step))
            size = min(1.0, _LONGEST / max(length, _SHORTEST))
            weights = [old + size * new for old, new in zip(weights, step, strict=True)]
            if length < _SHORTEST:
                break
        self._weights = weights

    def _right(self, one: Observation) -> float:
        return min(_SUREST, self._scale * one.right) if one.ranked else one.right

    def _precision(self) -> Square:
        return [
            [1 / _DEVIATION[row] ** 2 if row == column else 0.0 for column in range(3)]
            for row in range(3)
        ]


def _inverse(of: Square) -> Square:
    """Return the inverse of a symmetric positive definite matrix of three rows."""
    (a, b, c), (_, d, e), (_, _, f) = of
    first, second, third = d * f - e * e, c * e - b * f, b * e - c * d
    whole = a * first + b * second + c * third
    return [
        [first / whole, second / whole, third / whole],
        [second / whole, (a * f - c * c) / whole, (b * c - a * e) / whole],
        [third / whole, (b * c - a * e) / whole, (a * d - b * b) / whole],
    ]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(mine * its for mine, its in zip(one, other, strict=True))


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-max(-_FAR, min(_FAR, x))))


_LEAST_ALIKE: Final = 0.02
_RIGHT: Final = 0.5
_THUMB: Final = 0.5
_AT_FIRST: Final = 3.0
_WIDEST: Final = 4.0
_FARTHEST: Final = 3.0


class NewcomerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How new agents are tried out."""

    expected: ClassVar[str] = "how new agents are tried out ({ask: ..., turns: ...})"

    ask: Annotated[
        Share,
        about(
            "The share of the turns in which it is asked beside those that the budget asks"
            " first, by `sure` and `gain`; `calls` and `price` bound a turn as ever. 0: it is"
            " asked where its card speaks for it."
        ),
    ] = 1.0
    turns: Annotated[
        int,
        Meta(ge=0, le=MANY),
        about(
            "In how many turns it is tried out; then it is asked where it is likely to be right.",
            unit="turns",
        ),
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
                if (right := lesson_share(lesson, agent)) is not None:
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
        return 1.0, _clip(promised - promise.usual), _clip(near - promise.usual)


def _clip(trait: float) -> float:
    return max(-_FARTHEST, min(_FARTHEST, trait))


def lesson_share(lesson: RouterLabel, agent: str) -> float | None:
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
