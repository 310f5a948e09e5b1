"""Helplines: numbers to call, by country, and the country of a person."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

HELPLINES: Final = Path(__file__).with_name("helplines.yaml")


class Helplines(msgspec.Struct, frozen=True):
    """The numbers of one country, as texts; `sources` are the pages that give them."""

    emergency: str
    crisis: str
    abuse: str
    child: str
    poison: str
    sources: list[str]
    zones: list[str] = []

    def numbers(self) -> dict[str, str]:
        """Return the numbers by kind."""
        return {
            "emergency": self.emergency,
            "crisis": self.crisis,
            "abuse": self.abuse,
            "child": self.child,
            "poison": self.poison,
        }


class HelplineTable(msgspec.Struct, frozen=True):
    """The numbers of all countries; `collected` is the month in which they were written down.

    `international` are those for an unknown country, by language; "en" has to be there.
    """

    collected: str
    international: dict[str, Helplines]
    countries: dict[str, Helplines]

    def country_of(self, attributes: Mapping[str, Any]) -> str | None:
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


@functools.cache
def helplines(path: Path = HELPLINES) -> HelplineTable:
    """Return the table of a file; raise what YAML or msgspec raise for a bad one."""
    return msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), HelplineTable)
