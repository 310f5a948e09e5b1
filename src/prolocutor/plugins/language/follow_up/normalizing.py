"""Normalizing: words as people type and speak them, in the spelling that agents know.

Hesitation and politeness are left out. A word that nobody knows and that is one slip of the finger
(two in a long word) away from one word of the agents' cards, or of the language, becomes that word.
Names, numbers and short words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from prolocutor.contracts.connector import AgentProfile
from prolocutor.plugins.language.follow_up.grammar import LanguageGrammar, grammar_of, plain_of
from prolocutor.reading.languages import frequent_words

SHORTEST: Final = 5
LONG: Final = 8
"""Letters from which on two slips count."""

MOST_CARD_WORDS: Final = 20_000
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_GAP: Final = re.compile(r"\s+([,.!?;:])|\s{2,}")


class Normalizer:
    """Brings words into the spelling of the agents of one pipeline."""

    def __init__(self, skills: Sequence[AgentProfile] = ()) -> None:
        self._cards = frozenset(_card_words(skills))
        self._near = _neighbours(self._cards)

    def normalized(self, text: str, code: str) -> str:
        """Return a text of a language in agents' words; the same where nothing is to be changed."""
        grammar = grammar_of(code) or grammar_of("en")
        assert grammar is not None
        said = _trimmed(text, grammar) or text
        known, near = _words_of(grammar.code)

        def respelt(found: re.Match[str]) -> str:
            word = found[0]
            key = plain_of(word).lower()
            common = key in known or key in self._cards or not key.isalpha()
            if common or (word[:1].isupper() and found.start()):
                return word
            right = _nearest(key, self._near, changed=True) or _nearest(key, near, changed=False)
            return right or word

        return _WORD.sub(respelt, said)


def _trimmed(text: str, grammar: LanguageGrammar) -> str:
    """Return a text without hesitation, and without the courtesies around it."""
    plain = plain_of(text)
    if not grammar.polite.search(plain) or grammar.courtesy.fullmatch(plain.strip(" .!?") + " "):
        return text
    kept, at = [], 0
    for one in grammar.hesitation.finditer(plain):
        kept.append(text[at : one.start()])
        at = one.end()
    said = text
    if kept:
        said = _GAP.sub(lambda one: one[1] or " ", "".join([*kept, text[at:]])).strip(" ,")
    opened = grammar.polite_lead.match(plain_of(said))
    if opened and opened.end() < len(said):
        said = said[opened.end() :]
    closed = grammar.polite_tail.search(plain_of(said))
    if closed and closed.start():
        said = said[: closed.start()] + ("?" if said.rstrip().endswith("?") else "")
    return said.strip()


def _nearest(word: str, near: dict[str, frozenset[str]], *, changed: bool) -> str:
    """Return the one word that a misspelt word is near to; "" for none, or several.

    Words that end otherwise alone are inflected, not misspelt. `changed`: a letter may be another.
    """
    if len(word) < SHORTEST - 1:
        return ""
    found: set[str] = set()
    for cut in _cuts(word):
        found |= near.get(cut, _NONE)
    slips = {one: _slips(word, one) for one in found if one[:1] == word[:1] or len(word) > SHORTEST}
    best = min(slips.values(), default=9)
    most = 2 if len(word) >= LONG else 1
    nearest = [one for one, number in slips.items() if number == best]
    for alike in (lambda one: sorted(one) == sorted(word), lambda one: one[-1] == word[-1]):
        if len(nearest) > 1:
            nearest = [one for one in nearest if alike(one)] or nearest
    if best > most or len(nearest) != 1:
        return ""
    right = nearest[0]
    if sorted(right) == sorted(word):
        return right
    if len(word) < SHORTEST or len(right) < SHORTEST or _inflected(word, right):
        return ""
    if best == 1 and len(right) == len(word) and not (changed and len(word) > SHORTEST):
        return ""
    return right


def _inflected(one: str, other: str) -> bool:
    """Return whether two words have the same stem and differ at their ends."""
    same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    stem = min(len(one), len(other)) if same is None else same
    return stem >= max(len(one), len(other)) - 2


_NONE: Final[frozenset[str]] = frozenset()


def _slips(one: str, other: str) -> int:
    """Return the distance of two words: letters left out, added, changed or swapped."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for n, letter in enumerate(one, 1):
        last, row = row, [n, *([0] * len(other))]
        for m, sign in enumerate(other, 1):
            row[m] = min(last[m] + 1, row[m - 1] + 1, last[m - 1] + (letter != sign))
            if n > 1 and m > 1 and letter == other[m - 2] and one[n - 2] == sign:
                row[m] = min(row[m], before[m - 2] + 1)
        before = last
    return row[-1]


def _cuts(word: str) -> set[str]:
    """Return a word and what is left of it without one letter; of a long one without two."""
    once = {word[:n] + word[n + 1 :] for n in range(len(word))}
    if len(word) < LONG - 1:
        return {word, *once}
    twice = {one[:n] + one[n + 1 :] for one in once for n in range(len(one))}
    return {word, *once, *twice}


def _neighbours(words: Iterable[str]) -> dict[str, frozenset[str]]:
    near: dict[str, set[str]] = {}
    for word in words:
        if len(word) < SHORTEST - 1:
            continue
        for cut in _cuts(word):
            near.setdefault(cut, set()).add(word)
    return {cut: frozenset(found) for cut, found in near.items()}


@cache
def _words_of(code: str) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """Return the words of a language that anybody knows, and what they are near to."""
    grammar = grammar_of(code)
    own = {one for one in (grammar.function if grammar else ()) if one.isalpha()}
    frequent = {plain_of(one).lower() for one in frequent_words(code)} | own
    dates = grammar.words if grammar else None
    named = [*dates.months, *dates.numbers, *dates.units] if dates else []
    known = frozenset(frequent | {plain_of(one) for one in named if one.isalpha()})
    return known, _neighbours(known)


def _card_words(skills: Sequence[AgentProfile]) -> Iterable[str]:
    count = 0
    for skill in skills:
        for value in _texts(skill.card):
            for word in _WORD.findall(plain_of(value).lower()):
                count += 1
                if count > MOST_CARD_WORDS:
                    return
                yield word


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for key in ("description", "examples", "name", "tags", "skills", "entities", "title"):
            yield from _texts(value.get(key))
