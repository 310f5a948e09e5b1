"""MeantRanker: a ranker that reads vectors, or what a cross-encoder says, as well as words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from prolocutor.contracts.pairing import (
    AgentAnswer,
    Pairing,
    Ranker,
    UserQuestion,
)
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.encoders.encoder_wiring import EncoderWiring, meanings_of
from prolocutor.plugins.pairing.encoders.meanings import (
    Meanings,
    with_fault,
)
from prolocutor.plugins.pairing.encoders.text_vectors import NO_VECTORS, TextMeaning, Vectors
from prolocutor.plugins.pairing.model_files import Model, TrainingCard
from prolocutor.plugins.pairing.question_response.cross_blend import NO_NUMBERS, Numbers
from prolocutor.plugins.pairing.question_response.crossing import (
    Crossing,
    CrossReading,
    check_cross_encoder,
)


class MeaningRanker(Protocol):
    """Ranks by words, by vectors where these have question and answers, and by a cross-encoder's
    numbers."""

    any_right: Sigmoid

    def rank(
        self,
        question: UserQuestion,
        answers: Sequence[AgentAnswer],
        prior: Mapping[str, float],
        vectors: Vectors = NO_VECTORS,
        numbers: Numbers = NO_NUMBERS,
    ) -> list[Pairing]:
        """Return a pairing for every answer, the best first."""


class MeantRanker:
    """Asks an encoder for vectors, a cross-encoder for numbers, and ranks without where one fails.

    `at_once` ranks without waiting, and so without either.
    """

    def __init__(
        self, ranker: MeaningRanker, meanings: Meanings | None, crossing: Crossing | None = None
    ) -> None:
        self._crossing = crossing
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
        meant, crossed = await asyncio.gather(
            self._meant(question, answers), self._crossed(question, answers)
        )
        ranked = self._ranker.rank(question, answers, prior, meant.vectors, crossed.numbers)
        return with_fault(ranked, "; ".join(filter(None, (meant.fault, crossed.fault))))

    async def _meant(self, question: UserQuestion, answers: Sequence[AgentAnswer]) -> TextMeaning:
        if self._meanings is None:
            return TextMeaning(NO_VECTORS)
        return await self._meanings.of([question.text, *(one.text for one in answers)])

    async def _crossed(
        self, question: UserQuestion, answers: Sequence[AgentAnswer]
    ) -> CrossReading:
        if self._crossing is None:
            return CrossReading()
        return await self._crossing.of(question, answers)

    def to_model(self, card: TrainingCard) -> Model:
        """Return what was learned, with the fingerprint of the encoder."""
        model: Model = self._learned.to_model(card)
        mark = None if self._meanings is None else self._meanings.mark
        return model if mark is None else mark.marked(model)


def with_models(
    ranker: Any,
    model: Model,
    wired: EncoderWiring | None = None,
    crossing: Crossing | None = None,
    seconds: float | None = None,
) -> Ranker:
    """Return the ranker of a model with the encoder and cross-encoder that it was trained with.

    One that is a model itself is waited for `seconds` in a turn.

    `ConfigError` if one is not there, or one is that it was not trained with.
    """
    check_cross_encoder(model, None if crossing is None else crossing.id)
    meanings = meanings_of(model, wired, getattr(ranker, "fixed_texts", ()))
    if meanings is None and crossing is None:
        within = getattr(ranker, "within", None)
        made: Ranker = ranker if within is None else within(seconds)
        return made
    return MeantRanker(ranker, meanings, crossing)
