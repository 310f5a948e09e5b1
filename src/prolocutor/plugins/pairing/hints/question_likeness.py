"""How like two questions are, and whether the second asks the first again in other words.

Words alone are compared, without an encoder: their stems, and their letters where one was typed
wrong. Numbers tell questions apart, and so does a single word that took the place of another one
("the weather in Paris", "the weather in Rome").
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from prolocutor.plugins.pairing.text import STOP_WORDS, content_stems
from prolocutor.reading.words import words

ALIKE: Final = 0.6
"""The likeness from which on a question counts as the same.

Measured on 64 pairs of tests/unit/pairing/hints and on 20,000 random pairs of BBAI's questions for
the same agent: 0.6 finds 18 of 30 repetitions, and takes 2 of 34 other questions and 1.4 % of the
random pairs for one; 0.5 finds 23, and takes 3 of 34 and 4.3 % of the pairs.
"""

LEAST: Final = 2
"""Stems that the shorter question must have: "again" or "a joke" can be asked twice for itself."""

_SPELT_ALIKE: Final = 0.75
_FOR_MORE: Final = frozenset(
    "another more else next other otra otro más autre encore weitere weiter noch".split()
)


def asks_again(before: str, now: str, alike: float = ALIKE) -> bool:
    """Return whether `now` asks the same as `before`, be it in other words."""
    one, other = content_stems(before), content_stems(now)
    if min(len(set(one)), len(set(other))) < LEAST or not _FOR_MORE.isdisjoint(words(now)):
        return False
    if _turns(before) != _turns(now):
        return False
    if one == other:
        return words(before) != words(now) or len(set(one)) > LEAST
    if _numbers(one) != _numbers(other) or _replaces(one, other):
        return False
    return likeness(one, other) >= alike


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of stems that two questions have in common, 0 to 1 (Dice).

    Stems that are spelt alike count in part.
    """
    first, second = list(dict.fromkeys(one)), list(dict.fromkeys(other))
    if not first or not second:
        return 0.0
    common = _found(first, second) + _found(second, first)
    return common / (len(first) + len(second))


def _found(stems: Sequence[str], among: Sequence[str]) -> float:
    return sum(1.0 if stem in among else _spelt_alike(stem, among) for stem in stems)


def _spelt_alike(stem: str, among: Sequence[str]) -> float:
    if len(stem) < 4 or not stem.isalpha():
        return 0.0
    best = max((_dice(stem, other) for other in among if len(other) > 2), default=0.0)
    return best if best >= _SPELT_ALIKE else 0.0


def _dice(one: str, other: str) -> float:
    first, second = (
        {f" {word} "[n : n + 2] for n in range(len(word) + 1)} for word in (one, other)
    )
    return 2 * len(first & second) / (len(first) + len(second))


def _turns(text: str) -> set[str]:
    """Return the words that tell "turn it on" from "turn it off", "from here" from "to here"."""
    found = words(text)
    switched = {one for one in found if one in ("off", "out", "down")}
    if "from" not in found:
        return switched
    places = itertools.pairwise(found)
    return switched | {f"{one} {two}" for one, two in places if one in ("from", "to")}


def _numbers(stems: Sequence[str]) -> list[str]:
    return sorted(stem for stem in stems if stem[0].isdigit())


def _replaces(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether words took the place of others at the same spot, and all else is as before."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    left, came = len(one) - start - end, len(other) - start - end
    if not (left and came) or max(left, came) > 2 or not start + end:
        return False
    gone, new = one[start : len(one) - end], other[start : len(other) - end]
    return not any(_spelt_alike(stem, gone) for stem in new)


def says_something(text: str) -> bool:
    """Return whether a text has a word that is no stop word, so that it can be learned."""
    return any(word not in STOP_WORDS for word in words(text))
