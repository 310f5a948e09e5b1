"""The public holidays of a country or a part of it, and days observed in many countries."""

import datetime as dt
import difflib
import functools
import re
import unicodedata
import warnings

import msgspec

FIRST_YEAR, LAST_YEAR = 1900, 2099
_CLOSE = 0.84
_MOST_POPULOUS_PART = {"GB": "ENG"}
_FIXED = {
    "new year": (1, 1),
    "epiphany": (1, 6),
    "valentine": (2, 14),
    "international women": (3, 8),
    "saint patrick": (3, 17),
    "april fools": (4, 1),
    "halloween": (10, 31),
    "reformation": (10, 31),
    "all saints": (11, 1),
    "saint nicholas": (12, 6),
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "boxing": (12, 26),
    "new year eve": (12, 31),
}
DAYS_AFTER_EASTER = {
    "shrove tuesday": -47,
    "ash wednesday": -46,
    "palm sunday": -7,
    "maundy thursday": -3,
    "good friday": -2,
    "easter": 0,
    "easter sunday": 0,
    "easter monday": 1,
    "ascension": 39,
    "pentecost": 49,
    "pentecost monday": 50,
    "corpus christi": 60,
}
"""Feasts by their days after Easter Sunday."""
# Days that may be free of work for another reason.
_NEVER_PUBLIC = frozenset({"april fools", "halloween", "saint nicholas", "valentine"})
_TOO_COMMON = frozenset({"national"})
_SPELLED = {
    "xmas": "christmas",
    "xmass": "christmas",
    "hallowe en": "halloween",
    "st": "saint",
    "whit": "pentecost",
    "whitsun": "pentecost",
    "pentacost": "pentecost",
    "labour": "labor",
    "mlk": "martin luther king",
    "president": "washington",
    "presidents": "washington",
    "july 4th": "independence",
    "4th of july": "independence",
    "fourth of july": "independence",
    "bastille": "national",
    "lunar new year": "chinese new year",
    "worker": "labor",
    "workers": "labor",
    "ramadan feast": "eid al fitr",
    r"eid(?! a)": "eid al fitr",
    "sugar feast": "eid al fitr",
    "feast of sacrifice": "eid al adha",
    "may day": "labor",
    "king birthday": "king",
}
_DROPPED = re.compile(r"\b(?:the|day|days|holiday|of|jr)\b")


class HolidayRegion(msgspec.Struct, frozen=True):
    """A country by ISO code, optionally a subdivision of it, and its name."""

    country: str
    part: str | None
    name: str


class Holiday(msgspec.Struct, frozen=True):
    """One holiday on one day; not `public` if it is a working day."""

    day: dt.date
    name: str
    public: bool = True


def supported(country: str) -> bool:
    """Return whether the library knows the holidays of this country."""
    import holidays

    return country in holidays.list_supported_countries()


@functools.lru_cache(maxsize=512)
def public_holidays(country: str, part: str | None, year: int) -> tuple[Holiday, ...]:
    """Return the public holidays of one year in order; a day with two names occurs twice."""
    import holidays

    if not FIRST_YEAR <= year <= LAST_YEAR:
        return ()
    language = "en_US"
    kind = getattr(holidays, country)
    if not kind.start_year <= year <= kind.end_year:
        return ()
    if language not in (kind.supported_languages or ()):
        language = kind.default_language
    part = part or _MOST_POPULOUS_PART.get(country)
    with warnings.catch_warnings():
        # The library warns of years for which a country's data are incomplete.
        warnings.simplefilter("ignore")
        found = holidays.country_holidays(country, subdiv=part, years=[year], language=language)
    return tuple(Holiday(day, name) for day in sorted(found) for name in found[day].split("; "))


def on_day(place: HolidayRegion, day: dt.date) -> list[Holiday]:
    """Return the public holidays of a place on one day."""
    return [one for one in public_holidays(place.country, place.part, day.year) if one.day == day]


def parts_on(country: str, day: dt.date, name: str = "") -> list[str]:
    """Return the subdivisions with a holiday on a day that is none nationwide."""
    import holidays

    kind = getattr(holidays, country)
    titles = {part: title for title, part in kind.subdivisions_aliases.items()}
    found = []
    for part in kind.subdivisions:
        place = HolidayRegion(country, part, titles.get(part, part))
        if name:
            rests = any(one.public and one.day == day for one in by_name(place, name, day.year))
        else:
            rests = bool(on_day(place, day))
        if rests:
            found.append(place.name)
    return sorted(found)


def coming(place: HolidayRegion, after: dt.date, until: dt.date) -> list[Holiday]:
    """Return the public holidays of a region after one day, up to and including another."""
    years = range(after.year, min(until.year, LAST_YEAR) + 1)
    found = [one for year in years for one in public_holidays(place.country, place.part, year)]
    return [one for one in found if after < one.day <= until]


def by_name(place: HolidayRegion, name: str, year: int) -> list[Holiday]:
    """Return the days of one year with this name in a region, else by the Christian calendar."""
    wanted = plain_name(name)
    if not wanted:
        return []
    found = public_holidays(place.country, place.part, year)
    named = [(plain_name(one.name), one) for one in found]
    exact = [one for plain, one in named if plain == wanted and not is_substitute(one)]
    known = _observance(wanted, year)
    if exact:
        return exact
    if known is not None:
        same = [one for one in found if one.day == known.day and not is_substitute(one)]
        return [msgspec.structs.replace(known, public=bool(same) and wanted not in _NEVER_PUBLIC)]
    words = set(wanted.split())
    part = [
        one
        for plain, one in named
        if words <= set(plain.split()) and not is_substitute(one) and words != _TOO_COMMON
    ]
    if part:
        return part
    near = difflib.get_close_matches(wanted, [plain for plain, _ in named], n=1, cutoff=_CLOSE)
    if near:
        return [one for plain, one in named if plain == near[0] and not is_substitute(one)]
    return [one for one in _unofficial_days(place.country, year) if plain_name(one.name) == wanted]


def is_substitute(holiday: Holiday) -> bool:
    """Return whether this is the substitute for a holiday on a weekend."""
    return "observed" in holiday.name.lower() or "substitute" in holiday.name.lower()


def plain_name(name: str) -> str:
    """Return a holiday's name without accents, saints' short forms and the word "day"."""
    folded = unicodedata.normalize("NFKD", name.lower().replace("’", "'"))
    plain = "".join(letter for letter in folded if not unicodedata.combining(letter))
    plain = re.sub(r"'s?\b|\b's\b", "", plain.replace("new years", "new year"))
    plain = " ".join(re.findall(r"[a-z0-9]+", re.sub(r"\(.*?\)", " ", plain)))
    for said, meant in _SPELLED.items():
        plain = re.sub(rf"\b{said}\b", meant, plain)
    return " ".join(_DROPPED.sub(" ", plain).split())


@functools.lru_cache(maxsize=64)
def _unofficial_days(country: str, year: int) -> tuple[Holiday, ...]:
    """Return the days that a country observes without a day off: Mother's Day, Groundhog Day."""
    import holidays

    kind = getattr(holidays, country)
    kinds = set(kind.supported_categories) & {"unofficial", "optional"}
    if not kinds or not kind.start_year <= year <= kind.end_year:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = holidays.country_holidays(country, years=[year], categories=tuple(sorted(kinds)))
    return tuple(
        Holiday(day, name, public=False) for day in sorted(found) for name in found[day].split("; ")
    )


def _observance(wanted: str, year: int) -> Holiday | None:
    from dateutil.easter import easter

    names = [*_FIXED, *DAYS_AFTER_EASTER]
    near = [wanted] if wanted in names else _nearly(wanted, names)
    if not near or not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    name = near[0]
    if name in _FIXED:
        return Holiday(dt.date(year, *_FIXED[name]), _title(name), public=False)
    day = easter(year) + dt.timedelta(days=DAYS_AFTER_EASTER[name])
    return Holiday(day, _title(name), public=False)


def _nearly(wanted: str, names: list[str]) -> list[str]:
    return difflib.get_close_matches(wanted, names, n=1, cutoff=0.88) if len(wanted) > 5 else []


def _title(name: str) -> str:
    after = {"new year", "valentine", "saint patrick", "international women", "saint nicholas"}
    title = name.title().replace("New Year Eve", "New Year's Eve")
    if name in after:
        return f"{title}'s Day"
    return f"{title} Day" if name in {"christmas", "boxing", "ascension", "all saints"} else title
