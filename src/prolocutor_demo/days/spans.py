"""Spans of days: "2 years and 3 months" read, added to a date, and counted between two dates."""

import datetime as dt
import re
from typing import NamedTuple

from dateutil.relativedelta import relativedelta

MOST = 1_000_000

_PIECE = re.compile(
    r"(?P<number>(?<!\d)\d++(?:\.\d++)?|an?|the) (?:more )?"
    r"(?P<unit>day|week|fortnight|month|year|decade|hour|(?:working |business |week ?)day)s?"
)
_DAYS = {"day": 1.0, "week": 7.0, "fortnight": 14.0, "hour": 1 / 24}
_MONTHS = {"month": 1, "year": 12, "decade": 120}


class Span(NamedTuple):
    """A number of months and days, or of working days."""

    months: int = 0
    days: int = 0
    working: int = 0


def read_span(text: str) -> Span | None:
    """Return the span of "3 weeks", "a year and 2 months", "10 working days"; else None."""
    months, days, working = 0.0, 0.0, 0
    for found in _PIECE.finditer(text):
        number = float(found["number"]) if found["number"][0].isdigit() else 1.0
        if number > MOST:
            return None
        unit = found["unit"]
        if unit in _DAYS:
            days += number * _DAYS[unit]
        elif unit in _MONTHS:
            months += number * _MONTHS[unit]
        else:
            working += int(number)
    if not (months or days or working):
        return None
    return Span(int(months), round(days + (months - int(months)) * 30.44), working)


def shifted(start: dt.date, span: Span, *, past: bool) -> dt.date:
    """Return the date one span after the start, or before it with `past`.

    Raises OverflowError or ValueError beyond the years 1 to 9999.
    """
    sign = -1 if past else 1
    if span.working:
        return _working_days_from(start, sign * span.working)
    return start + relativedelta(months=sign * span.months, days=sign * span.days)


def length(first: dt.date, last: dt.date, unit: str) -> str:
    """Return the time from first to last in a unit: "5 weeks", "7 months and 11 days".

    Without a unit it is in years, months and days. Working days include both ends.
    """
    days = (last - first).days
    gone = relativedelta(last, first)
    if unit == "day":
        return counted(days, "day")
    if unit == "working day":
        return counted(_working_days(first, last), "working day")
    if unit == "week":
        return _listed([(days // 7, "week"), (days % 7, "day")])
    if unit == "weekend":
        return counted(_days_of(first, last, 5), "weekend")
    if unit == "hour":
        return counted(days * 24, "hour")
    if unit == "month":
        return _listed([(gone.years * 12 + gone.months, "month"), (gone.days, "day")])
    if unit == "year":
        return between(first, last)
    return f"{between(first, last)}, or {counted(days, 'day')},"


def between(first: dt.date, last: dt.date) -> str:
    """Return the time from first to last in years, months and days."""
    gone = relativedelta(last, first)
    return _listed([(gone.years, "year"), (gone.months, "month"), (gone.days, "day")])


def counted(number: int, noun: str) -> str:
    """Return the number and its noun: "1 day", "1,000 days"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(parts: list[tuple[int, str]]) -> str:
    texts = [counted(number, noun) for number, noun in parts if number]
    if not texts:
        return counted(0, parts[-1][1])
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _working_days(first: dt.date, last: dt.date) -> int:
    return sum(_days_of(first, last, weekday) for weekday in range(5))


def _days_of(first: dt.date, last: dt.date, weekday: int) -> int:
    """Return how often the weekday occurs from first to last, both included."""
    ahead = (weekday - first.weekday()) % 7
    return max(0, ((last - first).days - ahead) // 7 + 1)


def _working_days_from(start: dt.date, number: int) -> dt.date:
    weeks, rest = divmod(abs(number), 5)
    step = 1 if number > 0 else -1
    day = start + dt.timedelta(days=7 * weeks * step)
    while rest or day.weekday() > 4:
        day += dt.timedelta(days=step)
        if day.weekday() < 5 and rest:
            rest -= 1
    return day
