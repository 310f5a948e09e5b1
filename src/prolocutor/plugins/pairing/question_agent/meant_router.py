"""MeantRouter: a router that reads the vectors of a question as well as its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import msgspec

from prolocutor.contracts.pairing import Pairing, TrainingData, UserQuestion
from prolocutor.plugins.pairing.encoders.meanings import (
    Meanings,
    trained_meanings,
    vectors_of,
    with_fault,
)
from prolocutor.plugins.pairing.encoders.text_vectors import Vectors
from prolocutor.plugins.pairing.model_files import Model, TrainingCard
from prolocutor.plugins.pairing.question_agent.follow_ups import pairings, question_texts
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel


class MeaningScorer(Protocol):
    """Scores a text by its words and, where `vectors` has it, by its vector."""

    @property
    def agents(self) -> Sequence[str]:
        """The names of all agents that it chooses from."""

    def probabilities(self, text: str, vectors: Vectors) -> list[float]:
        """Return each agent's probability of being right, in the order of `agents`."""

    def reason(self, text: str, agent: str, vectors: Vectors) -> str:
        """Return in a few words why an agent goes with a text."""


async def meant_fit(
    training: TrainingData,
    learned: Callable[[TrainingData, Vectors], MeaningScorer],
    fixed: Iterable[str] = (),
) -> MeantRouter:
    """Return a router that learned labels with vectors; errors of the encoder propagate.

    `fixed` are texts whose vectors the scorer reads in every turn.
    """
    assert training.encoder is not None
    meanings = await trained_meanings(training.encoder, fixed)
    texts = [one.question.text for one in training.labelled if one.agents]
    return MeantRouter(learned(training, await vectors_of(training.encoder, texts)), meanings)


class QuestionScorer(msgspec.Struct, frozen=True):
    """A scorer with the vectors of one question: a `TextScorer`."""

    scorer: MeaningScorer
    vectors: Vectors

    @property
    def agents(self) -> Sequence[str]:
        """The names of all agents that it chooses from."""
        return self.scorer.agents

    def probabilities(self, text: str) -> list[float]:
        """Return each agent's probability of being right."""
        return self.scorer.probabilities(text, self.vectors)

    def reason(self, text: str, agent: str) -> str:
        """Return why an agent goes with a text."""
        return self.scorer.reason(text, agent, self.vectors)

    @property
    def tried(self) -> Sequence[str]:
        """The new agents that are still tried out."""
        tried: Sequence[str] = getattr(self.scorer, "tried", ())
        return tried

    def doubts(self, text: str) -> dict[str, float]:
        """Return how unsure the probabilities of new agents are."""
        doubts = getattr(self.scorer, "doubts", None)
        return {} if doubts is None else doubts(text, self.vectors)


class MeantRouter:
    """Asks the encoder for the vectors of a question, and routes by words alone where it fails."""

    def __init__(self, scorer: MeaningScorer, meanings: Meanings) -> None:
        self._scorer, self._meanings = scorer, meanings
        self._learned: Any = scorer

    @property
    def agents(self) -> Sequence[str]:
        """The names of all agents that it chooses from."""
        return self._scorer.agents

    @property
    def tried(self) -> Sequence[str]:
        """The new agents that are still tried out."""
        tried: Sequence[str] = getattr(self._scorer, "tried", ())
        return tried

    async def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        meant = await self._meanings.of(question_texts(question))
        found = pairings(QuestionScorer(self._scorer, meant.vectors), question)
        return with_fault(found, meant.fault)

    def to_model(self, card: TrainingCard) -> Model:
        """Return what was learned, with the fingerprint of the encoder."""
        model: Model = self._learned.to_model(card)
        return model if self._meanings.mark is None else self._meanings.mark.marked(model)

    def learn_all(self, lessons: Iterable[RouterLabel]) -> None:
        """Learn stored labels, if the scorer learns online."""
        self._learned.learn_all(lessons)

    def learns(self, lesson: RouterLabel) -> bool:
        """Return whether the scorer learns anything from a label."""
        learns: Callable[[RouterLabel], bool] | None = getattr(self._scorer, "learns", None)
        return learns is None or learns(lesson)
