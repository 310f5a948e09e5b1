"""Finds the countries that a text names: "the German ones", "U.K.", "Finnland"."""

import difflib
import functools
import re
import unicodedata
from typing import NamedTuple

from prolocutor_demo.reading.country_facts import countries

_LONGEST_NAME = 6
_CLOSE = 0.82
_ALSO = {
    "america": "US",
    "britain": "GB",
    "brit": "GB",
    "british": "GB",
    "burma": "MM",
    "czech republic": "CZ",
    "dane": "DK",
    "drc": "CD",
    "east timor": "TL",
    "finn": "FI",
    "great britain": "GB",
    "guinea bissau": "GW",
    "holland": "NL",
    "holy see": "VA",
    "argentine": "AR",
    "argentinian": "AR",
    "bosnia": "BA",
    "cape verde": "CV",
    "congo": "CD",
    "ecuadorian": "EC",
    "icelandic": "IS",
    "kazakh": "KZ",
    "macedonia": "MK",
    "palestine": "PS",
    "pole": "PL",
    "sao tome": "ST",
    "slovenian": "SI",
    "south korean": "KR",
    "korea": "KR",
    "korean": "KR",
    "spaniard": "ES",
    "st lucia": "LC",
    "swaziland": "SZ",
    "swede": "SE",
    "trinidad": "TT",
    "turk": "TR",
    "turkiye": "TR",
    "uae": "AE",
    "uk": "GB",
    "united states of america": "US",
    "usa": "US",
    "vatican city": "VA",
}
# Names that contain a country's name; adjectives that more often mean something else.
_NO_COUNTRIES = ("south america", "north america", "latin america", "central america")
_NOT_ADJECTIVES = frozenset(
    {"central african", "christmas island", "gibraltar", "djibouti", "none"}
)


class Mention(NamedTuple):
    """A country named by the words from `start` up to, not including, `end`."""

    code: str
    start: int
    end: int


def words_of(text: str) -> list[str]:
    """Return the words in lower case without accents, possessives, punctuation; "US" is "usa"."""
    text = re.sub(r"\bU\.?S\.?(?:A\b\.?)?(?=\W|$)", "usa", text)
    text = re.sub(r"\b[Uu]\.[Kk]\.?(?=\W|$)", "uk", text)
    text = re.sub(r"\b(the|in) us\b", r"\1 usa", text, flags=re.IGNORECASE)
    folded = unicodedata.normalize("NFKD", text.replace("’", "'").lower())
    plain = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return re.findall(r"\w+", re.sub(r"'s?\b", "", plain))


def mentions(words: list[str]) -> list[Mention]:
    """Return the countries named in these words, in order; longer names take precedence."""
    names, found, start = _names(), [], 0
    while start < len(words):
        for size in range(min(_LONGEST_NAME, len(words) - start), 0, -1):
            code = names.get(" ".join(words[start : start + size]))
            if code is not None:
                if code:
                    found.append(Mention(code, start, start + size))
                start += size - 1
                break
        start += 1
    return found


def closest(word: str) -> str | None:
    """Return the country with a name close to this word: "FI" for "finnland"."""
    near = difflib.get_close_matches(word, _single_words(), n=1, cutoff=_CLOSE)
    return _names()[near[0]] if len(word) > 3 and near else None


@functools.cache
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    for adjective, code in _adjectives():
        names[adjective] = code
        names[adjective + "s"] = code
    for code, country in countries().items():
        names[" ".join(words_of(country.name.removeprefix("the ")))] = code
    for name, code in _cldr_names():
        names.setdefault(name, code)
    for name, code in _ALSO.items():
        names[name] = code
        names.setdefault(name + "s", code)
    for region in _NO_COUNTRIES:
        names[region] = names[region + "n"] = ""
    return names


@functools.cache
def _single_words() -> list[str]:
    return [name for name in _names() if " " not in name and len(name) > 3]


def _cldr_names() -> list[tuple[str, str]]:
    from babel import Locale

    territories = Locale("en").territories
    pairs = [(" ".join(words_of(territories.get(code) or "")), code) for code in countries()]
    return [(name, code) for name, code in pairs if name]


def _adjectives() -> list[tuple[str, str]]:
    """Return (adjective, code) by population, so that the largest country wins a shared one."""
    from countryinfo import CountryInfo

    known = countries()
    pairs = [
        (adjective, row.get("ISO", {}).get("alpha2", ""))
        for row in CountryInfo("Peru").all().values()
        for adjective in str(row.get("demonym")).lower().split(",")
        if adjective and adjective not in _NOT_ADJECTIVES
    ]
    pairs = [(adjective, code) for adjective, code in pairs if code in known]
    return sorted(pairs, key=lambda pair: known[pair[1]].population)
