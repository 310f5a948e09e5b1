"""Classes of words, and rules that combine them: "an animal", "ate", "a poison", in any order."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

_WORD: Final = re.compile(r"\w+")
_CLAUSE_END: Final = re.compile(r"[.,;:!?…]+| and then ")
_PLAIN: Final = re.compile(r"\w+")
_CONTRACTED: Final = re.compile(
    r"(?<=\b(?:is|wo))nt\b|(?<=\b(?:has|did|are|was|had))nt\b"
    r"|(?<=\b(?:does|have|were))nt\b|(?<=\b(?:could|would))nt\b"
)
_REMEMBERED: Final = 10_000

MANY_WORDS: Final = 40
"""Words of an utterance from which on a rule has to fit within one clause."""


ClassRule: TypeAlias = tuple[str, int, tuple[int, ...]]
"""A name, the classes (as bits) that bar it, and those of which one of each number is needed."""


class WordClasses:
    """Classes by name, each a text of patterns of words, parted by blanks; "got_into" is two words.

    A word may be of several classes. The classes of a word are remembered, for the last 10,000
    words.
    """

    def __init__(self, classes: Mapping[str, str]) -> None:
        self._bits = {name: 1 << place for place, name in enumerate(classes)}
        self._plain: dict[str, int] = {}
        patterns: dict[str, list[str]] = {}
        for name, words in classes.items():
            for word in words.split():
                if _PLAIN.fullmatch(word):
                    self._plain[word] = self._plain.get(word, 0) | self._bits[name]
                else:
                    patterns.setdefault(name, []).append(word)
        self._patterns = [
            (re.compile("|".join(words)), self._bits[name]) for name, words in patterns.items()
        ]
        self._firsts = {word.partition("_")[0] for word in self._plain if "_" in word}
        self.classes_of = functools.lru_cache(_REMEMBERED)(self._word_classes)

    def rule(self, name: str, words: str) -> ClassRule:
        """Return the rule of "animal ingested toxic|treat !elsewhere".

        Raise KeyError for a class that there is not.
        """
        needed = [word for word in words.split() if not word.startswith("!")]
        barred = [word[1:] for word in words.split() if word.startswith("!")]
        return name, self._either("|".join(barred)), tuple(map(self._either, needed))

    def fitting(self, said: str, rules: Sequence[ClassRule]) -> set[str]:
        """Return the names of the rules that fit an utterance or a clause of it."""
        names = set()
        for found in {*self._clauses(said)}:
            for name, barred, needed in rules:
                if found & barred:
                    continue
                for one in needed:
                    if not found & one:
                        break
                else:
                    names.add(name)
        return names

    def _clauses(self, said: str) -> tuple[int, ...]:
        """Return the classes of an utterance (unless it is long), and of each of its clauses."""
        said = _CONTRACTED.sub("n t", said)  # as "isn't", for "isnt"
        clauses = tuple(map(self._found, dict.fromkeys(_CLAUSE_END.split(said))))
        if len(clauses) == 1:
            return clauses
        whole = functools.reduce(int.__or__, clauses)
        return clauses if said.count(" ") >= MANY_WORDS else (whole, *clauses)

    def _found(self, clause: str) -> int:
        found, before = 0, ""
        for word in _WORD.findall(clause):
            found |= self.classes_of(word)
            if before in self._firsts:
                found |= self._plain.get(f"{before}_{word}", 0)
            before = word
        return found

    def _word_classes(self, word: str) -> int:
        fitting = (bit for pattern, bit in self._patterns if pattern.fullmatch(word))
        return functools.reduce(int.__or__, fitting, self._plain.get(word, 0))

    def _either(self, names: str) -> int:
        return functools.reduce(int.__or__, (self._bits[one] for one in names.split("|") if one), 0)
