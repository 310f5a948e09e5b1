"""Normalizing: words as people type and speak them, in the spelling that agents know.

Hesitation, politeness and the words that open a text are left out. Abbreviations are written out. A
word that nobody knows becomes the word of the agents, or of the language, that it is near to; words
typed without a blank are taken apart. Names, numbers and short words stay.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Final

import msgspec

from prolocutor.contracts.connector import AgentProfile, Vocabulary
from prolocutor.plugins.language.follow_up.frames import Frames
from prolocutor.plugins.language.follow_up.grammar import (
    LanguageGrammar,
    any_of,
    grammar_of,
    grammar_or_english,
    pattern_of,
    plain_of,
)
from prolocutor.plugins.language.follow_up.spelling import (
    MIN_LETTERS,
    Spelling,
    doubled_or_not,
    swapped,
)
from prolocutor.reading.languages import is_frequent
from prolocutor.reading.locales.locale import codes
from prolocutor.reading.plain_text import FoldedPattern

MOST_CARD_WORDS: Final = 20_000
_WORD: Final = re.compile(r"(?<![\w.'’@/#-])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w@/#]|[.'’]\w)")
_PATTERN: Final = re.compile(r"[^\w' ]")
_GAP: Final = re.compile(r"\s+([,.!?;:])|\s{2,}")
_FACES: Final = (
    r"(?:[:;=]['’-]?[)(DPpO|/\\\]]+|<3|\^_*\^|[xX]D|"
    r"[\U0001F44A-\U0001F450\U0001F493-\U0001F49F\U0001F600-\U0001F64F\U0001F910-\U0001F93A☺❤\uFE0F]+)"
)
_FACES_AFTER: Final = re.compile(rf"(?:(?:\s+|(?<=[.!?])){_FACES})+\s*$")
_ENDINGS: Final = ("s", "es", "e", "en", "n", "er", "ed", "ing", "'s")
_DOUBLING: Final = frozenset({"er", "ed", "ing"})
_SHORT_VOWEL: Final = re.compile(r"^[^aeiou]+[aeiou][^aeiouwxy]$")
"""Stems whose last letter is doubled before an ending: "shop", "shopping"."""

_TRANSCRIBED: Final = re.compile("([aou])e(?![aeiou])", re.IGNORECASE)
"""An umlaut as it is written where keys lack it."""

_LEAST_RUN: Final = 4
"""Letters of words typed as one."""


class Normalized(msgspec.Struct, frozen=True):
    """A text as it was meant: `spelled` with all its words, `bare` without the words around it."""

    spelled: str
    bare: str


class Normalizer:
    """Brings words into the spelling of the agents of a pipeline."""

    def __init__(self, skills: Sequence[AgentProfile] = ()) -> None:
        self._cards = {one.name: one.card for one in skills}
        given = dict.fromkeys(one.vocabulary for one in skills if one.vocabulary is not None)
        self._given: list[Callable[[str], Vocabulary]] = list(given)
        for one in self._given:
            for code in codes():
                one(code)  # what it reads it reads now, not within a turn
        self._words: dict[str, _Words] = {}

    def card_text(self, skill: str, code: str) -> str:
        """Return the texts of a skill's card in a language."""
        return " ".join(_texts(self._cards.get(skill), code))

    def normalized(self, text: str, code: str, *, keeps: bool = False) -> Normalized:
        """Return a text of a language in agents' words; the same where nothing is to be changed.

        In an order, or where the text goes on from one (`keeps`), words become only frequent words:
        what is to be noted may have any name.
        """
        grammar = grammar_or_english(code)
        words = self._words.get(grammar.code)
        if words is None:
            words = _Words(grammar, [*self._cards.values()], self._given)
            self._words[grammar.code] = words
        text = _FACES_AFTER.sub("", text)
        plain = plain_of(text)
        if grammar.courtesy.fullmatch(plain.strip(" .!?") + " "):
            return Normalized(text, text)
        keeps = keeps or grammar.commands.match(plain.strip()) is not None
        said = _said_once(cut_out(grammar.hesitation, text), grammar)
        said = words.respell(said, keeps=keeps)
        return Normalized(said, without_courtesy(said, grammar))

    def nearest_words(self, text: str, code: str) -> str:
        """Return a text with the nearest word of the agents for each that nobody knows.

        The words stay as they are where no agent tells the words that it knows.
        """
        said = self.normalized(text, code).spelled
        words = self._words[grammar_or_english(code).code]
        return words.respell_unknown(said) if words.of_agents else said


class _Words:
    """The words of a language: the models for the spelling of others, and the right words."""

    def __init__(
        self,
        grammar: LanguageGrammar,
        cards: Sequence[object],
        given: Sequence[Callable[[str], Vocabulary]],
    ) -> None:
        code = grammar.code
        self._others = [one(code) for one in given]
        agents = {key for one in self._others for word in one.words if (key := _key(word))}
        on_cards = set(_card_words(cards, code))
        agents |= on_cards
        own = _own_words(code)
        frequent = {plain_of(one) for one in grammar.words.frequent.split()}
        known = {*agents, *own, *frequent, *_alternatives(grammar.words.mends)}
        self._known = frozenset({*known, *(one.replace("ß", "ss") for one in known)})
        said = (
            *(word for one in self._others for word in one.words),
            *grammar.words.frequent.split(),
        )
        self._accents = {_key(one): _accents(one) for one in said if not one.isascii()}
        self._short = {_key(short): meant for short, meant in grammar.words.shorthand}
        self._umlauts = "ü" in grammar.words.letters
        self._joints = frozenset(one for one in own if len(one) > 1)
        openers = grammar.questions | grammar.definite
        words = {one for one in agents | own if one.isalpha()}
        self.complete = boldly = any(one.complete for one in self._others)
        self.of_agents = any(one.words for one in self._others)
        self._orders = frozenset("|".join(grammar.words.orders).split("|"))
        self._heads = self._joints | self._orders
        self._leads = frozenset(
            f"{lead}{one}" for lead in grammar.leads for one in grammar.indefinite if len(one) == 1
        )
        self._firsts = self._joints if boldly else self._joints & openers
        texts = [one for card in cards for one in _texts(card, code)]
        self._frames = Frames(texts, own, grammar)
        self._steady = frozenset(
            one for one in self._known - self._short.keys() if self._frames.knows(one)
        )
        numbers = any_of(grammar.words.numbers)
        self._numbers = pattern_of(rf"(?<!\w)(?:\d|(?:{numbers})(?!\w))")
        often = grammar.function | on_cards | self._orders
        self._spelling = Spelling(words, often & words, boldly=boldly)

    def respell(self, text: str, *, keeps: bool = False) -> str:
        """Return a text whose words are spelled as the agents spell them."""
        said = self._with_blanks(text)
        counts = self._numbers.search(plain_of(said)) is not None
        return _WORD.sub(partial(self._respell_word, keeps=keeps, counts=counts), said)

    def _with_blanks(self, text: str) -> str:
        """Return a text with blanks where they belong: "pu tmilk", "th ecapital", "an d"."""
        words = text.split(" ")
        for n, (one, two) in enumerate(pairwise(words), 1):
            first = f"{one}{two[:1]}"
            if len(one) < 2 or two.isupper() or first.lower() not in self._heads:
                continue
            rest = two[1:].lower()
            if not rest and not {two, _key(two)} & (self._known | self._short.keys()):
                words[n - 1 : n + 1] = [first, ""]
            elif rest and self._knows(rest) and not any(map(self._knows, (_key(one), _key(two)))):
                words[n - 1 : n + 1] = [first, two[1:]]
        return " ".join(one for one in words if one)

    def _knows(self, key: str) -> bool:
        return key in self._known or (len(key) > 2 and self._is_right(key))

    def respell_unknown(self, text: str) -> str:
        """Return a text in which each unknown word in small letters is the nearest known word."""

        def known(found: re.Match[str]) -> str:
            word, key = found[0], plain_of(found[0])
            small = word.islower() and word.isalpha()
            if not small or key in self._known or self._is_right(key):
                return word
            return self._spelling.nearest(key) or word

        return _WORD.sub(known, text)

    def _respell_word(self, found: re.Match[str], *, keeps: bool, counts: bool) -> str:
        """Return a word as it was meant; `counts`: there are numbers in its text."""
        word = found[0]
        key = plain_of(word)
        if key in self._steady and found.start() and not counts:
            return word
        if meant := self._in_frame(key, found):
            return meant
        if found.start() == 0 and key not in self._known and (order := self._order(key)):
            return order
        if key in self._known and key not in self._short:
            return word
        inner = word[:1].isupper() and found.start() > 0
        short = self._short.get(key)
        if short is not None and not inner:
            return word if _SIGNS.search(_around(found)) else short
        if "'" in key and (short := self._short.get(key[key.index("'") :])):
            return f"{word[: key.index(chr(39))]} {short}"  # "kostet's"
        if self._umlauts and (bare := _TRANSCRIBED.sub(r"\1", key)) != key and bare in self._known:
            umlauts = _TRANSCRIBED.sub("\\1\u0308", word)  # "koennten"
            return unicodedata.normalize("NFC", umlauts)
        if len(key) < 3 or not key.isalpha() or self._is_right(key):
            return word
        if key in self._leads:
            return f"{word[:-1]} {word[-1]}"
        right = self._spelling.word_for(key)
        if right not in self._spelling.frequent:
            right = "" if keeps else self._slipped(key) or right or self._inflected(key)
        if _accents(word) - self._accents.get(right, frozenset()):
            return word
        if inner:
            return f"{right[:1].upper()}{right[1:]}" if _is_slip(key, right) else word
        return right or self._apart(key) or word

    def _order(self, key: str) -> str:
        """Return the verb of an order that a word is but for a letter that it has twice: "spel"."""
        doubled = (f"{key[:n]}{letter}{key[n:]}" for n, letter in enumerate(key))
        return next((one for one in doubled if one in self._orders), "")

    def _in_frame(self, key: str, found: re.Match[str]) -> str:
        """Return the word that the words on both sides of a word tell; "" for none."""
        before = found.string[: found.start()].rsplit(maxsplit=1)[-1:]
        after = found.string[found.end() :].split(maxsplit=1)[:1]
        return self._frames.word_between("".join(before), key, "".join(after))

    def _slipped(self, key: str) -> str:
        """Return the only known word that a word is but for a letter typed twice or once, or two
        letters in each other's place.
        """
        if not self.complete or len(key) < MIN_LETTERS:
            return ""
        for words in (doubled_or_not(key), swapped(key)):
            named = words & self._known
            right = named or {one for one in words if any(told.knows(one) for told in self._others)}
            if right:
                return right.pop() if len(right) == 1 else ""
        return ""

    def _inflected(self, key: str) -> str:
        """Return a known form of the word that the stem of a mistyped one is near to, or ""."""
        for end in _ENDINGS:
            if not key.endswith(end) or not (stem := self._spelling.word_for(key[: -len(end)])):
                continue
            form = f"{stem}{end}"
            if form in self._known or any(told.knows(form) for told in self._others):
                return form
        return ""

    def _is_right(self, key: str) -> bool:
        """Return whether a word is right as it is, also with the ending of another form."""
        for end in _ENDINGS:
            stem = key[: -len(end)]
            if len(stem) > 3 and key.endswith(end) and stem in self._known:
                return stem[-1] != end and not (end in _DOUBLING and _SHORT_VOWEL.search(stem))
        if is_frequent(key):
            return True  # of another language
        inflected = any(f"{key}{end}" in self._known for end in _ENDINGS[:2])
        return inflected or any(one.knows(key) for one in self._others)

    def _apart(self, key: str) -> str:
        """Return joined words apart: "thecapital" as "the capital"; "" for a single word."""
        if len(key) < _LEAST_RUN:
            return ""
        for at in range(2, len(key) - 1):
            one, other = key[:at], key[at:]
            first, second = one in self._firsts, other in self._joints
            joins = first or (second and len(other) > 2 and self._firsts is self._joints)
            if not (joins and len(key) > _LEAST_RUN + 1) and not (first and second):
                continue
            if one in self._known and other in self._known:
                return f"{one} {other}"
        for at in range(2, len(key) - 5):
            if key[:at] in self._firsts and (rest := self._apart(key[at:])):
                return f"{key[:at]} {rest}"
        return ""


def _said_once(text: str, grammar: LanguageGrammar) -> str:
    """Return a text without words that a speaker has said twice: "in in", "add add", and without
    a question that breaks off before another: "what is the what's the time".
    """

    def once(found: re.Match[str]) -> str:
        first = plain_of(found[1]).split()[0]
        doubled = first in grammar.function or grammar.commands.fullmatch(first)
        return found[1] if doubled else found[0]

    broken = grammar.broken_off.match(plain_of(text))
    return _TWICE.sub(once, text[broken.end() :] if broken else text)


_TWICE: Final = re.compile(r"(?<![\w'])([^\W\d_]+(?:['’ ][^\W\d_]+){0,3})[ ,.…]+(?i:\1)(?![\w'])")
"""Up to four words that stand there twice in a row."""


def _around(found: re.Match[str]) -> str:
    """Return the signs beside a word."""
    return found.string[max(0, found.start() - 1) : found.start()] + found.string[found.end() :][:1]


_SIGNS: Final = re.compile(r"[-+*/^=<>%_@#]")
"""Signs of formulas, addresses and codes, in which letters are no words."""


def _is_slip(key: str, right: str) -> bool:
    """Return whether a name is another with two letters in each other's place, or one doubled."""
    if not right or len(key) < 5:
        return False
    return sorted(key) == sorted(right) or any(
        a == b and key[:n] + key[n + 1 :] == right for n, (a, b) in enumerate(pairwise(key))
    )


def cut_out(pattern: FoldedPattern, text: str) -> str:
    """Return a text without what a pattern finds in it; the whole text if nothing would be left."""
    kept, at = [], 0
    for one in pattern.finditer(plain_of(text)):
        kept.append(text[at : one.start()])
        at = one.end()
    if not kept:
        return text
    said = _GAP.sub(lambda one: one[1] or " ", "".join([*kept, text[at:]]))
    return said.strip(" ,") or text


def without_courtesy(text: str, grammar: LanguageGrammar) -> str:
    """Return a text without the courtesies in and around it, and the words that open it."""
    plain = plain_of(text)
    if not grammar.polite.search(plain):
        return text
    said = text
    opened = grammar.polite_lead.match(plain)
    if opened and opened.end() < len(said):
        said = said[opened.end() :]
    closed = grammar.polite_tail.search(plain_of(said))
    if closed and closed.start():
        said = said[: closed.start()] + ("?" if said.rstrip().endswith("?") else "")
    return cut_out(grammar.softening, said).strip() or text


@cache
def _own_words(code: str) -> frozenset[str]:
    """Return the words of a language itself, that anybody knows."""
    grammar = grammar_of(code)
    if grammar is None:
        return frozenset()
    lists = (one for one in msgspec.structs.astuple(grammar.words) if isinstance(one, list))
    phrases = (one for some in lists for one in some if isinstance(one, str))
    plain = (word for one in phrases if not _PATTERN.search(one) for word in one.split())
    own = {*grammar.function, *(plain_of(one) for one in plain)}
    return frozenset(one for one in own if one.replace("'", "").isalpha())


def _alternatives(phrases: Iterable[str]) -> Iterable[str]:
    """Yield the plain words among phrases that are alternatives: "oops|sorry|that'?s wrong"."""
    return (one for phrase in phrases for one in phrase.split("|") if one.isalpha())


def _card_words(cards: Iterable[object], code: str) -> Iterable[str]:
    count = 0
    for card in cards:
        for value in _texts(card, code):
            for word in _WORD.findall(plain_of(value)):
                count += 1
                if count > MOST_CARD_WORDS:
                    return
                yield word


def _texts(value: object, code: str) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one, code)
    elif isinstance(value, dict):
        for key in ("description", "examples", "name", "tags", "skills", "entities", "title"):
            yield from _texts(value.get(key), code)
        told = value.get("translations")
        yield from _texts(told.get(code) if isinstance(told, dict) else None, code)


def _accents(word: str) -> frozenset[str]:
    """Return the letters of a word that have an accent or are of one language alone."""
    return frozenset() if word.isascii() else frozenset(word.lower()) - frozenset(plain_of(word))


def _key(word: str) -> str:
    return plain_of(word)
