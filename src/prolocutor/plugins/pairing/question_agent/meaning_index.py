"""MeaningIndex: similar questions by an encoder's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from typing import Any, Final

from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.encoders.encoder_mark import EncoderMark
from prolocutor.plugins.pairing.encoders.text_vectors import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.model_files import Array, Model
from prolocutor.plugins.pairing.question_agent.similarity_index import (
    NEIGHBOURS,
    SECOND,
    Neighbours,
    SimilarityIndex,
    WordIndex,
    louder,
    nearest_by_cosine,
)

_ARRAY: Final = "meaning_lessons"


class MeaningIndex:
    """Finds the labels that it was trained on by their vectors, and later ones by their words.

    `lessons` has a row of norm 1 for each label, by number. `stand_in` finds neighbours of a text
    that has no vector.
    """

    def __init__(self, lessons: Any, stand_in: SimilarityIndex) -> None:
        self._lessons, self._stand_in = lessons, stand_in
        self._later = WordIndex()

    @classmethod
    def of_texts(
        cls, texts: Sequence[str], vectors: Vectors, stand_in: SimilarityIndex
    ) -> MeaningIndex:
        """Return the index of labels with these texts."""
        return cls(Array.of([vectors[text] for text in texts], "<f4").to_numpy(), stand_in)

    def add(self, number: int, text: str) -> None:
        """Add a label; the next `nearest` sees it."""
        if number >= len(self._lessons):
            self._later.add(number, text)
        self._stand_in.add(number, text)

    def nearest(self, text: str, vectors: Vectors = NO_VECTORS) -> Neighbours:
        """Return the nearest labels, weighted as those of a `LatentIndex` are."""
        if (vector := vectors.get(text)) is None:
            return self._stand_in.nearest(text)
        near = nearest_by_cosine(self._lessons @ vector)
        return nlargest(NEIGHBOURS, [*louder(self._later.nearest(text)), *near], key=SECOND)

    def arrays(self) -> dict[str, Array]:
        """Return what was learned, by name, to be saved."""
        return {_ARRAY: Array.of(self._lessons, "<f4")}

    @classmethod
    def of_model(cls, model: Model, stand_in: SimilarityIndex) -> MeaningIndex | None:
        """Make the index of a model that has one; `ConfigError` if its shape does not fit."""
        mark = EncoderMark.of_model(model)
        if mark is None or _ARRAY not in model.arrays:
            return None
        rows, *width = model.arrays[_ARRAY].shape
        if width != [mark.width] or not 0 < rows <= len(model.parts.get("lessons", ())):
            raise ConfigError(f"the model {model.id} has {rows} vectors that do not fit its labels")
        return cls(model.arrays[_ARRAY].to_numpy(), stand_in)
