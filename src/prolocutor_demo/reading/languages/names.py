"""Names of countries, cities, money, units, days and months in a language, from CLDR by Babel."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from babel import Locale
from babel.dates import get_day_names, get_month_names
from babel.numbers import get_currency_name
from babel.units import UnknownUnitError, format_unit

from prolocutor_demo.reading.accents import key_of
from prolocutor_demo.reading.country_facts import CONTINENTS, countries
from prolocutor_demo.reading.money import currencies
from prolocutor_demo.reading.unit_table import UNITS

LANGUAGES = ("de", "fr", "es")


class Forms(NamedTuple):
    """A noun in the singular and in the plural."""

    one: str
    many: str


class Names(NamedTuple):
    """The names of one language by names in English, in lower case (`units` as our table has them).

    `lands` and `cities` are also there the other way round, by the keys of `accents.key_of`.
    """

    units: Mapping[str, Forms]
    money: Mapping[str, Forms]
    lands: Mapping[str, str]
    cities: Mapping[str, str]
    days: Mapping[str, str]
    months: Mapping[str, str]
    tongues: Mapping[str, str]
    english_lands: Mapping[str, str]
    english_cities: Mapping[str, str]


@functools.cache
def names_in(code: str) -> Names:
    """Return the names of a language of `LANGUAGES`."""
    locale, english = Locale(code), Locale("en")
    lands = {
        bare_land(land.name): str(locale.territories[key])
        for key, land in countries().items()
        if key in locale.territories
    }
    lands |= {
        name.lower(): str(locale.territories[_CONTINENT_CODES[key]])
        for key, name in CONTINENTS.items()
    }
    zones = locale.time_zones
    cities = {
        _city_of(str(zone)): str(zones[zone]["city"]) for zone in zones if "city" in zones[zone]
    }
    return Names(
        _units(code),
        _money(code),
        lands,
        cities,
        _table(get_day_names(locale="en"), get_day_names(locale=code)),
        _table(get_month_names(locale="en"), get_month_names(locale=code)),
        {
            str(name).lower(): str(locale.languages.get(key))
            for key, name in english.languages.items()
        },
        {key_of(name): key for key, name in lands.items()},
        {key_of(name): key for key, name in cities.items()},
    )


def bare_land(name: str) -> str:
    """Return the English name of a country in lower case, without its article."""
    return name.lower().removeprefix("the ")


def _table(english: Mapping[object, object], other: Mapping[object, object]) -> dict[str, str]:
    return {str(english[key]).lower(): str(other[key]) for key in english}


def _city_of(zone: str) -> str:
    return zone.rpartition("/")[2].replace("_", " ").lower()


def _units(code: str) -> dict[str, Forms]:
    found: dict[str, Forms] = {}
    for unit in {one.one: one for one in UNITS.values()}.values():
        name = unit.one.lower().replace("us ", "").replace(" ", "-")
        for key in (_CLDR.get(unit.one), *(f"{kind}-{name}" for kind in _KINDS)):
            try:
                forms = [format_unit(n, key, locale=code) for n in (1, 2)] if key else []
            except UnknownUnitError:
                continue
            if forms:
                one, many = (text.replace("\xa0", " ").lstrip("12 ") for text in forms)
                found[unit.one] = Forms(one, many)
                break
    return found


def _money(code: str) -> dict[str, Forms]:
    return {
        one.one.lower(): Forms(
            get_currency_name(one.code, 1, code), get_currency_name(one.code, 2, code)
        )
        for one in currencies().values()
    }


_KINDS = "length mass volume speed area duration digital pressure energy power angle".split()
_CONTINENT_CODES = {
    "AF": "002",
    "AN": "AQ",
    "AS": "142",
    "EU": "150",
    "NA": "003",
    "OC": "009",
    "SA": "005",
}
_CLDR = {
    "degree Celsius": "temperature-celsius",
    "degree Fahrenheit": "temperature-fahrenheit",
    "metric ton": "mass-tonne",
    "short ton": "mass-ton",
    "imperial gallon": "volume-gallon-imperial",
    "imperial pint": "volume-pint",
}
