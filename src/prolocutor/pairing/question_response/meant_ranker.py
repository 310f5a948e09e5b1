"""MeantRanker: a ranker that reads the vectors of question and answers as well as their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from prolocutor.contracts.pairing import (
    AgentAnswer,
    Pairing,
    Ranker,
    UserQuestion,
)
from prolocutor.pairing.calibration import Sigmoid
from prolocutor.pairing.encoders.encoder_wiring import EncoderWiring, meanings_of
from prolocutor.pairing.encoders.meanings import (
    Meanings,
    with_fault,
)
from prolocutor.pairing.encoders.text_vectors import NO_VECTORS, Vectors
from prolocutor.pairing.model_files import Model, TrainingCard


class MeaningRanker(Protocol):
    """Ranks by words and, where `vectors` has question and answers, by their vectors."""

    any_right: Sigmoid

    def rank(
        self,
        question: UserQuestion,
        answers: Sequence[AgentAnswer],
        prior: Mapping[str, float],
        vectors: Vectors = NO_VECTORS,
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""


class MeantRanker:
    """Asks the encoder for vectors, and ranks without them where it fails.

    `at_once` ranks without waiting, and so without vectors.
    """

    def __init__(self, ranker: MeaningRanker, meanings: Meanings) -> None:
        self.at_once: Ranker = ranker
        self.any_right = ranker.any_right
        self._ranker, self._meanings = ranker, meanings
        self._learned: Any = ranker

    @property
    def agents(self) -> Sequence[str]:
        """The agents that it learned from."""
        agents: Sequence[str] = self._learned.agents
        return agents

    async def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""
        if not answers:
            return []
        meant = await self._meanings.of([question.text, *(one.text for one in answers)])
        return with_fault(self._ranker.rank(question, answers, prior, meant.vectors), meant.fault)

    def to_model(self, card: TrainingCard) -> Model:
        """Return what was learned, with the fingerprint of the encoder."""
        model: Model = self._learned.to_model(card)
        return model if self._meanings.mark is None else self._meanings.mark.marked(model)


def with_encoder(ranker: Any, model: Model, wired: EncoderWiring | None = None) -> Ranker:
    """Return the ranker of a model with the encoder that it was trained with, if it was.

    `ConfigError` if that is not there, or one is that it was not trained with.
    """
    meanings = meanings_of(model, wired, getattr(ranker, "fixed_texts", ()))
    made: Ranker = ranker if meanings is None else MeantRanker(ranker, meanings)
    return made
