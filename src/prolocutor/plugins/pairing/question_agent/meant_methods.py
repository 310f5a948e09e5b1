"""Routers and rankers by the vectors of texts as well as their words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from prolocutor.contracts.pairing import AgentAnswer, Pairing, Ranker, UserQuestion
from prolocutor.plugins.pairing.encoders.meanings import (
    NO_VECTORS,
    EncoderWiring,
    Meanings,
    Vectors,
    note_fault,
    open_meanings,
)
from prolocutor.plugins.pairing.model_files import Model, TrainingCard
from prolocutor.plugins.pairing.question_agent.follow_ups import (
    TextScorer,
    pairings,
    question_texts,
)
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel


class MeaningRanker(Protocol):
    """Ranks by words, and by vectors where these have question and answers."""

    def rank(
        self,
        question: UserQuestion,
        answers: Sequence[AgentAnswer],
        prior: Mapping[str, float],
        vectors: Vectors = NO_VECTORS,
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""


class _MeantMethod:
    """Asks an encoder for vectors, and goes by words alone where that fails."""

    def __init__(self, learned: Any, meanings: Meanings) -> None:
        self._learned, self._meanings = learned, meanings

    @property
    def agents(self) -> Sequence[str]:
        """The known agents by name."""
        agents: Sequence[str] = self._learned.agents
        return agents

    def to_model(self, card: TrainingCard) -> Model:
        """Return the learned model, with the fingerprint of the encoder."""
        model: Model = self._learned.to_model(card)
        return model if self._meanings.mark is None else self._meanings.mark.mark_model(model)


class MeantRouter(_MeantMethod):
    """A router by the vectors of a question and its words."""

    def __init__(self, scorer: TextScorer, meanings: Meanings) -> None:
        super().__init__(scorer, meanings)
        self._scorer = scorer

    async def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        meant = await self._meanings.encode(question_texts(question))
        return note_fault(pairings(self._scorer, question, meant.vectors), meant.fault)

    def learn_all(self, lessons: Iterable[RouterLabel]) -> None:
        """Learn stored labels, if the scorer learns online."""
        self._learned.learn_all(lessons)


class MeantRanker(_MeantMethod):
    """A ranker by the vectors of question and answers; `at_once` ranks by words alone."""

    def __init__(self, ranker: MeaningRanker, meanings: Meanings) -> None:
        super().__init__(ranker, meanings)
        self.at_once: Ranker = ranker
        self._ranker = ranker

    async def rank(
        self, question: UserQuestion, answers: Sequence[AgentAnswer], prior: Mapping[str, float]
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""
        if not answers:
            return []
        meant = await self._meanings.encode([question.text, *(one.text for one in answers)])
        ranked = self._ranker.rank(question, answers, prior, meant.vectors)
        return note_fault(ranked, meant.fault)


def attach_encoder(method: Any, model: Model, wired: EncoderWiring | None) -> Any:
    """Return the method of a model, which asks the encoder if the model was trained with one.

    Raise `ConfigError` if encoder and model do not belong together.
    """
    meanings = open_meanings(model, wired, getattr(method, "fixed_texts", ()))
    if meanings is None:
        return method
    return (MeantRouter if model.role == "router" else MeantRanker)(method, meanings)
