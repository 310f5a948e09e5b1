"""Places and their time zones: cities, countries, states of the US, zones by name or letters."""

import csv
import unicodedata
from functools import cache
from importlib.resources import files
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from prolocutor_demo.reading.geonames import city_rows, country_rows, us_states


class TimeZonePlace(NamedTuple):
    """A place as it is called, and the name of its time zone."""

    name: str
    zone: str

    @property
    def clock(self) -> ZoneInfo:
        """The zone as an object."""
        return ZoneInfo(self.zone)


class _TimeZoneCity(NamedTuple):
    """A city of more than 15,000 people."""

    population: int
    name: str
    zone: str
    country: str
    state: str


def find_place(words: str) -> TimeZonePlace | None:
    """Return the place that the words name, the most populous of that name; None if unknown.

    A country of several zones is taken at its capital, a state of the US at its largest city.
    """
    name = _folded(words).removeprefix("the ").removeprefix("city of ").strip(" ,.'")
    if not name or len(name) > 60:
        return None
    name = name.removesuffix(" time").removesuffix(" standard")
    if name in _LETTERS:
        return _LETTERS[name]
    name = _NICKNAMES.get(name, name)
    return _zone_named(name) or _country(name) or _state(name) or _city(name)


def _folded(words: str) -> str:
    if words.isascii():
        return words.lower()
    plain = unicodedata.normalize("NFKD", words.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _zone_named(name: str) -> TimeZonePlace | None:
    zone = _zones().get(name)
    if zone is None:
        return None
    return TimeZonePlace(
        zone if name.count("/") else zone.rpartition("/")[2].replace("_", " "), zone
    )


@cache
def _zones() -> dict[str, str]:
    """Return the zones by full name and by city, in lower case, without links to countries."""
    zones: dict[str, str] = {}
    for zone in sorted(available_timezones()):
        region, _, city = zone.rpartition("/")
        zones[zone.lower()] = zone
        if region and region.split("/")[0] in _REGIONS:
            zones[city.lower().replace("_", " ")] = zone
    return zones


def _country(name: str) -> TimeZonePlace | None:
    found = _countries().get(name)
    if found is None:
        return None
    code, called, capital = found
    zones = _zones_of_countries().get(code, [])
    named = [zone for zone in zones if zone.endswith("/" + capital.replace(" ", "_"))]
    if len(zones) == 1 or named:
        zone = (named or zones)[0]
    else:
        city = _largest(_folded(capital), code)
        if city is None:
            return None
        zone = city.zone
    return TimeZonePlace(f"{called} ({capital})" if len(zones) > 1 else called, zone)


@cache
def _countries() -> dict[str, tuple[str, str, str]]:
    """Return the countries' names in lower case with code, name and capital."""
    return {
        _folded(country["name"]): (code, country["name"], country["capital"])
        for code, country in country_rows().items()
    }


@cache
def _zones_of_countries() -> dict[str, list[str]]:
    """Return each country code with its zones in the order of the zone table, by population."""
    zones: dict[str, list[str]] = {}
    table = files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    for row in csv.reader(table.splitlines(), delimiter="\t"):
        if row and not row[0].startswith("#"):
            zones.setdefault(row[0], []).append(row[2])
    return zones


def _state(name: str) -> TimeZonePlace | None:
    code = _states().get(name)
    if code is None:
        return None
    largest = max((city for city in _american() if city.state == code), default=None)
    return TimeZonePlace(f"{name.title()} ({largest.name})", largest.zone) if largest else None


@cache
def _states() -> dict[str, str]:
    # New York and Washington are read as cities, not states.
    return {name.lower(): code for code, name in us_states().items() if code not in ("NY", "WA")}


@cache
def _american() -> list[_TimeZoneCity]:
    cities = {city for found in _cities().values() for city in found if city.country == "US"}
    return sorted(cities)


def _city(name: str) -> TimeZonePlace | None:
    """Return a city, optionally followed by its country or state: "portland, maine"."""
    if city := _largest(name):
        return TimeZonePlace(city.name, city.zone)
    words = name.replace(",", " ").replace(" in ", " ").split()
    for split in range(len(words) - 1, 0, -1):
        region = " ".join(words[split:])
        region = _NICKNAMES.get(region, region)
        country, state = _countries().get(region), _states().get(region)
        code = country[0] if country else "US" if state else None
        if code and (city := _largest(" ".join(words[:split]), code, state)):
            return TimeZonePlace(city.name, city.zone)
    return None


def _largest(
    name: str, country: str | None = None, state: str | None = None
) -> _TimeZoneCity | None:
    found = [
        city
        for city in _cities().get(name, ())
        if country in (None, city.country) and state in (None, city.state)
    ]
    return max(found, default=None)


@cache
def _cities() -> dict[str, list[_TimeZoneCity]]:
    """Return the cities by every name in Latin letters, in lower case without accents."""
    cities: dict[str, list[_TimeZoneCity]] = {}
    for row in city_rows():
        city = _TimeZoneCity(row.population, row.name, row.zone, row.country, row.state)
        for name in {_folded(city.name), *row.other_names}:
            cities.setdefault(name, []).append(city)
    return cities


_REGIONS = {"Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe"}
_REGIONS |= {"Indian", "Pacific"}
_LETTERS = {
    letters: TimeZonePlace(name, zone)
    for name, zone, spellings in (
        ("UTC", "UTC", "utc,zulu,coordinated universal"),
        ("GMT", "Etc/GMT", "gmt,greenwich,greenwich mean"),
        ("the US East", "America/New_York", "est,edt,et,eastern,us east coast,east coast"),
        ("the central US", "America/Chicago", "cst,cdt,ct,central,us central"),
        ("the US Mountain zone", "America/Denver", "mst,mdt,mt,mountain,us mountain"),
        ("the US West", "America/Los_Angeles", "pst,pdt,pt,pacific,us west coast,west coast"),
        ("Central Europe", "Europe/Berlin", "cet,cest,central european"),
        ("Britain", "Europe/London", "bst,british"),
        ("Japan", "Asia/Tokyo", "jst,japanese,japan"),
        ("India", "Asia/Kolkata", "ist,indian,india"),
        ("Eastern Australia", "Australia/Sydney", "aest,aedt"),
    )
    for letters in spellings.split(",")
}
_NICKNAMES = {
    "us": "united states",
    "usa": "united states",
    "u.s.": "united states",
    "america": "united states",
    "states": "united states",
    "uk": "united kingdom",
    "u.k.": "united kingdom",
    "great britain": "united kingdom",
    "britain": "united kingdom",
    "england": "london",
    "scotland": "edinburgh",
    "wales": "cardiff",
    "holland": "the netherlands",
    "netherlands": "the netherlands",
    "czech republic": "czechia",
    "korea": "south korea",
    "uae": "united arab emirates",
    "ny": "new york",
    "nyc": "new york",
    "new york city": "new york",
    "big apple": "new york",
    "la": "los angeles",
    "sf": "san francisco",
    "san fran": "san francisco",
    "vegas": "las vegas",
    "dc": "washington",
    "washington dc": "washington",
    "washington d.c.": "washington",
    "philly": "philadelphia",
    "rio": "rio de janeiro",
    "saigon": "ho chi minh city",
    "bombay": "mumbai",
    "hawaii": "honolulu",
    "bali": "denpasar",
}
