"""The countries of the world as data: GeoNames figures, CLDR names, languages and currencies."""

import functools

import msgspec

from prolocutor_demo.reading.geonames import country_rows

CONTINENTS = {
    "AF": "Africa",
    "AN": "Antarctica",
    "AS": "Asia",
    "EU": "Europe",
    "NA": "North America",
    "OC": "Oceania",
    "SA": "South America",
}
_TERRITORIES = frozenset(
    "AI AN AQ AS AW AX BL BM BQ BV CC CK CS CW CX EH FK FO GF GG GI GL GP GS GU HK HM IM IO JE KY "
    "MF MO MP MQ MS NC NF NU PF PM PN PR RE SH SJ SX TC TF TK UM VG VI WF YT".split()
)
_GONE = frozenset({"AN", "CS"})
_WITH_ARTICLE = frozenset(
    "AE BS CC CD CF CG CK DO FK FO GB GM HM KM KY MH MP MV PH SB SC TC US VG VI".split()
)
_NAMES = {
    "BQ": "the Caribbean Netherlands",
    "CV": "Cape Verde",
    "CW": "Curaçao",
    "NL": "the Netherlands",
    "PS": "Palestine",
    "VA": "Vatican City",
}
# Changes since GeoNames' data: Bulgaria's euro, Astana's name, the two largest populations.
_CAPITALS = {"BR": "Brasília", "KZ": "Astana", "US": "Washington, D.C.", "MM": "Naypyidaw"}
_CURRENCIES = {"BG": "EUR"}
_PEOPLE = {"CN": (1_408_975_000, 2024), "IN": (1_450_935_791, 2024)}
_AREAS = {"MC": 2.02, "VA": 0.44}
_PEOPLE_COUNTED = 2018
_CAPITAL_NOTES = {
    "BO": "the government sits in La Paz",
    "CL": "the parliament sits in Valparaíso",
    "IL": "internationally disputed",
    "NL": "the government sits in The Hague",
    "ZA": "the parliament sits in Cape Town, the highest court of appeal in Bloemfontein",
}
_TWO_CONTINENTS = {
    "AZ": ("AS", "EU"),
    "EG": ("AF", "AS"),
    "GE": ("AS", "EU"),
    "KZ": ("AS", "EU"),
    "RU": ("EU", "AS"),
    "TR": ("AS", "EU"),
}


class Country(msgspec.Struct, frozen=True):
    """One country or territory; `area` in square kilometres, `currency` an ISO 4217 code."""

    code: str
    name: str
    capital: str
    capital_note: str
    population: int
    population_year: int
    area: float
    continents: tuple[str, ...]
    neighbours: tuple[str, ...]
    currency: str
    languages: tuple[str, ...]
    calling_code: str
    domain: str
    sovereign: bool

    @property
    def title(self) -> str:
        """The name as the start of a sentence."""
        return self.name[0].upper() + self.name[1:]


@functools.cache
def countries() -> dict[str, Country]:
    """Return all countries and territories by ISO code."""
    rows = country_rows()
    return {code: _country(code, row) for code, row in rows.items() if code not in _GONE}


@functools.cache
def language_codes() -> dict[str, str]:
    """Return CLDR codes by English language names in lower case."""
    from babel import Locale

    names = {name.lower(): code for code, name in Locale("en").languages.items()}
    return names | {"mandarin": "zh", "farsi": "fa", "filipino": "fil"}


def language_name(code: str) -> str:
    """Return the English name of a language."""
    from babel import Locale

    names = Locale("en").languages
    return str(names.get(code) or names.get(code.split("_")[0]) or code)


def currency_name(code: str) -> str:
    """Return the English name of a currency."""
    from babel.numbers import get_currency_name

    return str(get_currency_name(code, locale="en")) if code else ""


def _country(code: str, row: dict[str, object]) -> Country:
    name = str(row["name"]).strip()
    population, year = _PEOPLE.get(code, (int(str(row["population"])), _PEOPLE_COUNTED))
    return Country(
        code=code,
        name=_NAMES.get(code) or ("the " if code in _WITH_ARTICLE else "") + name,
        capital=_CAPITALS.get(code) or str(row["capital"]).strip(),
        capital_note=_CAPITAL_NOTES.get(code, ""),
        population=population,
        population_year=year,
        area=_AREAS.get(code) or float(str(row["areakm2"])),
        continents=_TWO_CONTINENTS.get(code, (str(row["continentcode"]),)),
        neighbours=tuple(near for near in str(row["neighbours"]).split(",") if near),
        currency=_CURRENCIES.get(code) or str(row["currencycode"]),
        languages=_languages(code, str(row["languages"])),
        calling_code=str(row["phone"]).lstrip("+"),
        domain=str(row["tld"]),
        sovereign=code not in _TERRITORIES,
    )


def _languages(code: str, spoken: str) -> tuple[str, ...]:
    """Return the official languages by CLDR, else the most spoken ones by GeoNames."""
    from babel.languages import get_official_languages

    official = tuple(get_official_languages(code, regional=False, de_facto=True))
    if code == "CH":
        return ("de", "fr", "it", "rm")
    return official or tuple(one.split("-")[0] for one in spoken.split(",")[:3] if one)
