"""Reads dates in words: "3 May 1980", "next Friday", "Christmas", "the day after tomorrow"."""

import datetime as dt
import re
from collections.abc import Callable

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTHS = (
    "january february march april may june july august september october november december"
).split()

_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
MONTH = (
    r"(?:jan(?:uary)?|feb(?:r?uary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
"""A pattern of the months' names, whole or shortened; `month_number` reads what it finds."""
_MONTH = rf"{MONTH}\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_ORDINALS += [f"twenty[- ]{one}" for one in _ORDINALS[:9]] + ["thirtieth", "thirty[- ]first"]
_WORDED = "|".join(reversed(_ORDINALS))
_WRITTEN = [
    re.compile(pattern)
    for pattern in (
        r"(?P<year>\d{4})-(?P<number>\d{1,2})-(?P<day>\d{1,2})",
        rf"{_DAY} (?:of )?(?P<month>{_MONTH}),?(?: (?:of )?{_YEAR})?",
        rf"(?P<month>{_MONTH}) (?:the )?{_DAY},?(?: (?:of )?{_YEAR})?",
        rf"(?P<month>{_MONTH}),? (?:of )?{_YEAR}",
        rf"(?P<month>{_MONTH})",
    )
]
DATE = (
    rf"(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}|\d{{1,2}}[/.-]\d{{1,2}}[/.-](?:\d{{4}}|\d{{2}})|"
    rf"(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?|{_WORDED}) (?:of )?{_MONTH}(?:,? (?:of )?\d{{4}})?|"
    rf"{_MONTH} (?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?(?!\d)|(?:{_WORDED})\b)"
    rf"(?:,? (?:of )?\d{{4}})?|{_MONTH},? \d{{4}})"
)
"""A pattern of the dates that are written out, without groups; `read_date` reads what it finds."""
_NUMERIC = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})")


def read_date(words: str, today: dt.date, *, future: bool = False) -> dt.date | None:
    """Return the day that the words as a whole name; None if they name none.

    A date without a year is this year's; with `future` the next one from today on. "3/5/1980" is
    read with the day first. A month alone is its first day.
    """
    words = words.strip(" ,.").removeprefix("the ").removeprefix("on ")
    words = re.sub(rf"^{_WEEKDAY},? (?=\d|{_MONTH})", "", words)
    words, this_year = re.subn(r",? this year$", "", words)
    words, next_year = re.subn(r",? next year$", "", words)
    if next_year:
        words = f"{words} {today.year + 1}"
    elif this_year:
        words = f"{words} {today.year}"
    try:
        return (
            _relative(words, today)
            or _feast(words, today, future)
            or _written(words, today, future)
        )
    except (ValueError, OverflowError):
        return None


def date_text(day: dt.date, *, weekday: bool = True) -> str:
    """Return the day in words: "Friday, 20 November 2026"."""
    date = f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"
    return f"{WEEKDAYS[day.weekday()].capitalize()}, {date}" if weekday else date


def weekday_number(word: str) -> int | None:
    """Return 0 for "monday" or "mon" up to 6 for Sunday; None if the word is no weekday."""
    if not re.fullmatch(_WEEKDAY, word):
        return None
    return next((n for n, name in enumerate(WEEKDAYS) if name[:3] == word[:3]), None)


def _relative(words: str, today: dt.date) -> dt.date | None:
    days = _NEAR.get(words)
    if days is not None:
        return today + dt.timedelta(days=days)
    if words in ("end of the year", "end of this year", "year's end"):
        return dt.date(today.year, 12, 31)
    if words in ("end of the month", "end of this month"):
        return today + relativedelta(day=31)
    if words == "next month":
        return today + relativedelta(day=1, months=1)
    found = re.fullmatch(rf"(?:(this|next|last|this coming|coming|past) )?({_WEEKDAY})", words)
    number = weekday_number(found[2]) if found else None
    if found is None or number is None:
        return None
    ahead = (number - today.weekday()) % 7
    if found[1] in ("last", "past"):
        ahead = ahead - 7
    elif found[1] != "this" and ahead == 0:
        ahead = 7
    return today + dt.timedelta(days=ahead)


def _feast(words: str, today: dt.date, future: bool) -> dt.date | None:
    found = re.fullmatch(rf"(.+?)(?: (?:in |of )?{_YEAR})?", words)
    name = found[1].replace("'s", "s").replace("'", "") if found else ""
    feast = FEASTS.get(name)
    if found is None or feast is None:
        return None
    if found["year"]:
        return feast(int(found["year"]))
    day = feast(today.year)
    return feast(today.year + 1) if future and day < today else day


def _written(words: str, today: dt.date, future: bool) -> dt.date | None:
    for number, ordinal in reversed([*enumerate(_ORDINALS, start=1)]):
        words = re.sub(rf"\b{ordinal}\b", f"{number}th", words)
    if found := _NUMERIC.fullmatch(words):
        return _numeric(int(found[1]), int(found[2]), found[3], today)
    for pattern in _WRITTEN:
        if found := pattern.fullmatch(words):
            parts = found.groupdict()
            month = int(parts["number"]) if parts.get("number") else month_number(parts["month"])
            year = int(parts["year"]) if parts.get("year") else None
            return _day(year, month, int(parts.get("day") or 1), today, future)
    return None


def _numeric(first: int, second: int, year: str, today: dt.date) -> dt.date:
    """Return the date, day first unless only the other order is valid."""
    day, month = (first, second) if second <= 12 else (second, first)
    full = int(year)
    if len(year) == 2:
        full += 2000 if full <= today.year % 100 + 10 else 1900
    return dt.date(full, month, day)


def month_number(name: str) -> int:
    """Return 1 for "january" or "jan" up to 12 for December."""
    return next(n for n, month in enumerate(MONTHS, start=1) if month[:3] == name[:3])


def _day(year: int | None, month: int, day: int, today: dt.date, future: bool) -> dt.date:
    if year is not None:
        return dt.date(year, month, day)
    for candidate in range(today.year, today.year + 9):
        try:
            date = dt.date(candidate, month, day)
        except ValueError:
            if (month, day) == (2, 29):
                continue
            raise
        if not future or date >= today:
            return date
    raise ValueError(f"{day}.{month}. is no date")


def _fixed(month: int, day: int) -> Callable[[int], dt.date]:
    return lambda year: dt.date(year, month, day)


def _of_easter(days: int) -> Callable[[int], dt.date]:
    return lambda year: easter(year) + dt.timedelta(days=days)


def _thanksgiving(year: int) -> dt.date:
    """Return the fourth Thursday of November."""
    first = dt.date(year, 11, 1)
    return first + dt.timedelta(days=(3 - first.weekday()) % 7 + 21)


_NEAR = {"today": 0, "now": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "right now": 0}
_NEAR |= {"day after tomorrow": 2, "day before yesterday": -2}
FEASTS: dict[str, Callable[[int], dt.date]] = {
    name: feast
    for names, feast in (
        ("christmas, christmas day, xmas, chrismas, christams, x-mas", _fixed(12, 25)),
        ("christmas eve, xmas eve", _fixed(12, 24)),
        ("boxing day", _fixed(12, 26)),
        ("new years eve, new year eve, nye, silvester", _fixed(12, 31)),
        ("new year, new years, new years day, new year day", lambda year: dt.date(year, 1, 1)),
        ("halloween, haloween", _fixed(10, 31)),
        ("valentines day, valentines, valentine day", _fixed(2, 14)),
        ("st patricks day, saint patricks day", _fixed(3, 17)),
        ("april fools day, april fools", _fixed(4, 1)),
        ("independence day, fourth of july, 4th of july, july 4th", _fixed(7, 4)),
        ("spring, start of spring", _fixed(3, 20)),
        ("summer, start of summer", _fixed(6, 21)),
        ("autumn, fall, start of autumn", _fixed(9, 22)),
        ("winter, start of winter", _fixed(12, 21)),
        ("easter, easter sunday", _of_easter(0)),
        ("good friday", _of_easter(-2)),
        ("easter monday", _of_easter(1)),
        ("pentecost, whit sunday", _of_easter(49)),
        ("thanksgiving, thanksgiving day", _thanksgiving),
        ("black friday", lambda year: _thanksgiving(year) + dt.timedelta(days=1)),
    )
    for name in names.split(", ")
}
"""The day of a feast in a year, by its names."""
