"""The GeoNames tables of the demo: cities, countries, US states.

`make demo-data` makes the tables. The data are by GeoNames (https://www.geonames.org), CC BY 4.0.
"""

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple


class CityRow(NamedTuple):
    """A city of more than 15,000 people; `other_names` are in lower case, in ASCII."""

    name: str
    country: str
    state: str
    zone: str
    population: int
    other_names: list[str]


def city_rows() -> Iterator[CityRow]:
    """Yield the cities."""
    for line in city_table().splitlines():
        name, country, state, zone, population, others = line.split("\t")
        yield CityRow(
            name, country, state, zone, int(population), others.split("|") if others else []
        )


def city_table() -> str:
    """Return the table of cities as it is: a line each, the columns of `CityRow` by tabs."""
    return _text("cities.tsv")


@cache
def country_rows() -> dict[str, dict[str, Any]]:
    """Return the countries and territories by ISO code, with GeoNames' field names."""
    rows: dict[str, dict[str, Any]] = json.loads(_text("countries.json"))
    return rows


@cache
def us_states() -> dict[str, str]:
    """Return the names of US states by their codes."""
    states: dict[str, str] = json.loads(_text("us_states.json"))
    return states


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
