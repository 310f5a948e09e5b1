"""Making values out of their parts, in bounds or not at all: measures, places, dates, times."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from typing import Any, Literal, cast

from lark import Token

from prolocutor.thingtalk import units
from prolocutor.thingtalk.places import NOWHERE, Place, fault
from prolocutor.thingtalk.values import (
    Date,
    DateEdge,
    Enum,
    Instant,
    Location,
    Measure,
    Now,
    Time,
    Value,
    WeekDay,
)

WEEK_DAYS = tuple(name.lower() for name in calendar.day_name)
_COARSE = ("h", "day", "week", "mon", "year")


def measure(value: float, unit: str, place: Place = NOWHERE) -> Measure:
    """Give a measure; `ThingTalkError` for an unknown unit."""
    if units.base_of(unit) is None:
        raise fault(
            f"{unit:.40} is no unit", place, "units are those of Thingpedia, such as C, F, km, h"
        )
    return Measure(value, unit, place=place)


def time(parts: list[float], place: Place = NOWHERE) -> Time:
    """Give a time of day from its hour, minute and second; `ThingTalkError` out of bounds."""
    for part, bound, name in zip(parts, (23, 59, 59), ("hour", "minute", "second"), strict=False):
        if part != int(part) or not 0 <= part <= bound:
            raise fault(f"{part:g} is no {name}", place, f"it is a whole number up to {bound}")
    return Time(*map(int, parts), place=place)


def location(
    latitude: float, longitude: float, display: str | None, place: Place = NOWHERE
) -> Location:
    """Give a location in degrees; `ThingTalkError` for a place that is not on earth."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise fault(
            f"({latitude:g}, {longitude:g}) is not on earth",
            place,
            "latitude goes from -90 to 90, longitude from -180 to 180",
        )
    return Location(latitude, longitude, display, place=place)


def date_edge(edge: str, unit: str, place: Place) -> DateEdge:
    """Give the begin or the end of a unit of time; `ThingTalkError` for seconds and the like."""
    if unit not in _COARSE:
        raise fault(f"{edge}({unit}) means nothing", place, f"units are {', '.join(_COARSE)}")
    return DateEdge(cast(Literal["start_of", "end_of"], edge), unit, place=place)


def date(parts: list[Any], place: Place = NOWHERE) -> Value:
    """Give a date from what stands between the parentheses of `new Date(...)`.

    Nothing: now. A text: ISO 8601. One number beyond all years: milliseconds since 1970. Else
    year, month and day, each of which may be left out, or a day of the week; then hour, minute and
    second, or a time. Commas are tokens among the parts.
    """
    if not parts:
        return Now(place=place)
    slots = _between_commas(parts, place)
    first = slots[0]
    if isinstance(first, Enum):
        return _week_day(first, slots[1:], place)
    if len(slots) == 1 and isinstance(first, Token) and first.type == "STRING":
        return iso_date(first.value, place)
    clock = slots.pop() if isinstance(slots[-1], Time) else None
    numbers = [_whole(slot, place) for slot in slots]
    while len(numbers) < 3:
        numbers.append(None)
    if clock is None and len(numbers) in (5, 6) and None not in numbers[3:]:
        clock = time([part for part in numbers[3:] if part is not None], place)
        numbers = numbers[:3]
    if len(numbers) == 4 and numbers[3] is None:
        numbers.pop()
    if len(numbers) != 3 or (numbers == [None] * 3):
        raise fault("these are not the parts of a date", place, "write new Date(2026, 5, 31)")
    if len(slots) == 1 and numbers[0] is not None and not -10_000 <= numbers[0] < 3_000:
        return _instant(numbers[0], place)
    return calendar_date(numbers, clock, place)


def iso_date(text: str, place: Place = NOWHERE) -> Value:
    """Read a date of ISO 8601: with an offset a moment, without one a date of the person's."""
    day = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", text.strip())
    if day:
        return calendar_date([int(part) for part in day.groups()], None, place)
    try:
        moment = dt.datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            clock = Time(moment.hour, moment.minute, moment.second)
            return Date(moment.year, moment.month, moment.day, clock, place=place)
        return Instant(moment.astimezone(dt.UTC), place=place)
    except (ValueError, OverflowError):
        raise fault(
            f"{text:.40!r} is no date", place, "write it as 2026-05-31 or 2026-05-31T12:00:00Z"
        ) from None


def calendar_date(parts: Sequence[int | None], clock: Time | None, place: Place = NOWHERE) -> Date:
    """Give a date of a year, month and day; a year of two digits is one from 1950 to 2049.

    `ThingTalkError` for one that no calendar has.
    """
    year, month, day = parts
    if year is not None and 0 <= year < 100:
        year += 1900 if year >= 50 else 2000
    try:
        dt.date(
            2000 if year is None else year,
            1 if month is None else month,
            1 if day is None else day,
        )
    except (ValueError, OverflowError):
        raise fault("there is no such date", place, "write new Date(year, month, day)") from None
    return Date(year, month, day, clock, place=place)


def _between_commas(parts: list[Any], place: Place) -> list[Any]:
    slots: list[Any] = [None]
    for part in parts:
        if isinstance(part, Token) and part.type == "COMMA":
            slots.append(None)
        elif slots[-1] is None:
            slots[-1] = part
        else:
            raise fault("the parts of a date are separated by commas", place)
    return slots


def _week_day(name: Enum, rest: list[Any], place: Place) -> WeekDay:
    if name.name not in WEEK_DAYS:
        raise fault(f"{name.name:.40} is no day of the week", name.place, "write enum(monday)")
    clock: Time | None = None
    if rest and isinstance(rest[0], Time):
        clock = rest.pop(0)
    elif rest and rest != [None]:
        numbers = [_whole(part, place) for part in rest if part is not None]
        clock = time([part for part in numbers if part is not None], place)
        rest = []
    if any(part is not None for part in rest):
        raise fault("a day of the week is followed by a time at most", place)
    return WeekDay(name.name, clock, place=place)


def _whole(part: Any, place: Place) -> int | None:
    if part is None:
        return None
    if isinstance(part, Token) and part.type == "NUMBER" and part.value == int(part.value):
        return int(part.value)
    raise fault("a part of a date is a whole number", place, "write new Date(2026, 5, 31)")


def _instant(milliseconds: int, place: Place) -> Instant:
    try:
        moment = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise fault(f"{milliseconds} ms after 1970 is no date", place) from None
    return Instant(moment, place=place)
