"""Dates as they are written: what stands between the parentheses of `new Date(...)`."""

from __future__ import annotations

import calendar
import datetime as dt
from typing import Any

from lark import Token

from prolocutor.almond.thingtalk.constants import calendar_date, iso_date, time
from prolocutor.almond.thingtalk.nodes import NOWHERE, SourcePosition, fault
from prolocutor.almond.thingtalk.values import EnumValue, Instant, Now, TimeValue, Value, WeekDay

WEEK_DAYS = tuple(name.lower() for name in calendar.day_name)


def date(parts: list[Any], place: SourcePosition = NOWHERE) -> Value:
    """Return a date from what stands between the parentheses of `new Date(...)`.

    Nothing: now. A text: ISO 8601. One number beyond all years: milliseconds since 1970. Else
    year, month and day, each of which may be left out, or a day of the week; then hour, minute and
    second, or a time. Commas are tokens among the parts.
    """
    if not parts:
        return Now(place=place)
    slots = _between_commas(parts, place)
    first = slots[0]
    if isinstance(first, EnumValue):
        return _week_day(first, slots[1:], place)
    if len(slots) == 1 and isinstance(first, Token) and first.type == "STRING":
        return iso_date(first.value, place)
    clock = slots.pop() if isinstance(slots[-1], TimeValue) else None
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


def _between_commas(parts: list[Any], place: SourcePosition) -> list[Any]:
    slots: list[Any] = [None]
    for part in parts:
        if isinstance(part, Token) and part.type == "COMMA":
            slots.append(None)
        elif slots[-1] is None:
            slots[-1] = part
        else:
            raise fault("the parts of a date are separated by commas", place)
    return slots


def _week_day(name: EnumValue, rest: list[Any], place: SourcePosition) -> WeekDay:
    if name.name not in WEEK_DAYS:
        raise fault(f"{name.name:.40} is no day of the week", name.place, "write enum(monday)")
    clock: TimeValue | None = None
    if rest and isinstance(rest[0], TimeValue):
        clock = rest.pop(0)
    elif rest and rest != [None]:
        numbers = [_whole(part, place) for part in rest if part is not None]
        clock = time([part for part in numbers if part is not None], place)
        rest = []
    if any(part is not None for part in rest):
        raise fault("a day of the week is followed by a time at most", place)
    return WeekDay(name.name, clock, place=place)


def _whole(part: Any, place: SourcePosition) -> int | None:
    if part is None:
        return None
    if isinstance(part, Token) and part.type == "NUMBER" and part.value == int(part.value):
        return int(part.value)
    raise fault("a part of a date is a whole number", place, "write new Date(2026, 5, 31)")


def _instant(milliseconds: int, place: SourcePosition) -> Instant:
    try:
        moment = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise fault(f"{milliseconds} ms after 1970 is no date", place) from None
    return Instant(moment, place=place)
