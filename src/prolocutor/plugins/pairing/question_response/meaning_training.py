"""Training of a ranker that reads vectors beside words."""

from __future__ import annotations

from collections.abc import Sequence

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, TrainingData
from prolocutor.plugins.pairing.answer_meaning import MeaningMemory, lesson_texts
from prolocutor.plugins.pairing.encoders.meanings import Meanings, trained_meanings, vectors_of
from prolocutor.plugins.pairing.encoders.text_vectors import NO_VECTORS, Vectors
from prolocutor.reading.near_duplicates import near_duplicates


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


async def learned_meaning(training: TrainingData) -> tuple[LearnedMeaning, Meanings]:
    """Return what is learned of meaning, and what is asked in a turn; the encoder's errors
    propagate."""
    assert training.encoder is not None
    fixed = MeaningMemory.of_lessons((), NO_VECTORS, training.cards).fixed_texts
    texts = [*fixed, *lesson_texts(training.labelled)]
    meaning = LearnedMeaning(training, await vectors_of(training.encoder, texts))
    return meaning, await trained_meanings(training.encoder, fixed)
