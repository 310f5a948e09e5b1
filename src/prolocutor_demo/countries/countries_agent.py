"""Answers questions about countries: capital, population, currency, languages, borders, area."""

import functools
import re
from collections.abc import Callable
from typing import Any

from prolocutor_demo.countries.country_functions import FUNCTIONS
from prolocutor_demo.countries.country_questions import CountryQuestion, question_of, sureness
from prolocutor_demo.countries.figures import (
    BIG,
    SMALL,
    YES_NO,
    area_text,
    compared,
    listed,
    names_text,
    population_text,
    ranked,
)
from prolocutor_demo.reading.country_facts import (
    CONTINENTS,
    Country,
    countries,
    currency_name,
    language_codes,
    language_name,
)
from prolocutor_demo.reading.country_names import words_of
from prolocutor_demo.reading.function_calls import call
from prolocutor_demo.reading.request import text_of

_DECLINED = "That is not a question about a country that I know."
_MOST_CLAUSES = 4

Found = tuple[str, str] | None
"""An answer, and the words of the question that it explains."""


def answer(request: dict[str, Any]) -> Any:
    """Return a fact about one country, a comparison of two, or a list of countries."""
    if "function" in request:
        return call(request, FUNCTIONS)
    text = text_of(request)
    for part, share in ((text, 1.0), *((clause, 0.85) for clause in _clauses(text))):
        reply, confidence = _answer_to(part)
        if confidence:
            return [{"text": reply, "confidence": round(max(0.6, confidence * share), 3)}]
    return [{"text": _DECLINED, "confidence": 0.05}]


def _clauses(text: str) -> list[str]:
    """Return the clauses of a text that asks several questions; [] if it asks one."""
    parts = re.split(r"[?;!.]\s+|,?\s+and\s+(?=wh|how|tell|is\b|does\b)", text, flags=re.IGNORECASE)
    return parts[:_MOST_CLAUSES] if len(parts) > 1 else []


def _answer_to(text: str) -> tuple[str, float]:
    question = question_of(text)
    reader = _READERS.get(question.topic) if question else None
    found = reader(question) if question and reader else None
    if question is None or found is None:
        return "", 0.0
    return found[0], sureness(question, found[1])


def _capital(question: CountryQuestion) -> Found:
    words = [word for word in question.words if word not in {"capital", "city"}]
    city, owner = _capital_named(words)
    if owner and not question.countries:
        return f"{owner.capital} is the capital of {owner.name}.", city
    if not question.countries:
        return None
    country = countries()[question.countries[0]]
    fact = " ".join(_capital_of(countries()[code]) for code in question.countries)
    asked = re.match(r"is (.+?) (?:really |actually )?(?:the )?capital", " ".join(question.words))
    if asked is None:
        return fact, ""
    right = owner is not None and owner.code == country.code
    return ("Yes. " if right else "No. ") + fact, asked.group(1)


def _capital_of(country: Country) -> str:
    if not country.capital:
        return f"{country.title} has no capital."
    note = f" ({country.capital_note})" if country.capital_note else ""
    return f"The capital of {country.name} is {country.capital}{note}."


def _population(question: CountryQuestion) -> Found:
    if len(question.countries) > 1:
        return compared(question, "population")
    if question.asks(f"{BIG}|{SMALL}|most|least|fewest"):
        return ranked(question, "population")
    if not question.countries:
        return None
    country = countries()[question.countries[0]]
    return (
        f"{country.title} has {population_text(country)} ({country.population_year} figures).",
        "",
    )


def _area(question: CountryQuestion) -> Found:
    if len(question.countries) > 1:
        return compared(question, "area")
    if question.asks(f"{BIG}|{SMALL}"):
        return ranked(question, "area")
    if not question.countries:
        return None
    country = countries()[question.countries[0]]
    return f"{country.title} has an area of {area_text(country)}.", ""


def _currency(question: CountryQuestion) -> Found:
    named = _currencies_named(question.words)
    if named and question.asks("how (?:much|many)(?! countr)"):
        return None
    wanted = " ".join(words_of(currency_name(next(iter(named))))) + " euros" if named else ""
    if named and question.asks("countr(?:y|ies)|where"):
        users = [one for one in countries().values() if one.currency in named and one.sovereign]
        return f"It is used in {names_text(users)}.", question.rest
    if not question.countries:
        return None
    country = countries()[question.countries[0]]
    if not country.currency:
        return None
    fact = f"The currency of {country.name} is the {currency_name(country.currency)}"
    fact += f" ({country.currency})."
    if named and re.match(YES_NO, question.rest):
        return ("Yes. " if country.currency in named else "No. ") + fact, wanted
    return fact, wanted if not named else question.rest


def _language(question: CountryQuestion) -> Found:
    words = " ".join(question.words)
    language = _language_named(words)
    country = countries()[question.countries[0]] if question.countries else None
    if language and question.asks("where|countries|country|nations"):
        speakers = [
            one for one in countries().values() if language in one.languages and one.sovereign
        ]
        if not speakers:
            return f"{language_name(language)} is no country's official language.", words
        return (
            f"{language_name(language)} is an official language of {names_text(speakers)}.",
            words,
        )
    if language and len(question.countries) > 1:
        # "Is French spoken in Belgium?" names a language that is also a country's adjective.
        country = countries()[question.countries[-1]]
    if country is None:
        return None
    fact = listed([language_name(code) for code in country.languages])
    plural = "s" if len(country.languages) > 1 else ""
    says = f"Official or main language{plural} of {country.name}: {fact}."
    if language and re.match(YES_NO, words):
        return ("Yes. " if language in country.languages else "Not officially. ") + says, words
    return says, ""


def _border(question: CountryQuestion) -> Found:
    if not question.countries:
        return None
    country = countries()[question.countries[0]]
    near = [countries()[code] for code in country.neighbours if code in countries()]
    if len(question.countries) > 1:
        other = countries()[question.countries[1]]
        if other.code in country.neighbours:
            return f"Yes, {country.name} and {other.name} share a border.", ""
        return f"No, {country.name} and {other.name} share no border.", ""
    if not near:
        return f"{country.title} has no land border with another country.", ""
    count = f"{len(near)} countr{'y' if len(near) == 1 else 'ies'}"
    return f"{country.title} borders {count}: {listed([one.name for one in near])}.", ""


def _continent(question: CountryQuestion) -> Found:
    if not question.countries:
        return _members(question)
    country = countries()[question.countries[0]]
    where = listed([CONTINENTS[code] for code in country.continents])
    fact = f"{country.title} is in {where}."
    if len(country.continents) > 1:
        fact = f"{country.title} lies in both {where}."
    if len(question.regions) == 1 and re.match(YES_NO, question.rest):
        return ("Yes. " if question.regions[0] in country.continents else "No. ") + fact, ""
    return fact, ""


def _members(question: CountryQuestion) -> Found:
    if len(question.regions) == 1 and re.fullmatch(r"is [a-z ]+ (?:a|one) country", question.rest):
        return f"No, {CONTINENTS[question.regions[0]]} is a continent.", ""
    if not question.regions or not question.asks("countries|nations|states"):
        return None
    region = question.regions[0]
    members = [
        one for one in countries().values() if one.sovereign and region in one.continents[:1]
    ]
    return f"{CONTINENTS[region]} has {len(members)} countries: {names_text(members)}.", ""


def _code(question: CountryQuestion) -> Found:
    if not question.countries:
        return None
    country = countries()[question.countries[0]]
    return f"The calling code of {country.name} is +{country.calling_code}.", "prefix dial phone"


def _domain(question: CountryQuestion) -> Found:
    if question.countries:
        country = countries()[question.countries[0]]
        return f"The internet domain of {country.name} is {country.domain}.", "web top level"
    ending = question.rest.split()[-1]
    owner = next((one for one in countries().values() if one.domain == f".{ending}"), None)
    return (f".{ending} is the domain of {owner.name}.", ending) if owner else None


def _letter(question: CountryQuestion) -> Found:
    """Name the countries that begin or end with a letter."""
    asked = re.search(
        r"(start|begin|end)\w* (?:with|in|on)(?: the)?(?: letter)? ([a-z])\b", question.rest
    )
    if asked is None or question.countries:
        return None
    letter = asked[2]
    named = [
        one
        for one in countries().values()
        if one.sovereign
        and (one.name.endswith(letter) if asked[1] == "end" else _initial(one) == letter)
        and (not question.regions or question.regions[0] in one.continents)
    ]
    if not named:
        return f"No country's name {asked[1]}s with {letter.upper()}.", question.rest
    return f"{names_text(named)}.", question.rest


def _initial(country: Country) -> str:
    return country.name.removeprefix("the ")[0].lower()


def _flag(question: CountryQuestion) -> Found:
    """Show the flag as the pair of regional indicators of the country's code."""
    if len(question.countries) != 1:
        return None
    country = countries()[question.countries[0]]
    flag = "".join(chr(0x1F1E6 + ord(letter) - ord("A")) for letter in country.code)
    return f"The flag of {country.name}: {flag}", ""


def _facts(question: CountryQuestion) -> Found:
    if len(question.countries) != 1:
        return None
    country = countries()[question.countries[0]]
    near = [countries()[code].name for code in country.neighbours if code in countries()]
    return (
        f"{country.title} is in {listed([CONTINENTS[code] for code in country.continents])}. "
        f"Capital: {country.capital or 'none'}. People: {population_text(country)}. "
        f"Area: {area_text(country)}. Currency: {currency_name(country.currency)}. "
        f"Languages: {listed([language_name(code) for code in country.languages])}. "
        f"Neighbours: {listed(near) if near else 'none'}."
    ), "interesting quick short country"


def _capital_named(words: list[str]) -> tuple[str, Country | None]:
    """Return the capital among the words, the longest name first, and its country."""
    cities = _capitals()
    for size in range(min(4, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            city = " ".join(words[start : start + size])
            if city in cities:
                return city, countries()[cities[city]]
    return "", None


@functools.cache
def _capitals() -> dict[str, str]:
    cities = {"washington": "US", "washington dc": "US", "sana a": "YE", "kiev": "UA"}
    for code, country in sorted(countries().items(), key=lambda item: not item[1].sovereign):
        if country.capital:
            cities.setdefault(" ".join(words_of(country.capital)), code)
    return cities


def _currencies_named(said: tuple[str, ...]) -> set[str]:
    """Return the codes of the currencies named: "franc" names several, "swiss franc" one."""
    words = [word.removesuffix("s") for word in said]
    return {
        one.currency
        for one in countries().values()
        if one.currency and _names_currency(words, one.currency)
    }


def _names_currency(words: list[str], code: str) -> bool:
    name = [word.removesuffix("s") for word in words_of(currency_name(code))]
    return code.lower() in words or (len(name) > 0 and name[-1] in words and name[0] in words)


def _language_named(words: str) -> str | None:
    codes = language_codes()
    return next((codes[word] for word in words.split() if word in codes), None)


_READERS: dict[str, Callable[[CountryQuestion], Found]] = {
    "capital": _capital,
    "currency": _currency,
    "language": _language,
    "border": _border,
    "code": _code,
    "domain": _domain,
    "population": _population,
    "area": _area,
    "continent": _continent,
    "letter": _letter,
    "flag": _flag,
    "facts": _facts,
}
