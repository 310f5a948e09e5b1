"""Compares and ranks countries, and formats their figures and names."""

import re
from collections.abc import Iterable

from prolocutor_demo.countries.country_questions import CountryQuestion
from prolocutor_demo.reading.country_facts import CONTINENTS, Country, countries

BIG = r"biggest|largest|greatest|highest|most populous|most populated|most people|most inhabitants"
SMALL = r"smallest|tiniest|least populous|least populated|fewest people|fewest inhabitants|lowest"
YES_NO = r"(?:hey |so |please |and )*(?:is|are|do|does|was|can|did)\b"
_MOST_LISTED = 60


def compared(question: CountryQuestion, measure: str) -> tuple[str, str] | None:
    """Return which of two countries has more of a measure, `population` or `area`."""
    pair = [countries()[code] for code in question.countries[:2]]
    first = max(pair, key=lambda one: float(getattr(one, measure)))
    second = pair[1] if first is pair[0] else pair[0]
    if measure == "population":
        fact = f"{first.title} has more people than {second.name}: {population_text(first)}"
        fact += f" against {population_text(second)}."
    else:
        fact = f"{first.title} is larger than {second.name}: {area_text(first)}"
        fact += f" against {area_text(second)}."
    if not re.match(YES_NO, question.rest) or question.asks("or"):
        return fact, ""
    less = question.asks("smaller|fewer|less")
    return ("Yes. " if (first is pair[0]) != less else "No. ") + fact, "has"


def ranked(question: CountryQuestion, measure: str) -> tuple[str, str] | None:
    """Return the first three by a measure, of the world or a continent."""
    region = question.regions[0] if question.regions else None
    found = [
        one
        for one in countries().values()
        if one.sovereign and (region is None or region in one.continents[:1])
    ]
    if question.countries or not found or not question.asks("country|countries|nation|state|world"):
        return None
    small = question.asks(f"{SMALL}|least|fewest")
    found.sort(key=lambda one: float(getattr(one, measure)), reverse=not small)
    say = population_text if measure == "population" else area_text
    kind = {("area", True): "smallest", ("area", False): "largest"}.get(
        (measure, small), "least populous" if small else "most populous"
    )
    where = f"in {CONTINENTS[region]}" if region else "in the world"
    after = listed([f"{one.name} ({say(one)})" for one in found[1:3]])
    best = found[0]
    return f"The {kind} country {where} is {best.name} ({say(best)}), then {after}.", ""


def population_text(country: Country) -> str:
    """Return the population as "about 126.5 million people"."""
    count = country.population
    if count >= 1_000_000_000:
        return f"about {count / 1e9:.2f} billion people"
    if count >= 1_000_000:
        return f"about {count / 1e6:.1f} million people"
    return f"about {count:,} people"


def area_text(country: Country) -> str:
    """Return the area as "357,021 square kilometres"."""
    size = f"{country.area:,.2f}".rstrip("0").rstrip(".")
    return f"{size} square kilometres"


def names_text(found: Iterable[Country]) -> str:
    """Return the countries' names in alphabetical order."""
    names = sorted((one.name for one in found), key=lambda name: name.removeprefix("the "))
    return listed(names[:_MOST_LISTED])


def listed(names: list[str]) -> str:
    """Return the names as "Peru, Chile and Bolivia"."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
