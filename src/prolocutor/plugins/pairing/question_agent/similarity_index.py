"""SimilarityIndex: the labels most similar to a text, and the weight of each vote."""

from __future__ import annotations

from heapq import nlargest
from operator import itemgetter
from typing import Any, Final, Protocol

from prolocutor.plugins.pairing.encoders.text_vectors import NO_VECTORS, Vectors
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
