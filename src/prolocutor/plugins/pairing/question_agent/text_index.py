"""TextIndex: how alike a text is to each of many others, by words and by pieces of words.

Two blocks of TF-IDF: stems alone and in pairs, and the n-grams of characters within words. What two
texts have in common is the mean of the two cosines, 0 to 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import log, sqrt
from typing import Any, Final

import numpy as np

from prolocutor.plugins.pairing.text import STOP_WORDS, char_grams, stems

_MOST_TERMS: Final = 60_000
_PRETENDED: Final = 300
"""Texts of stop words alone that are counted too: few texts do not show which words are common."""

_NAMES: Final = ("idf", "starts", "rows", "values")

Vector = tuple[list[int], list[float]]


def _word_terms(text: str) -> list[str]:
    found = stems(text)
    return [*found, *map(" ".join, pairwise(found))]


def _gram_terms(text: str) -> Iterable[str]:
    return char_grams(text, 3, 5)


_READERS: Final[Mapping[str, Callable[[str], Iterable[str]]]] = {
    "words": _word_terms,
    "grams": _gram_terms,
}


class TextIndex:
    """An index of texts, known by their row; it grows, with the idf of its first texts.

    `terms` are places by term of each block; the postings of place n are `starts[n]` to
    `starts[n + 1]` of `rows` and `values`.
    """

    def __init__(
        self, terms: Mapping[str, dict[str, int]], size: int, arrays: Mapping[str, Any]
    ) -> None:
        self._terms, self._first, self._number = terms, size, size
        self._idf = arrays["idf"].tolist()
        self._starts = arrays["starts"].tolist()
        self._rows, self._values = arrays["rows"], arrays["values"]
        self._unseen = log(1 + size + _PRETENDED) + 1
        self._later: dict[int, list[tuple[int, float]]] = {}

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> TextIndex:
        """Return the index of these texts."""
        terms, idf = _count_terms(texts)
        bare = {"idf": np.array(idf, "<f4"), "starts": np.zeros(len(idf) + 1, "<i4")}
        empty = bare | {"rows": np.zeros(0, "<i4"), "values": np.zeros(0, "<f4")}
        reader = cls(terms, len(texts), empty)
        postings: list[list[tuple[int, float]]] = [[] for _ in idf]
        for row, text in enumerate(texts):
            for place, value in zip(*reader._vector(text), strict=True):
                if place < len(postings):
                    postings[place].append((row, value))
        flat = [pair for one in postings for pair in one]
        arrays = {
            "idf": bare["idf"],
            "starts": np.cumsum([0, *map(len, postings)]).astype("<i4"),
            "rows": np.array([row for row, _ in flat], "<i4"),
            "values": np.array([value for _, value in flat], "<f4"),
        }
        return cls(terms, len(texts), arrays)

    def __len__(self) -> int:
        return self._number

    def add(self, text: str) -> None:
        """Add a text as the next row."""
        for place, value in zip(*self._vector(text, grows=True), strict=True):
            self._later.setdefault(place, []).append((self._number, value))
        self._number += 1

    def likeness(self, text: str) -> Any:
        """Return how much each row has in common with a text: an array of float32, 0 to 1."""
        places, values = self._vector(text)
        starts, spans, weights = self._starts, [], []
        for place, value in zip(places, values, strict=True):
            if place + 1 < len(starts) and starts[place] < starts[place + 1]:
                spans.append((starts[place], starts[place + 1]))
                weights.append(value)
        found = np.zeros(self._number, np.float32)
        if spans:
            rows = np.concatenate([self._rows[start:end] for start, end in spans])
            gains = np.concatenate([self._values[start:end] for start, end in spans])
            gains = gains * np.repeat(weights, [end - start for start, end in spans])
            found[: self._first] = np.bincount(rows, gains, self._first)
        for place, value in zip(places, values, strict=True) if self._later else ():
            for row, other in self._later.get(place, ()):
                found[row] += value * other
        return np.minimum(found / len(_READERS), 1.0)  # a file may hold any weights

    def parts(self) -> dict[str, list[str]]:
        """Return the terms of each block in order, to be saved."""
        return {name: list(block) for name, block in self._terms.items()}

    def arrays(self) -> dict[str, Any]:
        """Return idf and postings, to be saved, without texts added later."""
        found = (self._idf, self._starts, self._rows, self._values)
        return {
            name: np.ascontiguousarray(one, "<i4" if name in ("starts", "rows") else "<f4")
            for name, one in zip(_NAMES, found, strict=True)
        }

    @classmethod
    def of_parts(cls, parts: Mapping[str, Any], arrays: Mapping[str, Any], size: int) -> TextIndex:
        """Return a saved index; `KeyError` or `ValueError` if it does not fit together."""
        terms: dict[str, dict[str, int]] = {}
        place = 0
        for name in _READERS:
            terms[name] = {term: n for n, term in enumerate(parts[name], place)}
            place += len(parts[name])
        read = {name: arrays[name] for name in _NAMES}
        starts, rows = read["starts"], read["rows"]
        if not (
            len(read["idf"]) == place == len(starts) - 1
            and rows.shape == read["values"].shape == (starts[-1],)
            and (np.diff(starts) >= 0).all()
            and (not len(rows) or 0 <= rows.min() <= rows.max() < size)
        ):
            raise ValueError(f"{place} terms, {len(starts)} starts, {len(rows)} postings")
        return cls(terms, size, read)

    def _vector(self, text: str, *, grows: bool = False) -> Vector:
        """Return the places and weights of a text's terms, each block of length 1.

        Unknown terms count for the length; `grows` gives them a place.
        """
        places: list[int] = []
        values: list[float] = []
        for name, read in _READERS.items():
            block = self._terms[name]
            square = 0.0
            start = len(values)
            for term, count in Counter(read(text)).items():
                place = block.get(term)
                if place is None and grows:
                    place = block[term] = len(self._idf)
                    self._idf.append(self._unseen)
                value = self._unseen if place is None else self._idf[place]
                if count > 1:
                    value *= 1 + log(count)
                square += value * value
                if place is not None:
                    places.append(place)
                    values.append(value)
            length = sqrt(square) or 1.0
            values[start:] = [value / length for value in values[start:]]
        return places, values


def _count_terms(texts: Sequence[str]) -> tuple[dict[str, dict[str, int]], list[float]]:
    """Return the terms of each block, the commonest if there are very many, and their idf."""
    terms: dict[str, dict[str, int]] = {}
    idf: list[float] = []
    for name, read in _READERS.items():
        common = {term for word in STOP_WORDS for term in read(word)}
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(dict.fromkeys(read(text), 1))
        block = terms[name] = {}
        for term, count in counts.most_common(_MOST_TERMS):
            block[term] = len(idf)
            seen = 1 + count + _PRETENDED * (term in common)
            idf.append(log((1 + len(texts) + _PRETENDED) / seen) + 1)
    return terms, idf
