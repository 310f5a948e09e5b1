"""The functions that programs can call on the atlas: facts of one country, and all countries."""

from typing import Any

from prolocutor_demo.reading.country_facts import (
    CONTINENTS,
    Country,
    countries,
    currency_name,
)
from prolocutor_demo.reading.country_names import mentions, words_of


def facts(_: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of the named country."""
    named = mentions(words_of(str(parameters["country"])))
    if not named:
        return {"error": f"I know no country called {parameters['country']!r:.80}"}
    country = countries()[named[0].code]
    return {**_said(country), "continent": CONTINENTS[country.continents[0]]}


def world(_: dict[str, Any], parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all countries, or those of the named continent."""
    wanted = parameters.get("continent")
    return [
        _said(country)
        for country in countries().values()
        if country.sovereign and (wanted is None or wanted in map(_word, country.continents))
    ]


FUNCTIONS = {"facts": facts, "world": world}


def _word(continent: str) -> str:
    return CONTINENTS[continent].lower().replace(" ", "_")


def _said(country: Country) -> dict[str, Any]:
    return {
        "name": country.title,
        "capital": country.capital,
        "population": country.population,
        "area": country.area,
        "currency": currency_name(country.currency),
    }
