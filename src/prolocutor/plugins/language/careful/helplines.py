"""Helplines: numbers to call, by country, and the country of a person."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from prolocutor.reading.plain_text import strip_accents

HELPLINES: Final = Path(__file__).with_name("helplines.yaml")
_KINDS: Final = ("emergency", "crisis", "abuse", "child", "poison")


class Helplines(msgspec.Struct, frozen=True):
    """The numbers of a country, as texts; `sources` are the pages that give them.

    A number that is "" is not known. `names` are the names of the country and its cities, in lower
    case without accents; each of `zones` names a city too.
    """

    emergency: str
    sources: list[str]
    crisis: str = ""
    abuse: str = ""
    child: str = ""
    poison: str = ""
    zones: list[str] = []
    names: list[str] = []

    def numbers(self, elsewhere: Helplines) -> dict[str, str]:
        """Return the numbers by kind; unknown numbers are taken from `elsewhere`."""
        return {kind: getattr(self, kind) or getattr(elsewhere, kind) for kind in _KINDS}


class HelplineTable(msgspec.Struct, frozen=True):
    """The numbers of all countries; `collected` is the month in which they were written down.

    `international` are the numbers for an unknown country, by language; "en" has to be there.
    `placing` are the words beside the name of a place that say no more than that somebody is there.
    """

    collected: str
    international: dict[str, Helplines]
    countries: dict[str, Helplines]
    placing: str = ""

    def person_country(self, attributes: Mapping[str, Any]) -> str | None:
        """Return the country of a person, if it is in the table; else None.

        The attribute `country` or `region` (ISO 3166) says it, else the time zone.
        """
        for key in ("country", "region"):
            said = attributes.get(key)
            if isinstance(said, str) and said:
                # A country that is not in the table must not get another country's numbers.
                return code if (code := said.upper()) in self.countries else None
        zone = attributes.get("timezone")
        if not isinstance(zone, str):
            return None
        return next(
            (
                code
                for code, lines in self.countries.items()
                if any(fnmatchcase(zone, pattern) for pattern in lines.zones)
            ),
            None,
        )


def read_yaml(path: Path) -> Any:
    """Return the content of a file of YAML, read in C if installed: ten times as fast."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_bytes(), Loader=loader)


@functools.cache
def helplines(path: Path = HELPLINES) -> HelplineTable:
    """Return the table of a file; raise the errors of YAML or msgspec for a bad file."""
    return msgspec.convert(read_yaml(path), HelplineTable)


class NamedCountries:
    """The countries of a table by their names and cities, found in texts."""

    def __init__(self, table: HelplineTable) -> None:
        self._codes = {
            name: code
            for code, lines in table.countries.items()
            for name in (*lines.names, *map(_city, lines.zones))
            if name
        }
        longest_first = sorted(self._codes, key=len, reverse=True)
        self._placing = frozenset(table.placing.split())
        self._names = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b")

    def find_last(self, said: str) -> str | None:
        """Return the code of the country that a text names last; None if it names none.

        >>> named_countries().named_in("I mean not Vienna, Austria, I am in Lyon.")
        'FR'
        """
        found = self._names.findall(_plain(said))
        return self._codes[found[-1]] if found else None

    def find_place(self, said: str) -> str | None:
        """Return the code of the country of a text that says where somebody is, and no more.

        >>> named_countries().placed("wir sind in München")
        'DE'
        """
        rest, count = self._names.subn(" ", _plain(said))
        only = count and all(word in self._placing for word in _WORD.findall(rest))
        return self.find_last(said) if only else None


@functools.cache
def named_countries(path: Path = HELPLINES) -> NamedCountries:
    """Return the names of the countries of a file of numbers."""
    return NamedCountries(helplines(path))


def _plain(said: str) -> str:
    return strip_accents(said).lower().replace("ß", "ss")


def _city(zone: str) -> str:
    """Return the city of a time zone, "" for a zone without a city."""
    place = zone.rpartition("/")[2]
    return "" if "*" in place or "/" not in zone else place.replace("_", " ").lower()


_WORD: Final = re.compile(r"\w+")
