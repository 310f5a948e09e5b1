"""The words that the demo's agents know, by language; typing mistakes are mended by them."""

from __future__ import annotations

import functools
import re
from importlib.resources import files
from typing import NamedTuple

from prolocutor_demo.dictionary import wordnet
from prolocutor_demo.reading.country_facts import countries
from prolocutor_demo.reading.geonames import city_rows
from prolocutor_demo.reading.languages.names import LANGUAGES, names_in

_WORD = re.compile(r"[^\W\d_]{3,}")
_LARGE = 1_000_000
"""People of a city from which on its name is one that others are taken for."""

_SHORTEST = 4
"""Letters of a place's name that others are taken for."""


class Vocabulary(NamedTuple):
    """The words by which others are spelled, and those that are right as they are.

    `complete`: words of the language that it does not know are hardly right.
    """

    words: frozenset[str]
    others: frozenset[str]
    complete: bool

    def knows(self, word: str) -> bool:
        """Return whether a word in lower case is right as it is."""
        return word in self.others or _is_english(word)


@functools.cache
def vocabulary(code: str) -> Vocabulary:
    """Return the words of a language (ISO 639-1)."""
    places, others = _places()
    named = _file("en") if code == "en" else frozenset(_words_of_language(code))
    return Vocabulary(named | places, others, complete=code == "en")


@functools.cache
def _places() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of well-known places, and those of all places."""
    known, others = set(), set()
    for land in countries().values():
        known |= {land.name, land.capital}
    for city in city_rows():
        others.add(city.name)
        if city.population >= _LARGE:
            known.add(city.name)
    return _words(known, _SHORTEST), _words(others, 4)


def _words_of_language(code: str) -> frozenset[str]:
    if code not in LANGUAGES:
        return frozenset()
    names = names_in(code)
    large = _places()[0]
    tables = (names.lands, names.days, names.months)
    texts = [name for table in tables for name in table.values()]
    texts += [here for name, here in names.cities.items() if set(name.split()) & large]
    texts += [form for forms in (*names.money.values(), *names.units.values()) for form in forms]
    return _words(texts, 4) | _words(_sentences(code), 4)


def _sentences(code: str) -> list[str]:
    """Return the sentences that are read, without what is optional inside a word."""
    folder = files("prolocutor_demo.reading.languages") / "wording"
    lines = (folder / f"{code}.txt").read_text(encoding="utf-8").splitlines()
    heard = [line.partition(" => ")[0] for line in lines if " => " in line]
    return [re.sub(r"\w*(?:\(\?:[^()]*\)\?|\w\?|\[[^]]*\]|\{\w+\})\w*", " ", one) for one in heard]


def _words(texts: object, shortest: int) -> frozenset[str]:
    assert isinstance(texts, set | list)
    found = (word.lower() for text in texts for word in _WORD.findall(text))
    return frozenset(word for word in found if len(word) >= shortest)


def _file(code: str) -> frozenset[str]:
    text = files(__package__).joinpath(f"{code}.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


@functools.lru_cache(maxsize=4096)
def _is_english(word: str) -> bool:
    return len(word) > 3 and any(wordnet.lemma_of(word, part) for part in "nvar")
