"""From recognised values to their tree: one method a rule of the grammars."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from typing import Any, Literal, cast

from lark import Token, Transformer, v_args

from prolocutor.thingtalk import units
from prolocutor.thingtalk.places import NOWHERE, Place, fault
from prolocutor.thingtalk.types import Type
from prolocutor.thingtalk.values import (
    Array,
    Boolean,
    ContextRef,
    Currency,
    Date,
    DateEdge,
    Entity,
    Enum,
    Event,
    Instant,
    Location,
    Measure,
    NamedLocation,
    NamedTime,
    Now,
    Number,
    Object,
    RelativeLocation,
    String,
    Time,
    Undefined,
    Value,
    Variable,
    WeekDay,
)
from prolocutor.thingtalk.words import place_of

WEEK_DAYS = tuple(name.lower() for name in calendar.day_name)
_COARSE = ("h", "day", "week", "mon", "year")


@v_args(inline=True)
class Values(Transformer[Token, Any]):
    """Builds values; what a rule has found comes as positional arguments."""

    def values(self, *found: Value) -> tuple[Value, ...]:
        return found

    def variable(self, name: Token) -> Variable:
        return Variable(str(name), place=place_of(name))

    def true(self, token: Token) -> Boolean:
        return Boolean(True, place=place_of(token))

    def false(self, token: Token) -> Boolean:
        return Boolean(False, place=place_of(token))

    def string(self, token: Token) -> String:
        return String(token.value, place=place_of(token))

    def number(self, token: Token) -> Number:
        return Number(cast(float, token.value), place=place_of(token))

    def measure(self, token: Token, unit: Token) -> Measure:
        return measure(cast(float, token.value), str(unit), place_of(unit))

    def currency(self, token: Token, code: Token) -> Currency:
        return Currency(cast(float, token.value), str(code.value).lower(), place=place_of(token))

    def enum(self, word: Token) -> Enum:
        return Enum(str(word), place=place_of(word))

    def device(self, token: Token) -> Entity:
        return Entity(token.value, "tt:device", place=place_of(token))

    def entity(self, value: Token, kind: Token, display: Token | None = None) -> Entity:
        shown = display.value if display is not None else None
        return Entity(value.value, kind.value, shown, place=place_of(value))

    def named_entity(self, kind: Token, display: Token) -> Entity:
        return Entity(None, kind.value, display.value, place=place_of(kind))

    def array(self, items: tuple[Value, ...] = ()) -> Array:
        return Array(items)

    def entry(self, name: Token, value: Value) -> tuple[str, Value]:
        return str(name), value

    def object(self, *fields: tuple[str, Value]) -> Object:
        return Object(fields)

    def undefined(self, *_: Token) -> Undefined:
        return Undefined()

    def given(self, token: Token) -> Value:
        return cast(Value, token.value)

    def now(self) -> Now:
        return Now()

    def time(self, new: Token, *parts: Token) -> Time:
        return time([part.value for part in parts], place_of(new))

    def named_time(self, name: Token) -> NamedTime:
        return NamedTime(str(name), place=place_of(name))

    def date(self, new: Token, *parts: Any) -> Value:
        given = [
            part.value if isinstance(part, Token) and part.type == "CONSTANT" else part
            for part in parts
        ]
        return date(given, place_of(new))

    def date_edge(self, edge: Token, unit: Token) -> DateEdge:
        return date_edge(str(edge).removeprefix("$"), str(unit), place_of(unit))

    def location(
        self, new: Token, latitude: Token, longitude: Token, display: Token | None = None
    ) -> Location:
        shown = display.value if display is not None else None
        return location(latitude.value, longitude.value, shown, place_of(new))

    def named_location(self, new: Token, name: Token) -> NamedLocation:
        return NamedLocation(name.value, place=place_of(new))

    def relative_location(self, name: Token) -> RelativeLocation:
        return RelativeLocation(str(name), place=place_of(name))

    def old_context(self, token: Token, name: Token) -> NamedTime | RelativeLocation:
        what, _, which = str(name).partition(".")
        if what == "location" and which:
            return RelativeLocation(which, place=place_of(token))
        if what == "time" and which:
            return NamedTime(which, place=place_of(token))
        raise fault(
            f"$context.{name} lacks its type",
            place_of(name),
            f"write $context.{name} : String, for instance",
        )

    def context(self, token: Token, name: Token, kind: Type) -> Value:
        if str(name).startswith(("location.", "time.")) and kind.name in ("Location", "Time"):
            return self.old_context(token, name)
        return ContextRef(str(name), kind, place=place_of(token))

    def event(self, *tokens: Token) -> Event:
        if not tokens:
            return Event()
        name = str(tokens[0]).removeprefix("$")
        if name not in ("type", "program_id", "source"):
            raise fault(
                f"a result has no {name!r}",
                place_of(tokens[0]),
                "there are $type, $program_id and $source",
            )
        kind = cast(Literal["type", "program_id", "source"], name)
        return Event(kind, place=place_of(tokens[0]))

    @v_args(inline=False)
    def edge(self, children: list[Token]) -> Token:
        return children[0]

    unit = type_word = direction = aggregation = comparison = test = member = source_of = edge

    @v_args(inline=False)
    def name(self, children: list[Token]) -> Token:
        if len(children) == 1:
            return children[0]
        return children[0].update(value=".".join(map(str, children)))


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
