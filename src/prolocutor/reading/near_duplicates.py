"""Texts that are near duplicates of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Final

from prolocutor.reading.words import jaccard, words

ALIKE: Final = 0.8


def near_duplicates(texts: Sequence[str], alike: float = ALIKE) -> list[int]:
    """Return the number of each text's group: texts linked by a Jaccard index of words >= `alike`.

    Only texts that share one of their rarest words are compared (prefix filtering, Chaudhuri,
    Ganti and Kaushik 2006), so that it takes seconds for a hundred thousand.
    """
    sets = [frozenset(words(text)) for text in texts]
    counts = Counter(word for one in sets for word in one)
    first = list(range(len(texts)))
    having: dict[str, list[int]] = {}
    whole: dict[frozenset[str], int] = {}
    for place, one in enumerate(sets):
        if one in whole:
            _join(first, place, whole[one])
            continue
        whole[one] = place
        rarest = sorted(one, key=lambda word: (counts[word], word))
        near: set[int] = set()
        for word in rarest[: len(one) - ceil(alike * len(one)) + 1]:
            near.update(having.get(word, ()))
            having.setdefault(word, []).append(place)
        for other in near:
            if jaccard(one, sets[other]) >= alike:
                _join(first, place, other)
    return [_root(first, place) for place in range(len(texts))]


def _root(first: list[int], place: int) -> int:
    while first[place] != place:
        first[place] = first[first[place]]
        place = first[place]
    return place


def _join(first: list[int], one: int, other: int) -> None:
    first[_root(first, one)] = _root(first, other)
