"""Reads days: "tomorrow", "next friday evening", "by december 3rd", "in two weeks"."""

import datetime as dt
import re

from dateutil import parser, relativedelta

from prolocutor_demo.reading.dates import MONTH, WEEKDAYS
from prolocutor_demo.reading.when.lengths import NUMBER, number_of
from prolocutor_demo.reading.when.moment_reading import (
    BY,
    PART,
    PARTS,
    MomentReaders,
    MomentReading,
    combined,
    note_part,
    pattern,
)

_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3}
_SHORT_DAYS |= {"fri": 4, "sat": 5, "sun": 6}

_DAYS = "|".join(WEEKDAYS)


def _read_near(reading: MomentReading, found: re.Match[str]) -> None:
    word = found["near"].lower()
    today = reading.now.date()
    if word in {"today", "tonight"} or word.startswith("this"):
        reading.day = today
        word_part = {"tonight": "night"}.get(word, word.rpartition(" ")[2])
        if reading.time is None:
            reading.time = dt.time(PARTS.get(word_part, PARTS["evening"]))
        elif word != "today" and word_part != "morning" and 0 < reading.time.hour < 12:
            reading.time = reading.time.replace(hour=reading.time.hour + 12)
    else:
        reading.day = today + dt.timedelta(days=2 if "after" in word else 1)
    note_part(reading, found)


def _read_weekday(reading: MomentReading, found: re.Match[str]) -> None:
    name = found["day"].lower()
    index = WEEKDAYS.index(name) if name in WEEKDAYS else _SHORT_DAYS[name]
    today = reading.now.date()
    step = relativedelta.relativedelta(days=1, weekday=relativedelta.weekday(index)(+1))
    reading.day = today + step
    if today.weekday() == index and reading.time and "next" not in found[0].lower():
        at = combined(today, reading.time, reading.now)
        reading.day = today if at > reading.now else reading.day
    note_part(reading, found)


def _read_date(reading: MomentReading, found: re.Match[str]) -> None:
    said = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|\bof\b|\bthe\b", " ", found["date"].lower())
    today = reading.now.date()
    said = said.rstrip(".").replace(".", "/")
    if re.search(r"\d{4}", said):
        reading.day = _dated(said, today.year)
    else:
        years = range(today.year, today.year + 9)  # 29 February is up to eight years away
        days = (day for year in years if (day := _dated(said, year)) is not None)
        reading.day = next((day for day in days if day >= today), None)
    if reading.day is None:
        raise ValueError(f"no such day: {said}")
    note_part(reading, found)


def _dated(said: str, year: int) -> dt.date | None:
    """Return the date in words or digits, by default in `year`; None if it is no date."""
    try:
        return parser.parse(said, dayfirst=True, default=dt.datetime(year, 1, 1)).date()  # noqa: DTZ001
    except (ValueError, OverflowError):
        return None


def _read_day_of_month(reading: MomentReading, found: re.Match[str]) -> None:
    today, number = reading.now.date(), int(found["number"])
    months = 0 if number > today.day else 1
    reading.day = today + relativedelta.relativedelta(months=months, day=number)


def _read_span(reading: MomentReading, found: re.Match[str]) -> None:
    count, unit = number_of(found["count"]), found["unit"].lower()
    days = round(count * {"d": 1, "w": 7, "f": 14}.get(unit[0], 0))
    months = round(count * {"m": 1, "y": 12}.get(unit[0], 0))
    if months > 1200:
        raise ValueError("too far away")
    reading.day = reading.now.date() + relativedelta.relativedelta(days=days, months=months)
    note_part(reading, found)


def _read_period(reading: MomentReading, found: re.Match[str]) -> None:
    which, period = found["which"].lower(), found["period"].lower()
    today = reading.now.date()
    monday = today - dt.timedelta(days=today.weekday())
    later = 1 if which == "next" else 0
    if period == "weekend":
        reading.day = max(today, monday + dt.timedelta(days=5 + 7 * later))
    elif period == "week":
        reading.day = monday + dt.timedelta(days=7) if later else monday + dt.timedelta(days=6)
    elif period == "month":
        reading.day = today + relativedelta.relativedelta(months=later, day=1 if later else 31)
    else:
        reading.day = dt.date(today.year + later, 1 if later else 12, 1 if later else 31)


def _read_end(reading: MomentReading, found: re.Match[str]) -> None:
    later = 1 if (found["which"] or "").lower() == "next" else 0
    today, period = reading.now.date(), found["period"].lower()
    if period == "day":
        reading.day, reading.time = today, reading.time or dt.time(PARTS["evening"])
    elif period == "week":
        reading.day = today + dt.timedelta(days=(4 - today.weekday()) % 7 + 7 * later)
    elif period == "month":
        reading.day = today + relativedelta.relativedelta(months=later, day=31)
    else:
        reading.day = dt.date(today.year + later, 12, 31)


DAY_READERS: MomentReaders = (
    (pattern(rf"{BY}(?P<date>\b\d{{4}}-\d{{2}}-\d{{2}})\b"), _read_date),
    (
        pattern(
            rf"{BY}(?P<date>\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH}\b"
            rf"(?:,?\s+\d{{4}})?){PART}"
        ),
        _read_date,
    ),
    (
        pattern(
            rf"{BY}(?P<date>\b{MONTH}\s+(?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?)"
            rf"{PART}"
        ),
        _read_date,
    ),
    (
        pattern(
            r"\b(?:on|by|due|for|before|until|till)\s+(?P<date>\d{1,2}[./]\d{1,2}(?:[./](?:\d{4})?)?)"
            r"(?![\d%])"
        ),
        _read_date,
    ),
    (
        pattern(
            rf"{BY}\b(?P<near>(?:the )?day after (?:tomorrow|tmrw)|tomm?orr?ow|tomm?orow|tmrw|tmr"
            rf"|today|tonight|tonite|this (?:morning|afternoon|evening)){PART}\b"
        ),
        _read_near,
    ),
    (
        pattern(rf"{BY}(?:\b(?:this|next|coming|every|each|the)\s+)*\b(?P<day>{_DAYS})s?\b{PART}"),
        _read_weekday,
    ),
    (
        pattern(rf"\b(?:on|by|next|this|every)\s+(?P<day>{'|'.join(_SHORT_DAYS)})\b{PART}"),
        _read_weekday,
    ),
    (
        pattern(
            rf"{BY}\b(?:in|within)\s+(?P<count>{NUMBER})\s+"
            rf"(?P<unit>days?|weeks?|fortnights?|months?|years?)\b(?:'s? time)?{PART}"
        ),
        _read_span,
    ),
    (
        pattern(
            rf"{BY}\b(?P<count>{NUMBER})\s+(?P<unit>days?|weeks?|months?|years?)\s+from\s+"
            r"(?:now|today)\b"
        ),
        _read_span,
    ),
    (
        pattern(
            rf"{BY}(?:at\s+)?\b(?:the\s+)?end of (?:the\s+)?(?P<which>this|next)?\s*"
            r"(?P<period>day|week|month|year)\b"
        ),
        _read_end,
    ),
    (
        pattern(rf"{BY}\b(?P<which>next|this|at the)\s+(?P<period>weekend|week|month|year)\b"),
        _read_period,
    ),
    (
        pattern(r"\b(?:on|by|before|until|due)\s+the\s+(?P<number>[12]?\d|3[01])(?:st|nd|rd|th)\b"),
        _read_day_of_month,
    ),
)
