"""Values of ThingTalk, and functions that make them within their bounds."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

from prolocutor.plugins.almond.thingtalk import units
from prolocutor.plugins.almond.thingtalk.nodes import NOWHERE, SourcePosition, SyntaxNode, fault
from prolocutor.plugins.almond.thingtalk.types import Type

_COARSE = ("h", "day", "week", "mon", "year")


class StringValue(SyntaxNode, frozen=True):
    """A text."""

    value: str


class NumberValue(SyntaxNode, frozen=True):
    """A finite number; whole numbers are ints."""

    value: int | float


class BooleanValue(SyntaxNode, frozen=True):
    """True or false."""

    value: bool


class EnumValue(SyntaxNode, frozen=True):
    """One of a fixed list of words."""

    name: str


class MeasureValue(SyntaxNode, frozen=True):
    """A number with a unit of `units.py`, as written; `units.to_base` converts it."""

    value: int | float
    unit: str


class CurrencyValue(SyntaxNode, frozen=True):
    """An amount of money; `code` is from ISO 4217 in small letters."""

    value: int | float
    code: str


class TimeValue(SyntaxNode, frozen=True):
    """A time of day in the person's time zone."""

    hour: int
    minute: int
    second: int = 0


class NamedTime(SyntaxNode, frozen=True):
    """A time of day named by the person: `morning`, `evening`."""

    name: str


class DateValue(SyntaxNode, frozen=True):
    """A date, or a part of a date, in the person's time zone.

    A missing part before a given part is the present, a later part the first: without a year this
    year, without a day the first of the month. Without a time it is the beginning of the day.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    time: TimeValue | None = None


class WeekDay(SyntaxNode, frozen=True):
    """The next day of a name (`monday`), from today on."""

    name: str
    time: TimeValue | None = None


class Instant(SyntaxNode, frozen=True):
    """A moment in UTC, independent of time zones."""

    at: dt.datetime


class Now(SyntaxNode, frozen=True):
    """The moment at which the program runs."""


class DateEdge(SyntaxNode, frozen=True):
    """The moment at which the present hour, day, week, month or year begins or ends."""

    edge: Literal["start_of", "end_of"]
    unit: str


class LocationValue(SyntaxNode, frozen=True):
    """A place on earth, in degrees."""

    latitude: float
    longitude: float
    display: str | None = None


class NamedLocation(SyntaxNode, frozen=True):
    """A place that is known by a name only and has to be looked up."""

    name: str


class RelativeLocation(SyntaxNode, frozen=True):
    """A place of the person's: `home`, `work`, `current_location`."""

    name: str


class EntityValue(SyntaxNode, frozen=True):
    """A thing of a kind, such as `tt:url`; without a value it has only a display name."""

    value: str | None
    kind: str
    display: str | None = None


class ArrayValue(SyntaxNode, frozen=True):
    """A list of values."""

    items: tuple[Value, ...]


class ObjectValue(SyntaxNode, frozen=True):
    """Named values; annotations of manifests hold them."""

    fields: tuple[tuple[str, Value], ...]


class UndefinedValue(SyntaxNode, frozen=True):
    """A missing value, for which the person has to be asked."""


class ContextRef(SyntaxNode, frozen=True):
    """A value from the context of the client, such as the selected text."""

    name: str
    type: Type


class Variable(SyntaxNode, frozen=True):
    """An output of an earlier call of the chain, or a field of a filtered result: `a` or `a.b`."""

    name: str


class EventValue(SyntaxNode, frozen=True):
    """The result of an earlier call as text; or its type, program or source."""

    name: Literal["type", "program_id", "source"] | None = None


Value: TypeAlias = (
    StringValue
    | NumberValue
    | BooleanValue
    | EnumValue
    | MeasureValue
    | CurrencyValue
    | TimeValue
    | NamedTime
    | DateValue
    | WeekDay
    | Instant
    | Now
    | DateEdge
    | LocationValue
    | NamedLocation
    | RelativeLocation
    | EntityValue
    | ArrayValue
    | ObjectValue
    | UndefinedValue
    | ContextRef
    | Variable
    | EventValue
)


def measure(value: float, unit: str, position: SourcePosition = NOWHERE) -> MeasureValue:
    """Return a measure; `ThingTalkError` for an unknown unit."""
    if units.base_unit(unit) is None:
        raise fault(
            f"{unit!s:.40} is not a unit",
            position,
            "units are those of Thingpedia, such as C, F, km, h",
        )
    return MeasureValue(value, unit, position=position)


def time(parts: list[float], position: SourcePosition = NOWHERE) -> TimeValue:
    """Return a time of day from its hour, minute and second; `ThingTalkError` out of bounds."""
    for part, bound, name in zip(parts, (23, 59, 59), ("hour", "minute", "second"), strict=False):
        if part != int(part) or not 0 <= part <= bound:
            raise fault(f"{part:g} is no {name}", position, f"it is a whole number up to {bound}")
    return TimeValue(*map(int, parts), position=position)


def location(
    latitude: float, longitude: float, display: str | None, position: SourcePosition = NOWHERE
) -> LocationValue:
    """Return a location in degrees; raise `ThingTalkError` for degrees out of range."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise fault(
            f"({latitude:g}, {longitude:g}) is not on earth",
            position,
            "latitude goes from -90 to 90, longitude from -180 to 180",
        )
    return LocationValue(latitude, longitude, display, position=position)


def date_edge(edge: str, unit: str, position: SourcePosition) -> DateEdge:
    """Return the start or end of a unit of time; `ThingTalkError` for units below an hour."""
    if unit not in _COARSE:
        raise fault(f"{edge}({unit}) means nothing", position, f"units are {', '.join(_COARSE)}")
    return DateEdge(cast(Literal["start_of", "end_of"], edge), unit, position=position)


def iso_date(text: str, position: SourcePosition = NOWHERE) -> Value:
    """Read a date of ISO 8601: with an offset a moment, else a date in the person's time zone."""
    day = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", text.strip())
    if day:
        return calendar_date([int(part) for part in day.groups()], None, position)
    try:
        moment = dt.datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            clock = TimeValue(moment.hour, moment.minute, moment.second)
            return DateValue(moment.year, moment.month, moment.day, clock, position=position)
        return Instant(moment.astimezone(dt.UTC), position=position)
    except (ValueError, OverflowError):
        raise fault(
            f"{text!r:.40} is not a date",
            position,
            "write it as 2026-05-31 or 2026-05-31T12:00:00Z",
        ) from None


def calendar_date(
    parts: Sequence[int | None], clock: TimeValue | None, position: SourcePosition = NOWHERE
) -> DateValue:
    """Return a date of a year, month and day; a year of two digits is from 1950 to 2049.

    Raise `ThingTalkError` for a date that does not exist.
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
        raise fault("there is no such date", position, "write new Date(year, month, day)") from None
    return DateValue(year, month, day, clock, position=position)
