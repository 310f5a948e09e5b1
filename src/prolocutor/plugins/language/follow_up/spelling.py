"""Spelling: the word that a mistyped word was meant to be, among the words of a vocabulary.

How far two words are apart depends on how fingers slip: two letters in each other's place, a letter
doubled or not, a vowel left out, a key beside the right key cost less than any other letter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import accumulate, pairwise
from math import inf
from typing import Final

MIN_LETTERS: Final = 4
"""Letters of the shortest word that is mended."""

_SURELY_LONG: Final = 6
"""Shortest word corrected outside bold mode. At exactly this length, only swapped letters are
corrected."""

LONG: Final = 8
"""Letters from which on two slips are mended."""

_FARTHEST: Final = (0.9, 0.9, 1.2, 1.4, 1.8, 2.2, 2.6)
"""Distance of the nearest word that still counts, by letters from two on."""

_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ALIKE: Final = ("aeiouy", "cksq", "sz", "vwf", "mn", "td", "pb", "gj", "lr")
_MISTAKEN: Final = {
    letter: "".join(group for group in _ALIKE if letter in group)
    + "".join(near[max(0, at - 1) : at + 2] for near in _ROWS[max(0, n - 1) : n + 2])
    for n, row in enumerate(_ROWS)
    for at, letter in enumerate(row)
}
"""The letters for which each letter is easily typed: those that sound alike, and keys beside it."""

_VOWELS: Final = frozenset("aeiou")
_OTHER: Final = 1.4
_SLIP: Final = 0.9
_EXTRA: Final = 1.0
_CLEARLY: Final = 0.15
"""By how much the nearest word must be nearer than the next."""

_FREQUENT: Final = 0.2
"""By how much a frequent word counts as nearer than it is."""


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
        self._words = [one for one in {*words, *self.frequent} if len(one) > 2]
        self._of_length: dict[int, int] = {}
        self._with_letter: dict[str, int] = {}
        for n, word in enumerate(self._words):  # sets of words as the bits of a number
            self._of_length[len(word)] = self._of_length.get(len(word), 0) | 1 << n
            for letter in {*word}:
                self._with_letter[letter] = self._with_letter.get(letter, 0) | 1 << n
        self.word_for: Callable[[str], str] = lru_cache(maxsize=2048)(self._find_word)

    def _find_word(self, typed: str) -> str:
        """Return the only word that a mistyped word in lower case is near to; "" for none."""
        if len(typed) < MIN_LETTERS:
            return self._short_word(typed) if self._boldly and len(typed) > 2 else ""
        if len(typed) < _SURELY_LONG and not self._boldly:
            return ""
        most = self._most[0 if len(typed) < 6 else 1 if len(typed) < LONG else 2]
        ranked = sorted(
            (far - (_FREQUENT if word in self.frequent else 0), word)
            for word in self._words_near(typed)
            if self._boldly or self._is_likely(typed, word)
            if (far := _distance(typed, word, most + _FREQUENT + _CLEARLY)) < inf
        )
        least = (
            0.0 if self._boldly else _FREQUENT * (ranked[0][1] in self.frequent if ranked else 0)
        )
        if not ranked or ranked[0][0] + least > most:
            return ""
        best = [word for far, word in ranked if far < ranked[0][0] + _CLEARLY]
        if len(best) > 1:
            best = [one for one in best if one[-1] == typed[-1]] or best
            best = [one for one in best if len(one) == len(typed)] or best
        return best[0] if len(best) == 1 else ""

    def nearest(self, typed: str) -> str:
        """Return the nearest word, frequent words first, for words that make no sense as they are.

        "" if none is near; a word of two or three letters is only a frequent one.
        """
        short = len(typed) < MIN_LETTERS
        most = _FARTHEST[min(len(typed), LONG) - 2] if len(typed) > 1 else 0.0
        ranked = (
            (_distance(typed, word, most + _CLEARLY) - _CLEARLY * (word in self.frequent), word)
            for word in self._words_near(typed)
            if word in self.frequent or not short
        )
        far, word = min(ranked, default=(most + 1, ""))
        return word if far <= most else ""

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
            and _distance(typed, word, _SLIP) <= _SLIP
        ]
        return found[0] if len(found) == 1 else ""

    def _words_near(self, typed: str) -> list[str]:
        """Return the words that have about the same length and hardly another letter."""
        slips = 1 if len(typed) < LONG - 1 else 2
        lengths = range(len(typed) - slips, len(typed) + slips + 1)
        near = sum(self._of_length.get(length, 0) for length in lengths)
        unlike = [0] * (2 * slips + 1)  # words that have more than 0, 1, 2 ... other letters
        for letter in self._with_letter.keys() | {*typed}:
            other = self._with_letter.get(letter, 0) ^ (near if letter in typed else 0)
            for n in range(2 * slips, 0, -1):
                unlike[n] |= unlike[n - 1] & other
            unlike[0] |= other
        near &= ~unlike[-1]
        found = []
        while near:
            found.append(self._words[near.bit_length() - 1])
            near ^= 1 << near.bit_length() - 1
        return found


def is_near(typed: str, word: str) -> bool:
    """Return whether a typed word is a word but for one slip of a finger."""
    if abs(len(typed) - len(word)) > 1 or len({*typed} ^ {*word}) > 2:
        return False
    return _distance(typed, word, _EXTRA) <= _EXTRA


def doubled_or_not(key: str) -> set[str]:
    """Return the words that differ from a word by a letter typed twice or once."""
    once = {key[:n] + key[n + 1 :] for n, (a, b) in enumerate(pairwise(key)) if a == b}
    return once | {f"{key[:n]}{letter}{key[n:]}" for n, letter in enumerate(key)}


def swapped(key: str) -> set[str]:
    """Return the words that differ from a word by two inner letters in each other's place."""
    places = range(1, len(key) - 1)
    return {f"{key[:n]}{key[n + 1]}{key[n]}{key[n + 2 :]}" for n in places} - {key}


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


def _distance(typed: str, word: str, most: float) -> float:
    """Return how far a typed word is from a word: the cost of the slips between them.

    It is infinite where they are surely farther apart than `most`.
    """
    swapped = typed[:2] == word[1::-1]
    first = 0.5 if typed[0] != word[0] and not swapped else 0.0
    missing = [0.8 if letter in _VOWELS else _SLIP for letter in word]
    row = [0.0, *accumulate(missing)]
    for n in range(1, len(word)):
        if word[n] == word[n - 1]:
            missing[n] = 0.5
    last: list[float] = []
    previous = ""
    for letter in typed:
        before, last = last, row
        again = letter == previous
        extra, mistaken = 0.5 if again else _EXTRA, _MISTAKEN.get(letter, "")
        cost = last[0] + (0.6 if again else _EXTRA)
        row, left = [cost], ""
        for m, sign in enumerate(word):
            cost += missing[m]
            if (other := last[m + 1] + extra) < cost:
                cost = other
            change = 0.0 if sign == letter else _SLIP if sign in mistaken else _OTHER
            if (other := last[m] + change) < cost:
                cost = other
            if letter == left and previous == sign and (other := before[m - 1] + 0.7) < cost:
                cost = other
            row.append(cost)
            left = sign
        if min(row) + first > most and min(last) + first + 0.7 > most:
            return inf
        previous = letter
    return row[-1] + first
