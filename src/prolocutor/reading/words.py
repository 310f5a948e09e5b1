"""Words of texts, and near duplicates of texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Final

_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # scripts without spaces: sign by sign
    r"|[^\W\d_]+(?:['’][^\W\d_]+)?"
    r"|\d+(?:[.,:/-]\d+)*"
    r"|[$€£¥₹%+*/=°√^]"
)
LONGEST_TEXT: Final = 2000
"""The largest number of characters read of a text."""

ALIKE_SHARE: Final = 0.8
"""The share of common words from which on texts are near duplicates."""


def words(text: str) -> list[str]:
    """Return words, numbers and signs of calculation, in lower case; at most of 2,000 signs."""
    return _WORD.findall(text[:LONGEST_TEXT].lower().replace("’", "'"))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of common words among all words of two sets; 1 for two empty sets."""
    both = len(first & second)
    union = len(first) + len(second) - both
    return both / union if union else 1.0


def near_duplicates(texts: Sequence[str], alike: float = ALIKE_SHARE) -> list[int]:
    """Return the number of each text's group: texts linked by a Jaccard index of words >= `alike`.

    Only texts with a common rare word are compared (prefix filtering, Chaudhuri, Ganti and Kaushik
    2006): a hundred thousand texts take seconds.
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
