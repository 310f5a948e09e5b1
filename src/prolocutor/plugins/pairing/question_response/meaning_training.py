"""Training of rankers that read vectors, or the numbers of a cross-encoder, beside words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from prolocutor.contracts.pairing import (
    AgentAnswer,
    CrossEncoder,
    LabelledQuestion,
    TrainingData,
)
from prolocutor.plugins.pairing.answer_meaning import MeaningMemory, lesson_texts
from prolocutor.plugins.pairing.encoders.meanings import trained_meanings, vectors_of
from prolocutor.plugins.pairing.encoders.text_vectors import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.near_duplicates import near_duplicates
from prolocutor.plugins.pairing.question_response.crossing import Crossing
from prolocutor.plugins.pairing.question_response.meant_ranker import MeaningRanker, MeantRanker


class LearnedMeaning:
    """What training reads of meaning: the memory, and the vectors of all lessons."""

    def __init__(self, training: TrainingData, vectors: Vectors) -> None:
        labelled = training.labelled
        self.memory = MeaningMemory.of_lessons(labelled, vectors, training.cards)
        self._vectors = vectors
        known = [one for one in labelled if one.agents]
        groups = near_duplicates([one.question.text for one in known])
        members: dict[int, list[int]] = {}
        for place, group in enumerate(groups):
            members.setdefault(group, []).append(place)
        self._unseen = {
            one.question.text: members[group] for one, group in zip(known, groups, strict=True)
        }

    def rows(
        self, one: LabelledQuestion, answers: Sequence[AgentAnswer]
    ) -> list[tuple[float, ...]]:
        """Return the rows of a lesson's answers, as if the lesson were not known."""
        text = one.question.text
        unseen = self._unseen.get(text, ())
        return self.memory.rows(text, answers, self._vectors, unseen=unseen, logged=True)


class LearnedCrossing(msgspec.Struct, frozen=True):
    """What training reads of a cross-encoder: its id, and its numbers for the pairs of lessons."""

    id: str
    numbers: Mapping[tuple[str, str], float]

    def numbers_of(self, lessons: Iterable[LabelledQuestion]) -> list[float]:
        """Return the numbers of all answers of lessons, by models that had not learned the lesson;
        NaN where there is none."""
        return [
            self.numbers.get((one.question.text, text), math.nan)
            for one in lessons
            for text in one.answers.values()
        ]


def reads_models(training: TrainingData) -> bool:
    """Return whether a ranker learns with an encoder or a cross-encoder."""
    return training.encoder is not None or training.cross_encoder is not None


async def meant_fit(
    training: TrainingData,
    learned: Callable[[TrainingData, LearnedMeaning | None, LearnedCrossing | None], MeaningRanker],
) -> MeantRanker:
    """Return a ranker that learned with vectors, with the numbers of a cross-encoder, or both.

    Errors of these models propagate.
    """
    meaning = meanings = crossed = crossing = None
    if training.encoder is not None:
        fixed = MeaningMemory.of_lessons((), NO_VECTORS, training.cards).fixed_texts
        texts = [*fixed, *lesson_texts(training.labelled)]
        meaning = LearnedMeaning(training, await vectors_of(training.encoder, texts))
        meanings = await trained_meanings(training.encoder, fixed)
    if training.cross_encoder is not None:
        crossed = await _crossed(training, training.cross_encoder)
        crossing = Crossing(training.cross_encoder)
    return MeantRanker(learned(training, meaning, crossed), meanings, crossing)


async def _crossed(training: TrainingData, encoder: CrossEncoder) -> LearnedCrossing:
    asked = [
        (one.question.text, text) for one in training.labelled for text in one.answers.values()
    ]
    pairs = [*dict.fromkeys(asked)]
    found = zip(pairs, await encoder.numbers(pairs), strict=True)
    numbers = {pair: number for pair, number in found if number is not None}
    return LearnedCrossing(encoder.id, numbers)
