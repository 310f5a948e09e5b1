"""The kinds of things that words name: a unit, money, a day, a country, a place, a language."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from prolocutor_demo.clock.zones import find_place
from prolocutor_demo.dictionary import wordnet
from prolocutor_demo.holidays.public_days import DAYS_AFTER_EASTER
from prolocutor_demo.reading.accents import key_of
from prolocutor_demo.reading.country_names import mentions
from prolocutor_demo.reading.dates import FEASTS
from prolocutor_demo.reading.languages.names import LANGUAGES, Forms, names_in
from prolocutor_demo.reading.money import currencies
from prolocutor_demo.reading.unit_table import UNITS

_SHORTEST = 3
"""Letters of the shortest name of a place."""


class _Named(NamedTuple):
    """Names of a language that the English tables lack."""

    units: frozenset[str]
    money: frozenset[str]
    tongues: frozenset[str]
    places: frozenset[str]
    lands: frozenset[str]


@lru_cache(maxsize=4096)
def kinds_of(words: str, code: str) -> frozenset[str]:
    """Return the kinds of values that words of a language (ISO 639-1) are, in small letters.

    >>> sorted(kinds_of("peru", "en")), sorted(kinds_of("miles", "en"))
    (['country', 'place'], ['unit'])
    """
    named, said = _named(code), words.split()
    country = [one for one in mentions(said) if one.start == 0 and one.end == len(said)]
    is_land = bool(country) or words in named.lands
    short = len(words) < _SHORTEST or (len(said) == 1 and _is_usual(words))
    is_place = is_land or words in named.places or (not short and find_place(words) is not None)
    found = {
        "unit": words in UNITS or words in named.units,
        "currency": words in currencies() or words in named.money,
        "date": words in FEASTS or words in DAYS_AFTER_EASTER,
        "language": words in named.tongues,
        "country": is_land,
        "place": is_place,
    }
    return frozenset(kind for kind, is_one in found.items() if is_one)


@cache
def _named(code: str) -> _Named:
    english = frozenset(names_in(LANGUAGES[0]).tongues)
    if code not in LANGUAGES:
        none = frozenset[str]()
        return _Named(none, none, english, none, none)
    names = names_in(code)
    return _Named(
        _forms(names.units.values()),
        _forms(names.money.values()),
        frozenset(key_of(one) for one in names.tongues.values()),
        frozenset(names.english_cities),
        frozenset(names.english_lands),
    )


def _forms(every: Iterable[Forms]) -> frozenset[str]:
    return frozenset(key_of(form) for one in every for form in one)


def _is_usual(word: str) -> bool:
    """Return whether a word is an English verb, adjective or adverb, as "nice" and "reading"."""
    return any(wordnet.lemma_of(word, part) for part in "var")
