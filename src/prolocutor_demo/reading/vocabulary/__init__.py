"""The words that the demo's agents know, by language; typing mistakes are mended by them."""

from __future__ import annotations

import functools
import re
import unicodedata
from importlib.resources import files
from typing import NamedTuple

from prolocutor_demo.dictionary import wordnet
from prolocutor_demo.holidays.public_days import DAYS_AFTER_EASTER
from prolocutor_demo.reading.dates import FEASTS
from prolocutor_demo.reading.geonames import city_table, country_rows
from prolocutor_demo.reading.kinds import kinds_of
from prolocutor_demo.reading.languages.heard import heard_in
from prolocutor_demo.reading.languages.names import LANGUAGES, names_in
from prolocutor_demo.reading.languages.orders import order_in

_WORD = re.compile(r"[^\W\d_]{3,}")
_NAME = re.compile(r"^[^\t]+", re.MULTILINE)
_LARGE_CITY = re.compile(r"^([^\t]+)\t[^\t]*\t[^\t]*\t[^\t]*\t\d{7,}\t", re.MULTILINE)
"""A city of a million people or more, whose name mistyped ones are taken for."""

_UNDOUBLED = re.compile(r"([^aeiou]+[aeiou][^aeiouwxy])(?:ing|ed|er)")
"""Forms that lack a letter: "shoping", of "shop"."""

_SHORTEST = 4
"""Letters of a place's name that others are taken for."""


class Vocabulary(NamedTuple):
    """The words by which others are spelled.

    `complete`: words of the language that it does not know are hardly right.
    """

    words: frozenset[str]
    complete: bool
    code: str

    def knows(self, word: str) -> bool:
        """Return whether a word in lower case is right as it is: an English one, or a city."""
        return _is_known(word)

    def kinds(self, words: str) -> frozenset[str]:
        """Return the kinds of values that words in small letters are, such as "place"."""
        return kinds_of(words, self.code)


@functools.cache
def vocabulary(code: str) -> Vocabulary:
    """Return the words of a language (ISO 639-1).

    All that texts of the language are read by is made ready, which no turn then waits for.
    """
    _is_known("word")
    _city_names()
    if code in LANGUAGES:
        heard_in(code, "ready")
        order_in(code, "ready")
    named = _english() if code == "en" else frozenset(_words_of_language(code))
    return Vocabulary(named | _places(), complete=code == "en", code=code)


def _english() -> frozenset[str]:
    """Return frequent English words, and those of the names of feasts."""
    return _file("en") | _words([*FEASTS, *DAYS_AFTER_EASTER], _SHORTEST)


@functools.cache
def _places() -> frozenset[str]:
    """Return the words of the names of countries, capitals and very large cities."""
    rows = country_rows().values()
    lands = [str(row[field]) for row in rows for field in ("name", "capital")]
    large = [found[1] for found in _LARGE_CITY.finditer(city_table())]
    return _words([*lands, *large], _SHORTEST)


@functools.cache
def _city_names() -> dict[str, str]:
    """Return the words of the names of all cities in lower case without accents, a line each, by
    their first two letters."""
    names = " ".join(_NAME.findall(city_table())).lower()
    plain = unicodedata.normalize("NFKD", names).encode("ascii", "ignore").decode()
    found: dict[str, list[str]] = {}
    for word in dict.fromkeys(plain.split()):
        found.setdefault(word[:2], ["\n"]).append(f"{word}\n")
    return {start: "".join(words) for start, words in found.items()}


def _words_of_language(code: str) -> frozenset[str]:
    if code not in LANGUAGES:
        return frozenset()
    names = names_in(code)
    large = _places()
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
def _is_known(word: str) -> bool:
    lemmas = [wordnet.lemma_of(word, part) for part in "nvar"]
    bare = _UNDOUBLED.fullmatch(word)
    if any(one and not (bare and one == bare[1]) for one in lemmas):
        return True
    return len(word) >= _SHORTEST and f"\n{word}\n" in _city_names().get(word[:2], "")
