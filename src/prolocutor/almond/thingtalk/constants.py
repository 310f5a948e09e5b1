"""Making values out of their parts, in bounds or not at all: measures, places, dates, times."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Literal, cast

from prolocutor.almond.thingtalk.nodes import NOWHERE, SourcePosition, fault
from prolocutor.almond.thingtalk.values import (
    DateEdge,
    DateValue,
    Instant,
    LocationValue,
    MeasureValue,
    TimeValue,
    Value,
)
from prolocutor.reading import units

_COARSE = ("h", "day", "week", "mon", "year")


def measure(value: float, unit: str, place: SourcePosition = NOWHERE) -> MeasureValue:
    """Return a measure; `ThingTalkError` for an unknown unit."""
    if units.base_of(unit) is None:
        raise fault(
            f"{unit:.40} is no unit", place, "units are those of Thingpedia, such as C, F, km, h"
        )
    return MeasureValue(value, unit, place=place)


def time(parts: list[float], place: SourcePosition = NOWHERE) -> TimeValue:
    """Return a time of day from its hour, minute and second; `ThingTalkError` out of bounds."""
    for part, bound, name in zip(parts, (23, 59, 59), ("hour", "minute", "second"), strict=False):
        if part != int(part) or not 0 <= part <= bound:
            raise fault(f"{part:g} is no {name}", place, f"it is a whole number up to {bound}")
    return TimeValue(*map(int, parts), place=place)


def location(
    latitude: float, longitude: float, display: str | None, place: SourcePosition = NOWHERE
) -> LocationValue:
    """Return a location in degrees; `ThingTalkError` for a place that is not on earth."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise fault(
            f"({latitude:g}, {longitude:g}) is not on earth",
            place,
            "latitude goes from -90 to 90, longitude from -180 to 180",
        )
    return LocationValue(latitude, longitude, display, place=place)


def date_edge(edge: str, unit: str, place: SourcePosition) -> DateEdge:
    """Return the begin or the end of a unit of time; `ThingTalkError` for seconds and the like."""
    if unit not in _COARSE:
        raise fault(f"{edge}({unit}) means nothing", place, f"units are {', '.join(_COARSE)}")
    return DateEdge(cast(Literal["start_of", "end_of"], edge), unit, place=place)


def iso_date(text: str, place: SourcePosition = NOWHERE) -> Value:
    """Read a date of ISO 8601: with an offset a moment, without one a date of the person's."""
    day = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", text.strip())
    if day:
        return calendar_date([int(part) for part in day.groups()], None, place)
    try:
        moment = dt.datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            clock = TimeValue(moment.hour, moment.minute, moment.second)
            return DateValue(moment.year, moment.month, moment.day, clock, place=place)
        return Instant(moment.astimezone(dt.UTC), place=place)
    except (ValueError, OverflowError):
        raise fault(
            f"{text:.40!r} is no date", place, "write it as 2026-05-31 or 2026-05-31T12:00:00Z"
        ) from None


def calendar_date(
    parts: Sequence[int | None], clock: TimeValue | None, place: SourcePosition = NOWHERE
) -> DateValue:
    """Return a date of a year, month and day; a year of two digits is one from 1950 to 2049.

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
    return DateValue(year, month, day, clock, place=place)
