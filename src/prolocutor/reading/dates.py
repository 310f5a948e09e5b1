"""Reads dates, absolute and relative, as days of the person's own calendar."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgspec

from prolocutor.reading import libraries, numbers

_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_NAMES: Final = {
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag".split(),
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche".split(),
    "es": "lunes martes miércoles jueves viernes sábado domingo".split(),
}
_NEAR_WORDS: Final = {
    "heute": "today",
    "morgen": "tomorrow",
    "übermorgen": "day after tomorrow",
    "aujourd'hui": "today",
    "demain": "tomorrow",
    "après-demain": "day after tomorrow",
    "hoy": "today",
    "mañana": "tomorrow",
    "pasado mañana": "day after tomorrow",
}
_ENGLISH: Final = {
    name: day for names in _NAMES.values() for name, day in zip(names, _DAYS, strict=True)
}
_WEEKDAY_WORDS: Final = re.compile(
    r"(?:am |le |el |este |ce |diesen |kommenden |am kommenden )?"
    r"(?P<next>nächsten |am nächsten |el próximo |próximo )?"
    rf"(?P<day>{'|'.join(_ENGLISH)})(?P<after> prochain| próximo| que viene)?"
)

WEEK_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""The days of the week in small letters, Monday first."""

_SHORT: Final = {
    "mon": 0,
    "tue": 1,
    "tues": 1,
    "wed": 2,
    "weds": 2,
    "thu": 3,
    "thur": 3,
    "thurs": 3,
}

_NEAR: Final = {
    "today": 0,
    "now": 0,
    "right now": 0,
    "tonight": 0,
    "this morning": 0,
    "tomorrow": 1,
}

_FEASTS: Final = {"christmas": (12, 25), "christmas day": (12, 25), "christmas eve": (12, 24)}

_UNITS: Final = {
    "hour": 0,
    "day": 1,
    "night": 1,
    "week": 7,
    "fortnight": 14,
    "month": 1,
    "year": 12,
}

_ISO: Final = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{4})(\d{2})(\d{2})")
_FIGURES: Final = re.compile(r"(\d{1,2})(?P<by>[./-])(\d{1,2})(?:(?P=by)(\d{4}|\d{2})?)?")

_SPAN: Final = re.compile(
    r"(?:(?P<sign>in|within|after) )?(?P<count>.{1,40}?) "
    r"(?P<unit>hour|day|night|week|fortnight|month|year)s?(?:'s?)?"
    r"(?P<way> time| ago| later| hence| back| (?:from|after|before) (?P<base>.{2,40}))?"
)

_END: Final = re.compile(r"(?:the )?end of (?:the |this |(?P<which>next) )?(?P<period>month|year)")
_OF_MONTH: Final = re.compile(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)(?: of (?:this|the) month)?")
_AT: Final = re.compile(
    r"(?: at|,| around| by) (?:\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\.?)?|noon|midnight)$"
    r"| \d{1,2}(?::\d\d ?(?:[ap]\.?m\.?)?| ?[ap]\.?m\.?)$"
)
_LEAD: Final = re.compile(
    r"^(?:on|by|for|until|till|from|the|date|due|am|bis|zum|den|le|pour le|el|para el) "
)
_MONTHS: Final = "|".join(
    f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name
    for name in (month.lower() for month in calendar.month_name[1:])
)
_DATED: Final = re.compile(rf"\d.*\b(?:sept|{_MONTHS})\b|\b(?:sept|{_MONTHS})\b.*\d")
_MAX_DAYS: Final = 400 * 366
"""Days from today that are read."""

DAY_EDGES: Final = ("start_of", "end_of")
EDGE_UNITS: Final = ("h", "day", "week", "mon", "year")
"""Units of time with a beginning and an end; `mon` is a month."""


class ReadingContext(msgspec.Struct, frozen=True, kw_only=True):
    """When and where a text was written.

    - `now` is an aware time.
    - `timezone` is an IANA name, without which `now` is used as it is.
    - `region` is a country of two letters (ISO 3166) for phone numbers and the order of day and
      month, `language` an ISO 639 code for dates.
    """

    now: dt.datetime
    timezone: str | None = None
    region: str | None = None
    language: str | None = None

    def local_now(self) -> dt.datetime:
        """Return the time in the person's time zone; an unknown time zone is ignored."""
        if self.timezone is None:
            return self.now
        try:
            return self.now.astimezone(ZoneInfo(self.timezone))
        except (KeyError, ValueError, OSError, OverflowError):
            return self.now


def translate_day(said: str, language: str | None) -> str:
    """Translate a plain text for a near day or a weekday into English; return other texts
    unchanged.

    >>> translate_day("nächsten montag", "de"), translate_day("el lunes", "es")
    ('next monday', 'monday')
    """
    if (language or "")[:2] not in _NAMES:
        return said
    if said in _NEAR_WORDS:
        return _NEAR_WORDS[said]
    match = _WEEKDAY_WORDS.fullmatch(said)
    if match is None:
        return said
    return f"{'next ' if match['next'] or match['after'] else ''}{_ENGLISH[match['day']]}"


_SHORT.update({"fri": 4, "sat": 5, "sun": 6})
_WEEKDAYS: Final = {name: index for index, name in enumerate(WEEK_DAYS)} | _SHORT
_NEAR.update({"this afternoon": 0, "this evening": 0, "tmrw": 1, "tomorow": 1, "tommorow": 1})
_NEAR.update({"tommorrow": 1, "yesterday": -1, "day after tomorrow": 2, "overmorrow": 2})
_NEAR.update({"day before yesterday": -2, "last night": -1, "a week today": 7, "today week": 7})
_FEASTS.update({"new year": (1, 1), "new year's": (1, 1), "new year's day": (1, 1)})
_FEASTS.update({"new year's eve": (12, 31), "halloween": (10, 31), "valentine's day": (2, 14)})

_WEEKDAY: Final = re.compile(
    rf"(?:(?P<which>this|next|last|past|coming|this coming|the next|the coming) )?"
    rf"(?P<day>{'|'.join(_WEEKDAYS)})\.?(?: (?P<week>week|next week|this week))?"
)
_DAY_AND_NUMBER: Final = re.compile(
    rf"(?P<day>{'|'.join(_WEEKDAYS)}),? (?:the )?(?P<number>\d{{1,2}})(?:st|nd|rd|th)"
)


def read_day(said: str, context: ReadingContext) -> dt.date | None:
    """Return the day of a plain text read as a whole; None if it is not a day."""
    said = translate_day(said.strip(' .,!;"'), context.language)
    if not said:
        return None
    now = context.local_now()
    if (context.language or "en").startswith("en"):
        said = libraries.write_digits(said)
    try:
        for form in dict.fromkeys((said, _LEAD.sub("", said), _AT.sub("", _LEAD.sub("", said)))):
            day = _absolute(form, now.date(), context) or _relative(form, now, context)
            day = day or _read_worded(form, now, context)
            if day is not None:
                return day
    except (ValueError, OverflowError):
        return None
    return None


def needs_library(said: str, context: ReadingContext) -> bool:
    """Return whether a date in a plain text needs the extra, which is not installed."""
    in_words = _DATED.search(said) or context.language not in {None, "en"}
    return bool(in_words) and libraries.dateparser() is None


def span_edge(edge: str, unit: str, now: dt.datetime) -> dt.datetime:
    """Return the beginning of the current span of time, or its end (the beginning of the next)."""
    start = now.replace(minute=0, second=0, microsecond=0)
    if unit != "h":
        start = start.replace(hour=0)
    if unit == "week":
        start -= dt.timedelta(days=start.weekday())
    if unit in ("mon", "year"):
        start = start.replace(day=1)
    if unit == "year":
        start = start.replace(month=1)
    if edge == "start_of":
        return start
    if unit == "mon":
        return (start + dt.timedelta(days=32)).replace(day=1)
    if unit == "year":
        return start.replace(year=start.year + 1)
    return start + {"h": dt.timedelta(hours=1), "day": dt.timedelta(1)}.get(unit, dt.timedelta(7))


def day_of_value(value: object, now: dt.datetime) -> dt.date | None:
    """Return the day of ISO 8601 or `{year, month, day}`; missing parts (or -1) are of `now`.

    `{edge, unit}` is the day on which a span of time begins or ends (`span_edge`).
    """
    try:
        if isinstance(value, dict) and value.get("edge") in DAY_EDGES:
            return span_edge(value["edge"], str(value.get("unit")), now).date()
        if isinstance(value, dict):
            parts = (
                _part(value.get(name), getattr(now, name)) for name in ("year", "month", "day")
            )
            return dt.date(*parts)
        if not isinstance(value, str) or len(value) > 40:
            return None
        if len(value) <= 10:
            return dt.date.fromisoformat(value)
        moment = dt.datetime.fromisoformat(value)
        return (moment.astimezone(now.tzinfo) if moment.tzinfo else moment).date()
    except (ValueError, TypeError, OverflowError):
        return None


def read_moment(text: object, zone: dt.tzinfo | None) -> dt.datetime | None:
    """Read an ISO date or moment; without an offset it is in `zone` (UTC if None)."""
    if not isinstance(text, str) or len(text) < 10 or text[4:5] != "-":
        return None
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone or dt.UTC)


def _absolute(said: str, today: dt.date, context: ReadingContext) -> dt.date | None:
    if match := _ISO.fullmatch(said):
        return dt.date(*(int(part) for part in match.groups() if part))
    if match := _FIGURES.fullmatch(said):
        first, second, year = int(match[1]), int(match[3]), match[4]
        day_first = match["by"] == "." or (context.region or "").upper() not in {"US", "PH", "FM"}
        day, month = (first, second) if day_first else (second, first)
        if month > 12:
            day, month = month, day
        if year is None:
            return None if match["by"] == "-" else _next_such(today, month, day)
        return dt.date(int(year) + (2000 if len(year) == 2 else 0), month, day)
    if said.removeprefix("next ") in _FEASTS:
        return _next_such(today, *_FEASTS[said.removeprefix("next ")])
    if match := _OF_MONTH.fullmatch(said):
        return _next_of_month(today, int(match[1]))
    return None


def _relative(said: str, now: dt.datetime, context: ReadingContext) -> dt.date | None:
    today = now.date()
    if said in _NEAR:
        return today + dt.timedelta(days=_NEAR[said])
    if match := _WEEKDAY.fullmatch(said):
        return _weekday(match, today)
    if match := _DAY_AND_NUMBER.fullmatch(said):
        return _find_numbered_day(today, _WEEKDAYS[match["day"]], int(match["number"]))
    if match := _END.fullmatch(said):
        return _end(today, match["which"] == "next", match["period"])
    match = _SPAN.fullmatch(said)
    if match is None or not (match["sign"] or match["way"]):
        return None
    count = 0.5 if match["count"] in {"half a", "half an"} else numbers.read_value(match["count"])
    if count is None and match["count"] in {"a", "an", "one", "1"}:
        count = 1
    if count is None or not 0 <= count <= _MAX_DAYS:
        return None
    way = (match["way"] or "").split(" ")[1:2]
    signed = -count if way in (["ago"], ["back"], ["before"]) else count
    base = _base(match["base"], now, context) if match["base"] else now
    return None if base is None else _away(base, signed, match["unit"])


def _base(said: str, now: dt.datetime, context: ReadingContext) -> dt.datetime | None:
    """Return the moment from which "two days before christmas" counts."""
    if said == "now":
        return now
    day = _absolute(said, now.date(), context)
    if day is None and said.removeprefix("the ") in _NEAR:
        day = now.date() + dt.timedelta(days=_NEAR[said.removeprefix("the ")])
    if day is None and (match := _WEEKDAY.fullmatch(said)):
        day = _weekday(match, now.date())
    return None if day is None else now.replace(year=day.year, month=day.month, day=day.day)


def _away(start: dt.datetime, count: float, unit: str) -> dt.date | None:
    if unit == "hour":
        return (
            (start.astimezone(dt.UTC) + dt.timedelta(hours=count)).astimezone(start.tzinfo).date()
        )
    if unit in {"month", "year"}:
        months = count * _UNITS[unit]
        return _months_later(start.date(), int(months)) if months == int(months) else None
    return start.date() + dt.timedelta(days=round(count * _UNITS[unit]))


def _weekday(found: re.Match[str], today: dt.date) -> dt.date:
    index, which = _WEEKDAYS[found["day"]], found["which"] or ""
    if which in {"last", "past"}:
        return today - dt.timedelta(days=(today.weekday() - index - 1) % 7 + 1)
    if found["week"] in {"next week", "this week"}:
        monday = today - dt.timedelta(days=today.weekday())
        return monday + dt.timedelta(days=index + (7 if found["week"] == "next week" else 0))
    ahead = (index - today.weekday()) % 7
    if not ahead and which != "this":
        ahead = 7
    return today + dt.timedelta(days=ahead + (7 if found["week"] else 0))


def _read_worded(said: str, now: dt.datetime, context: ReadingContext) -> dt.date | None:
    """Read dates with names of months, and in other languages, if the extra is installed."""
    language = (context.language or "en").split("-")[0].lower()
    if (language == "en" and not _DATED.search(said)) or len(said) < 4:
        return None
    library = libraries.dateparser()
    if library is None:
        return None
    order = "MDY" if (context.region or "").upper() == "US" else "DMY"
    settings: Any = {
        "RELATIVE_BASE": now.replace(tzinfo=None),
        "PREFER_DATES_FROM": "future",
        "REQUIRE_PARTS": ["day", "month"],
        "RETURN_AS_TIMEZONE_AWARE": False,
        "DATE_ORDER": order,
    }
    cleaned = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|\bof\b|,", " ", said) if language == "en" else said
    try:
        found = library.parse(cleaned, languages=[language], settings=settings)
    except Exception:  # the library raises whatever its parsers meet
        return None
    return found.date() if found else None


def _next_such(today: dt.date, month: int, day: int) -> dt.date | None:
    for year in range(today.year, today.year + 9):
        if day <= calendar.monthrange(year, month)[1] and dt.date(year, month, day) >= today:
            return dt.date(year, month, day)
    return None


def _next_of_month(today: dt.date, day: int) -> dt.date | None:
    for ahead in range(12):
        month = _months_later(today.replace(day=1), ahead)
        if 1 <= day <= calendar.monthrange(month.year, month.month)[1]:
            candidate = month.replace(day=day)
            if candidate >= today:
                return candidate
    return None


def _find_numbered_day(today: dt.date, weekday: int, number: int) -> dt.date | None:
    """Return the next day that is this weekday and day of the month: Friday the 13th."""
    day: dt.date | None = today
    for _ in range(60):
        day = _next_of_month(day, number) if day else None
        if day is None or day.weekday() == weekday:
            return day
        day += dt.timedelta(days=1)
    return None


def _end(today: dt.date, after: bool, period: str) -> dt.date:
    if period == "year":
        return dt.date(today.year + after, 12, 31)
    return _months_later(today.replace(day=1), 1 + after) - dt.timedelta(days=1)


def _months_later(day: dt.date, months: int) -> dt.date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return dt.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _part(value: Any, present: int) -> int:
    return present if value is None or value == -1 else int(value)
