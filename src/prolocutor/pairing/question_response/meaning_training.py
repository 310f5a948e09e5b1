"""Training of rankers that read vectors: what each lesson is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prolocutor.contracts.pairing import AgentAnswer, LabelledQuestion, TrainingData
from prolocutor.pairing.answer_meaning import MeaningMemory, lesson_texts
from prolocutor.pairing.encoders.meanings import trained_meanings, vectors_of
from prolocutor.pairing.encoders.text_vectors import NO_VECTORS, Vectors
from prolocutor.pairing.near_duplicates import near_duplicates
from prolocutor.pairing.question_response.meant_ranker import MeaningRanker, MeantRanker


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


async def meant_fit(
    training: TrainingData,
    learned: Callable[[TrainingData, LearnedMeaning | None], MeaningRanker],
) -> MeantRanker:
    """Return a ranker that learned with vectors; errors of the encoder propagate."""
    assert training.encoder is not None
    fixed = MeaningMemory.of_lessons((), NO_VECTORS, training.cards).fixed_texts
    texts = [*fixed, *lesson_texts(training.labelled)]
    meaning = LearnedMeaning(training, await vectors_of(training.encoder, texts))
    meanings = await trained_meanings(training.encoder, fixed)
    return MeantRanker(learned(training, meaning), meanings)
