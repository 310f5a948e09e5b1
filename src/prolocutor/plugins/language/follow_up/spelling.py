"""Spelling: the word that a mistyped word was meant to be, among the words of a vocabulary.

How far two words are apart depends on how fingers slip: two letters in each other's place, a letter
doubled or not, a vowel left out, a key beside the right key cost less than any other letter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

MIN_LETTERS: Final = 4
"""Letters of the shortest word that is mended."""

_SURELY_LONG: Final = 6
"""Shortest word corrected outside bold mode. At exactly this length, only swapped letters are
corrected."""

LONG: Final = 8
"""Letters from which on two slips are mended."""

_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE: Final = frozenset(
    (a, b)
    for n, row in enumerate(_ROWS)
    for at, a in enumerate(row)
    for near in (_ROWS[max(0, n - 1) : n + 2])
    for b in near[max(0, at - 1) : at + 2]
    if a != b
)
_ALIKE: Final = frozenset(
    pair
    for group in ("aeiouy", "cksq", "sz", "vwf", "mn", "td", "pb", "gj", "lr")
    for a in group
    for b in group
    for pair in ((a, b),)
    if a != b
)
_VOWELS: Final = frozenset("aeiou")
_OTHER: Final = 1.4
_SLIP: Final = 0.9
_EXTRA: Final = 1.0
_CLEARLY: Final = 0.15
"""By how much the nearest word must be nearer than the next."""


class Spelling:
    """Finds words of a vocabulary that are near to a mistyped word."""

    def __init__(
        self, words: Iterable[str], frequent: Iterable[str] = (), *, boldly: bool = False
    ) -> None:
        """Index the words; `frequent` are those that are meant rather than others as near.

        `boldly`: what is spelled is hardly a word of its own, so that more slips are mended.
        """
        self._boldly = boldly
        self._most = (1.0, 1.4, 2.0) if boldly else (0.7, 0.85, 0.85)
        self.frequent = frozenset(frequent)
        self._lengths: dict[int, list[tuple[int, str]]] = {}
        for word in sorted({*words, *self.frequent}):
            if len(word) > 2:
                self._lengths.setdefault(len(word), []).append((_letters(word), word))
        self.word_for: Callable[[str], str] = lru_cache(maxsize=2048)(self._find_word)

    def _find_word(self, typed: str) -> str:
        """Return the only word that a mistyped word in lower case is near to; "" for none."""
        if len(typed) < MIN_LETTERS:
            return self._short_word(typed) if self._boldly and len(typed) > 2 else ""
        if len(typed) < _SURELY_LONG and not self._boldly:
            return ""
        found = self._words_near(typed)
        most = self._most[0 if len(typed) < 6 else 1 if len(typed) < LONG else 2]
        ranked = sorted(
            (_distance(typed, word) - (0.2 if word in self.frequent else 0), word)
            for word in found
            if self._boldly or self._is_likely(typed, word)
        )
        least = 0.0 if self._boldly else 0.2 * (ranked[0][1] in self.frequent if ranked else 0)
        if not ranked or ranked[0][0] + least > most:
            return ""
        best = [word for far, word in ranked if far < ranked[0][0] + _CLEARLY]
        if len(best) > 1:
            best = [one for one in best if one[-1] == typed[-1]] or best
            best = [one for one in best if len(one) == len(typed)] or best
        return best[0] if len(best) == 1 else ""

    @staticmethod
    def _is_likely(typed: str, word: str) -> bool:
        """Return whether a word that may be right as it is was rather meant to be another."""
        if len(typed) <= _SURELY_LONG and sorted(typed) != sorted(word):
            return False
        return not _differs_in_ending(typed, word)

    def _short_word(self, typed: str) -> str:
        """Return the frequent word made of three letters, or of them and one more."""
        found = [
            word
            for word in self._words_near(typed)
            if word in self.frequent
            and (sorted(word) == sorted(typed) or (len(word) == 4 and word[0] == typed[0]))
            and _distance(typed, word) <= _SLIP
        ]
        return found[0] if len(found) == 1 else ""

    def _words_near(self, typed: str) -> list[str]:
        """Return the words that have about the same length and hardly another letter."""
        slips = 1 if len(typed) < LONG - 1 else 2
        own = _letters(typed)
        return [
            word
            for length in range(len(typed) - slips, len(typed) + slips + 1)
            for letters, word in self._lengths.get(length, ())
            if (letters ^ own).bit_count() <= 2 * slips
        ]


def is_near(typed: str, word: str) -> bool:
    """Return whether a typed word is a word but for one slip of a finger."""
    return abs(len(typed) - len(word)) < 2 and _distance(typed, word) <= _EXTRA


def doubled_or_not(key: str) -> set[str]:
    """Return the words that differ from a word by a letter typed twice or once."""
    once = {key[:n] + key[n + 1 :] for n, (a, b) in enumerate(pairwise(key)) if a == b}
    return once | {f"{key[:n]}{letter}{key[n:]}" for n, letter in enumerate(key)}


def swapped(key: str) -> set[str]:
    """Return the words that differ from a word by two inner letters in each other's place."""
    places = range(1, len(key) - 1)
    return {f"{key[:n]}{key[n + 1]}{key[n]}{key[n + 2 :]}" for n in places} - {key}


def _letters(word: str) -> int:
    """Return the letters of a word as bits."""
    found = 0
    for letter in word:
        found |= 1 << (ord(letter) & 63)
    return found


def _differs_in_ending(typed: str, word: str) -> bool:
    """Return whether two words have the same stem and end otherwise."""
    same = next((n for n, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), None)
    stem = min(len(typed), len(word)) if same is None else same
    doubled = typed[:-1] == word and typed[-1] == word[-1]
    swapped = sorted(typed) == sorted(word)
    left_out = typed == word[:-1] and word[-1] == "e"
    if doubled or swapped or left_out or stem < max(len(typed), len(word)) - 2:
        return False
    return typed[stem:] in _ENDINGS and word[stem:] in _ENDINGS


_ENDINGS: Final = frozenset(
    ["", *"s e d n t a o y es er ed en em ly ing ie os as st te ns al is el".split()]
)


def _distance(typed: str, word: str) -> float:
    """Return how far a typed word is from a word: the cost of the slips between them."""
    before: list[float] = []
    row = [0.0]
    for letter in word:
        row.append(row[-1] + _missing(letter, ""))
    swapped = typed[:2] == word[1::-1]
    first = 0.5 if typed[0] != word[0] and not swapped else 0.0
    for n, letter in enumerate(typed, 1):
        previous = typed[n - 2] if n > 1 else ""
        last, row = row, [row[0] + (0.6 if letter == previous else _EXTRA)]
        for m, sign in enumerate(word, 1):
            left = word[m - 2] if m > 1 else ""
            cost = min(
                last[m] + (0.5 if letter == previous else _EXTRA),
                row[m - 1] + _missing(sign, left),
                last[m - 1] + _change_cost(letter, sign),
            )
            if n > 1 and m > 1 and letter == left and previous == sign:
                cost = min(cost, before[m - 2] + 0.7)
            row.append(cost)
        before = last
    return row[-1] + first


def _missing(letter: str, before: str) -> float:
    return 0.5 if letter == before else 0.8 if letter in _VOWELS else _SLIP


def _change_cost(one: str, other: str) -> float:
    if one == other:
        return 0.0
    return _SLIP if (one, other) in _BESIDE or (one, other) in _ALIKE else _OTHER
