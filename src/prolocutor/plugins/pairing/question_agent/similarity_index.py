"""SimilarityIndex: the labels most similar to a text, and the weight of each vote."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Any, Final, Protocol

from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.encoders.encoder_mark import EncoderMark
from prolocutor.plugins.pairing.encoders.meanings import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.model_files import Array, Model
from prolocutor.plugins.pairing.text import Bm25, shape, stem
from prolocutor.reading.words import words

Neighbours = list[tuple[int, float]]
"""Numbers of labels and the weight of each, the heaviest first."""

NEIGHBOURS: Final = 25
SECOND: Final = itemgetter(1)
_POWER: Final = 2
_MOST_POSTINGS: Final = 3000
_SHARPNESS: Final = 4
_LOUDEST: Final = 10.0
_LOUDEST_LATER: Final = 300.0


class SimilarityIndex(Protocol):
    """Finds the most similar labels among those added; some read `vectors` of texts."""

    def add(self, number: int, text: str) -> None:
        """Add a label; the next `nearest` sees it."""
        ...

    def nearest(self, text: str, vectors: Vectors = NO_VECTORS) -> Neighbours:
        """Return the nearest labels, at most `NEIGHBOURS`."""
        ...


class WordIndex:
    """BM25 over words; a weight is the score, as a share of the total idf of the text."""

    def __init__(self) -> None:
        self._index: Bm25[int] = Bm25()

    def add(self, number: int, text: str) -> None:
        """Add a label; the next `nearest` sees it."""
        self._index.add(number, _terms(text))

    def nearest(self, text: str, vectors: Vectors = NO_VECTORS) -> Neighbours:
        """Return the nearest labels; weights are from 0 to 1."""
        terms = _terms(text)
        near = nlargest(NEIGHBOURS, self._index.search(terms, _MOST_POSTINGS), key=SECOND)
        if not near:
            return []
        most = near[0][1]
        # Summed in the order of the text, not of a set, so that every run gives the same figures.
        alike = min(1.0, most / (sum(map(self._index.idf, dict.fromkeys(terms))) or 1.0))
        return [(number, alike * (score / most) ** _POWER) for number, score in near]


def nearest_by_cosine(cosines: Any) -> Neighbours:
    """Return the labels of the highest cosines, in any order, and their weights, 0 to 10."""
    count = min(NEIGHBOURS, len(cosines))
    first = (-cosines).argpartition(count - 1)[:count]
    first = first[cosines[first] > 0]
    weights = _LOUDEST * cosines[first] ** _SHARPNESS
    return list(zip(first.tolist(), weights.tolist(), strict=True))


def louder(later: Neighbours) -> Neighbours:
    """Return labels that were found by their words with weights from 0 to 300."""
    return [(number, _LOUDEST_LATER * alike**_SHARPNESS) for number, alike in later]


def _terms(text: str) -> list[str]:
    return [shape(word) or stem(word) for word in words(text)]


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
