"""Text as routers and rankers read it: words, stems, shapes of numbers, n-grams, BM25."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from math import log
from typing import Final, Generic, TypeVar

from prolocutor.reading.words import words

Key = TypeVar("Key", bound=Hashable)

_VOWEL: Final = re.compile(r"[aeiouy]")
_ENDINGS: Final = (
    ("sses", "ss"), ("ies", "i"), ("ied", "i"), ("ings", ""), ("ing", ""), ("edly", ""),
    ("ed", ""), ("ations", "ate"), ("ation", "ate"), ("ments", "ment"), ("ly", ""),
)  # fmt: skip
_K1: Final = 1.2
_B: Final = 0.75
_MOST_POSTINGS: Final = 50_000
"""Postings that a search reads."""

STOP_WORDS: Final = frozenset(
    "a an the and or of to in on at for from by with as is are was were be been am do does did "
    "doing done have has had i me my mine you your yours we us our he him his she her it its they "
    "them their this that these those there here what which who whom whose when where why how can "
    "could will would shall should may might must not no so if then than too very just also please "
    "about into over under again more most some any each other such only own same up down out off "
    "i'm i'd i'll i've you're it's that's what's let's don't".split()
)


def stems(text: str) -> list[str]:
    """Return the stems of all words."""
    return [stem(word) for word in words(text)]


def content_stems(text: str) -> list[str]:
    """Return the stems of all words but stop words; of all words if there are only stop words."""
    found = words(text)
    kept = [stem(word) for word in found if word not in STOP_WORDS]
    return kept or [stem(word) for word in found]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Cut an English word's ending off, lightly; other words mostly stay as they are."""
    word = word.removesuffix("'s")
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if len(rest) + len(instead) >= 3 and _VOWEL.search(rest):
                return _tidy(rest + instead)
            return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return _tidy(word)


def char_grams(text: str, least: int, most: int) -> Iterable[str]:
    """Return the character n-grams within words, which are padded with a blank on either side."""
    for word in words(text):
        padded = f" {word} "
        for size in range(least, most + 1):
            if size >= len(padded):
                yield padded
                break
            for start in range(len(padded) - size + 1):
                yield padded[start : start + size]


class Bm25(Generic[Key]):
    """A growing index of documents, each a list of terms; Robertson and Zaragoza 2009.

    The idf is ln(1 + (N - n + 0.5) / (n + 0.5)), never negative. Documents are known by keys.
    """

    def __init__(
        self,
        documents: Iterable[tuple[Key, Sequence[str]]] = (),
    ) -> None:
        self._keys: list[Key] = []
        self._lengths: list[int] = []
        self._total = 0
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for key, terms in documents:
            self.add(key, terms)

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: Key, terms: Sequence[str]) -> None:
        """Add a document, which the next search sees."""
        place = len(self._keys)
        self._keys.append(key)
        self._lengths.append(len(terms))
        self._total += len(terms)
        for term, count in Counter(terms).items():
            self._postings.setdefault(term, []).append((place, count))

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term; highest for an unknown term."""
        seen = len(self._postings.get(term, ()))
        return log(1 + (len(self._keys) - seen + 0.5) / (seen + 0.5))

    def search(self, terms: Iterable[str], most: int = _MOST_POSTINGS) -> list[tuple[Key, float]]:
        """Return the documents with a term of the query, and their scores, in any order.

        Rare terms come first, and those that would take more than `most` entries of the index
        altogether are left out: they have the lowest idf. So the cost is bounded for any size.
        """
        if not self._keys:
            return []
        scores: dict[int, float] = {}
        k1, b, lengths = _K1, _B, self._lengths
        mean = self._total / len(lengths) or 1.0
        known = [
            (self._postings[term], term, n)
            for term, n in Counter(terms).items()
            if term in self._postings
        ]
        visited = 0
        for postings, term, times in sorted(known, key=lambda one: len(one[0])):
            visited += len(postings)
            if visited > most and scores:
                break
            gain = times * self.idf(term) * (k1 + 1)
            for place, count in postings[-most:]:
                part = gain * count / (count + k1 * (1 - b + b * lengths[place] / mean))
                scores[place] = scores.get(place, 0.0) + part
        return [(self._keys[place], score) for place, score in scores.items()]


def _tidy(rest: str) -> str:
    """Bring forms together: `stopp` and `stop`, `mak` and `make`, `citi` and `city`."""
    if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "aeiouylsz":
        return rest[:-1]
    if len(rest) > 3 and rest[-1] == "e":
        return rest[:-1]
    if len(rest) > 3 and rest[-1] == "y" and rest[-2] not in "aeiou":
        return f"{rest[:-1]}i"
    return rest
