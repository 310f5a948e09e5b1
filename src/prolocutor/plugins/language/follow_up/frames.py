"""Frames: the words of agents' examples beside each other, which tell a slip that is a word itself.

"Flip a con" has no reading, and "flip a coin" is an example of an agent: the words on both sides
tell the word that was meant. Between two numbers stands a preposition, before another phrase no
"an" but an "and".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

from prolocutor.plugins.language.follow_up.grammar import MOST_KEPT, LanguageGrammar, plain_of
from prolocutor.plugins.language.follow_up.spelling import is_near

LEAST_LETTERS: Final = 3
"""Letters of a word that is mended by the words beside it."""

_STEM: Final = 4
"""Letters by which two words are forms of one: "coin", "coins"."""

_END: Final = ""
"""The word before the first word, and after the last."""

_NUMBER: Final = "#"
_NONE: Final[frozenset[str]] = frozenset()


class Frames:
    """The words that stand between others in the questions and orders on agents' cards."""

    def __init__(self, texts: Iterable[str], own: frozenset[str], grammar: LanguageGrammar) -> None:
        """Read the texts of cards; `own` are the words of the language."""
        self._plain = lru_cache(MOST_KEPT)(self._plain_word)
        self._grammar, self._words = grammar, set[str]()
        self._endings = frozenset(grammar.words.endings.split())
        self._between: dict[tuple[str, str], set[str]] = {}
        self._asked_by: dict[str, set[str]] = {}
        self._asking: dict[str, set[str]] = {}
        said = [[self._plain(one) for one in text.split()] for text in texts]
        often = Counter(word[:_STEM] for words in said for word in words)
        for words in said:
            self._words |= {*words}
            for before, word, after in zip(
                [_END, *words[:-1]], words, [*words[1:], _END], strict=True
            ):
                if word in own or often[word[:_STEM]] > 1:  # no value of one example
                    self._between.setdefault((before, after), set()).add(word)
        phrases = [one.split() for one in (*grammar.words.how_much, *grammar.words.counts)]
        pairs = [pair for words in (*said, *phrases) for pair in pairwise(words)]
        asked = [pair for pair in pairs if pair[0] in grammar.questions and pair[1].isalpha()]
        dated = [(one, unit) for one in grammar.demonstratives for unit in grammar.units]
        for one, other in (*asked, *dated):
            self._asked_by.setdefault(one, set()).add(other)
            self._asking.setdefault(other, set()).add(one)

    def word_between(self, before: str, word: str, after: str) -> str:
        """Return the word that was meant between two others in lower case, "" for the ends of a
        text: "long" in "how log", "how" in "haw long", "coin" in "flip a con"; "" where the word
        may be right.
        """
        grammar, before = self._grammar, self._plain(before)
        known = word in grammar.function or len(word) < LEAST_LETTERS
        if before and before != _NUMBER and self.knows(word):
            return ""
        after = self._plain(after)
        if not before and word in grammar.indefinite:
            return self._joint(word, after)
        if before == after == _NUMBER and not self._is_operator(word):
            return self._nearest(word, (one for one in grammar.leads if len(one) < len(word) + 2))
        if known:
            return ""
        if not before and (asking := self._asking.get(after)):
            return self._nearest(word, asking)
        asked = self._asked_by.get(before, _NONE)
        between = self._between.get((before, after), _NONE)
        if not (asked or between) or word in asked or word in self._words:
            return ""
        others = (one for one in asked if len(one) != len(word))
        return self._nearest(word, others) or self._nearest(word, between)

    def knows(self, word: str) -> bool:
        """Return whether a word is right wherever it stands, but for first and after a number."""
        return word in self._words or word in self._grammar.function or len(word) < LEAST_LETTERS

    def _nearest(self, typed: str, words: Iterable[str]) -> str:
        near = [one for one in words if is_near(typed, one) or _abbreviates(typed, one)]
        return near[0] if len(near) == 1 and not self._is_form(typed, near[0]) else ""

    def _is_form(self, one: str, other: str) -> bool:
        """Return whether a word is another with an ending: "word", "words"."""
        short, long = sorted((one, other), key=len)
        return long.startswith(short) and long[len(short) :] in self._endings

    def _joint(self, article: str, after: str) -> str:
        """Return the conjunction that an article was meant as, where it cannot be one: "an in"."""
        grammar = self._grammar
        joint = grammar.words.conjunction
        led = after in grammar.leads or after in grammar.any_article
        before = grammar.words.vowels  # "an" may be right
        unfit = led or (len(article) > 1 and after[:1].isalpha() and after[:1] not in before)
        return joint if unfit and joint.startswith(article) and article != joint[:1] else ""

    def _is_operator(self, word: str) -> bool:
        grammar = self._grammar
        return word in grammar.function or word in grammar.joining or word in self._words

    def _plain_word(self, word: str) -> str:
        plain = plain_of(word).strip(".,!?;:'\"")
        return _NUMBER if plain[:1].isdigit() or plain in self._grammar.numbers else plain


def _abbreviates(typed: str, word: str) -> bool:
    """Return whether a word is another without some vowels: "mints", "minutes"."""
    bones = _BONES.sub("", typed)
    return len(bones) > LEAST_LETTERS and bones == _BONES.sub("", word) and typed[0] == word[0]


_BONES: Final = re.compile("[aeiou]")
