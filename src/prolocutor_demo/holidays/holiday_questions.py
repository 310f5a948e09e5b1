"""Reads the place and time in questions about holidays: "in Bavaria next May", "on 25/12"."""

import datetime as dt
import re
from typing import Any

from prolocutor_demo.holidays.public_days import FIRST_YEAR, LAST_YEAR, HolidayRegion, supported
from prolocutor_demo.reading.country_facts import countries
from prolocutor_demo.reading.country_names import mentions, words_of
from prolocutor_demo.reading.dates import MONTH, WEEKDAYS, month_number

_MONTH = rf"({MONTH})"
_YEAR = r"(?:,? +(?:of +|in +)?(\d{4}))?"
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: +of)? +{_MONTH}\b{_YEAR}")
_MONTH_DAY = re.compile(rf"\b{_MONTH} +(?:the +)?(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d){_YEAR}")
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_SLASHED = re.compile(r"\b(\d{1,2})[/.](\d{1,2})(?:[/.](\d{4}))?\b")
_WEEKDAY = re.compile(
    r"(?:^|\b(is|was|are|on|this|next|last|coming|closed|be|do) )(" + "|".join(WEEKDAYS) + r")\b"
)
_NEAR_DAYS = {
    "day after tomorrow": 2,
    "day before yesterday": -2,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "yesterday": -1,
}
_PARTS = {
    "bavaria": ("DE", "BY", "Bavaria"),
    "saxony": ("DE", "SN", "Saxony"),
    "hesse": ("DE", "HE", "Hesse"),
    "england": ("GB", "ENG", "England"),
    "english": ("GB", "ENG", "England"),
    "scotland": ("GB", "SCT", "Scotland"),
    "scottish": ("GB", "SCT", "Scotland"),
    "wales": ("GB", "WLS", "Wales"),
    "northern ireland": ("GB", "NIR", "Northern Ireland"),
    "quebec": ("CA", "QC", "Quebec"),
    "catalonia": ("ES", "CT", "Catalonia"),
}
_LARGEST_PARTS = ("US", "DE", "CA", "AU", "CH", "AT", "ES", "IT")


def place_of(text: str, attributes: dict[str, Any]) -> tuple[HolidayRegion, bool]:
    """Return the region that a text names, else the user's, else the US; and if it is named."""
    words = words_of(text)
    part = _part_named(" ".join(words))
    if part is not None:
        return part, True
    named = [one for one in mentions(words) if supported(one.code)]
    after_in = [one for one in named if one.start and _leads(words, one.start)]
    if named:
        code = (after_in or named)[-1].code
        return HolidayRegion(code, None, countries()[code].name), True
    home = str(attributes.get("country") or "")
    codes = [one.code for one in mentions(words_of(home))] or [home.strip().upper()]
    if codes[0] in countries() and supported(codes[0]):
        return HolidayRegion(codes[0], None, countries()[codes[0]].name), False
    return HolidayRegion("US", None, countries()["US"].name), False


def year_of(text: str, today: dt.date) -> int | None:
    """Return the year that a text names."""
    for phrase, shift in (("next year", 1), ("this year", 0), ("last year", -1)):
        if phrase in text:
            return today.year + shift
    found = re.search(r"\b(19\d\d|20\d\d)\b", text)
    return int(found.group(1)) if found else None


def day_of(text: str, today: dt.date, country: str) -> dt.date | None:
    """Return the day that a text names: without a year the next one, after "was" the last."""
    past = re.search(r"\bwas\b|\bwere\b|\blast\b", text) is not None
    try:
        return _written_day(text, today, country, past) or _near_day(text, today, past)
    except (ValueError, OverflowError):
        return None


def span_of(text: str, today: dt.date) -> tuple[dt.date, dt.date] | None:
    """Return the first and last day of the week or month that a text names."""
    monday = today - dt.timedelta(days=today.weekday())
    for phrase, weeks in (("this week", 0), ("next week", 1), ("last week", -1)):
        if phrase in text:
            first = monday + dt.timedelta(weeks=weeks)
            return first, first + dt.timedelta(days=6)
    for phrase, months in (("this month", 0), ("next month", 1), ("last month", -1)):
        if phrase in text:
            index = today.year * 12 + today.month - 1 + months
            return _month(index // 12, index % 12 + 1)
    found = re.search(rf"\b(?:in|during|of|for|this|next) {_MONTH}\b", text)
    if found is None:
        return None
    month = month_number(found.group(1))
    year = year_of(text, today) or (today.year if month >= today.month else today.year + 1)
    return _month(year, month)


def _leads(words: list[str], start: int) -> bool:
    before = words[start - 2 : start] if words[start - 1] == "the" else words[start - 1 : start]
    return bool(before) and before[0] in {"in", "of", "for", "across"}


def _part_named(plain: str) -> HolidayRegion | None:
    for name, (country, part, title) in _PARTS.items():
        if re.search(rf"\b{name}\b", plain):
            return HolidayRegion(country, part, title)
    found = re.search(r"\b(?:in|for|across) ((?:\w+ ?){1,3})", plain)
    return _part_listed(found.group(1).split()) if found else None


def _part_listed(words: list[str]) -> HolidayRegion | None:
    """Return the state or province that the first words name."""
    import holidays

    for country in _LARGEST_PARTS:
        names = getattr(holidays, country).subdivisions_aliases
        for name, part in names.items():
            plain = words_of(name)
            if words[: len(plain)] == plain and name != "Georgia":
                return HolidayRegion(country, part, name)
    return None


def _written_day(text: str, today: dt.date, country: str, past: bool) -> dt.date | None:
    if found := _ISO.search(text):
        return dt.date(*(int(one) for one in found.groups()))
    if found := _DAY_MONTH.search(text):
        return _dated(int(found[1]), month_number(found[2]), found[3], today, past)
    if found := _MONTH_DAY.search(text):
        return _dated(int(found[2]), month_number(found[1]), found[3], today, past)
    if found := _SLASHED.search(text):
        first, second = int(found[1]), int(found[2])
        swapped = second > 12 or (country == "US" and first <= 12)
        day, month = (second, first) if swapped else (first, second)
        return _dated(day, month, found[3], today, past)
    return None


def _dated(day: int, month: int, year: str | None, today: dt.date, past: bool) -> dt.date | None:
    named = int(year) if year else year_of("", today)
    if named is not None:
        return dt.date(named, month, day) if FIRST_YEAR <= named <= LAST_YEAR else None
    this = dt.date(today.year, month, day)
    if past and this > today:
        return this.replace(year=today.year - 1)
    return this.replace(year=today.year + 1) if not past and this < today else this


def _near_day(text: str, today: dt.date, past: bool) -> dt.date | None:
    for phrase, shift in _NEAR_DAYS.items():
        if re.search(rf"\b{phrase}\b", text):
            return today + dt.timedelta(days=shift)
    found = _WEEKDAY.search(text)
    if found is None:
        return None
    ahead = (WEEKDAYS.index(found[2]) - today.weekday()) % 7
    if past:
        return today - dt.timedelta(days=7 - ahead)
    return today + dt.timedelta(days=ahead or (7 if found[1] == "next" else 0))


def _month(year: int, month: int) -> tuple[dt.date, dt.date]:
    first = dt.date(year, month, 1)
    after = dt.date(year + month // 12, month % 12 + 1, 1)
    return first, after - dt.timedelta(days=1)
