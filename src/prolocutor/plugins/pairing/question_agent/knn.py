"""Nearest neighbours: a router that learns online, a label at a time.

The nearest labelled questions vote, weighted by similarity: BM25, unless another `SimilarityIndex`
is given. The prior is how often each agent is right and, while there are few labels, the cards.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import Card, Pairing, TrainingData, UserQuestion
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.pairing.agent_cards import checked
from prolocutor.plugins.pairing.encoders.meanings import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.method_catalog import ENCODER, LABELS, PairingMethod
from prolocutor.plugins.pairing.model_files import Model, TrainingCard, training_card
from prolocutor.plugins.pairing.question_agent.cards import CardsRouter
from prolocutor.plugins.pairing.question_agent.follow_ups import pairings
from prolocutor.plugins.pairing.question_agent.meant_methods import MeantRouter, meant_fit
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, router_label_of
from prolocutor.plugins.pairing.question_agent.similarity_index import (
    MeaningIndex,
    Neighbours,
    SimilarityIndex,
    WordIndex,
)

_PRIOR: Final = 1.0
_CARDS: Final = 20.0
_FEW: Final = 500


def fit(training: TrainingData) -> KnnRouter | Awaitable[MeantRouter]:
    """Return a router that has learned all labelled questions, with an encoder's vectors if any."""
    return learned(training) if training.encoder is None else meant_fit(training, learned)


def learned(training: TrainingData, vectors: Vectors = NO_VECTORS) -> KnnRouter:
    """Return the router, of which the neighbours are found by vectors if there are some."""
    labels = [router_label_of(one) for one in training.labelled if one.agents]
    index = None
    if vectors and labels:
        index = MeaningIndex.of_texts([one.text for one in labels], vectors, WordIndex())
    router = KnnRouter(training.cards, index=index)
    router.learn_all(labels)
    return router


class KnnRouter:
    """Routes as the most similar questions were labelled.

    `keep` is called with each online label before it is learned, such as the `write` of a journal.
    `index` finds the neighbours; it is given all labels in order. Agents are those of the cards,
    and those that labels name.
    """

    def __init__(
        self,
        cards: Sequence[Card] = (),
        *,
        keep: Callable[[RouterLabel], Any] | None = None,
        index: SimilarityIndex | None = None,
    ) -> None:
        self._agents: list[str] = [card.name for card in checked(cards)] if cards else []
        self._cards = CardsRouter(cards) if cards else None
        self._keep = keep
        self._lessons: list[RouterLabel] = []
        self._index: SimilarityIndex = index or WordIndex()
        self._right: dict[str, float] = {}
        self._weight = 0.0
        self._latest: tuple[str, bool, int, Neighbours] = ("", False, 0, [])

    @property
    def agents(self) -> Sequence[str]:
        """The agents that have cards, then those that labels name."""
        return self._agents

    @property
    def lessons(self) -> Sequence[RouterLabel]:
        """All that was learned, the oldest first."""
        return self._lessons

    def learn(
        self, question: str | UserQuestion, agents: Mapping[str, float] | Iterable[str]
    ) -> RouterLabel:
        """Learn which agents are right for a question; the next `route` sees it."""
        text = question if isinstance(question, str) else question.text
        shares = dict(agents) if isinstance(agents, Mapping) else dict.fromkeys(agents, 1.0)
        if wrong := next((name for name, share in shares.items() if not 0 <= share <= 1), None):
            raise BadInput(f"{shares[wrong]!r} is not from 0 to 1", field=f"agents.{wrong}")
        lesson = RouterLabel(text, shares)
        if self._keep is not None:
            self._keep(lesson)
        self._add(lesson)
        return lesson

    def learn_all(self, lessons: Iterable[RouterLabel]) -> None:
        """Learn stored labels; `keep` is not called for them."""
        for lesson in lessons:
            self._add(lesson)

    def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        return pairings(self, question)

    def probabilities(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return the probability of each agent: its share of the votes."""
        prior = self._prior(text)
        votes = [_PRIOR * one for one in prior]
        total = _PRIOR
        places = {agent: place for place, agent in enumerate(self.agents)}
        for number, alike in self._nearest(text, vectors):
            lesson = self._lessons[number]
            weight = alike * lesson.weight
            total += weight
            for agent, share in lesson.agents.items():
                votes[places[agent]] += weight * share
        return [vote / total for vote in votes]

    def reason(self, text: str, agent: str, vectors: Vectors = NO_VECTORS) -> str:
        """Quote the most similar question that the agent was right for."""
        for number, _ in self._nearest(text, vectors):
            lesson = self._lessons[number]
            if lesson.agents.get(agent, 0.0) > 0:
                quoted = lesson.text if len(lesson.text) <= 80 else f"{lesson.text[:79]}…"
                return f"right for: {quoted}"
        return "right most often" if self._lessons else "its card"

    def to_model(self, card: TrainingCard | None = None) -> Model:
        """Return all that was learned, to be saved."""
        index = self._index
        return Model(
            role="router",
            method="knn",
            agents=list(self.agents),
            parts={"lessons": msgspec.to_builtins(self._lessons)},
            arrays=index.arrays() if isinstance(index, MeaningIndex) else {},
            card=card or training_card(len(self._lessons)),
        )

    @classmethod
    def of_model(
        cls,
        model: Model,
        cards: Sequence[Card] = (),
        *,
        keep: Callable[[RouterLabel], Any] | None = None,
        index: SimilarityIndex | None = None,
    ) -> KnnRouter:
        """Make the router of a model, for the agents that have cards and those that it knows."""
        meant = MeaningIndex.of_model(model, index or WordIndex())
        router = cls(cards, keep=keep, index=meant or index)
        try:
            router.learn_all(msgspec.convert(model.parts["lessons"], list[RouterLabel]))
        except (KeyError, msgspec.ValidationError) as error:
            raise ConfigError(f"the model {model.id} is no model of knn: {error}") from None
        return router

    def _add(self, lesson: RouterLabel) -> None:
        for agent, share in lesson.agents.items():
            if agent not in self._right:
                self._right[agent] = 0.0
                if agent not in self.agents:
                    self._agents.append(agent)
            self._right[agent] += share * lesson.weight
        self._weight += lesson.weight
        self._lessons.append(lesson)
        self._index.add(len(self._lessons) - 1, lesson.text)

    def _nearest(self, text: str, vectors: Vectors) -> Neighbours:
        """Return the nearest labels; cached for the latest text, which `reason` reads."""
        *known, near = self._latest
        key = text, text in vectors, len(self._lessons)
        if tuple(known) != key:
            near = self._index.nearest(text, vectors)
            self._latest = *key, near
        return near

    def _prior(self, text: str) -> list[float]:
        known = [self._right.get(agent, 0.0) for agent in self.agents]
        if self._cards is None or self._weight > _FEW:
            total = self._weight + 1.0
            return [(right + 1.0 / len(known)) / total for right in known]
        guessed = self._cards.probabilities(text)
        guessed += [0.0] * (len(known) - len(guessed))
        total = self._weight + _CARDS
        return [
            (right + _CARDS * guess) / total for right, guess in zip(known, guessed, strict=True)
        ]


METHOD: Final = PairingMethod(fit=fit, needs=LABELS, uses=ENCODER, reader=KnnRouter)
