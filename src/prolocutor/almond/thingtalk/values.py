"""Values of ThingTalk: every kind of thing that a parameter or a comparison can hold."""

from __future__ import annotations

import datetime as dt
from typing import Literal, TypeAlias

from prolocutor.almond.thingtalk.nodes import SyntaxNode
from prolocutor.almond.thingtalk.types import Type


class StringValue(SyntaxNode, frozen=True):
    """A text."""

    value: str


class NumberValue(SyntaxNode, frozen=True):
    """A finite number; whole ones are ints."""

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
    """An amount of money; `code` is that of ISO 4217 in small letters."""

    value: int | float
    code: str


class TimeValue(SyntaxNode, frozen=True):
    """A time of day in the person's time zone."""

    hour: int
    minute: int
    second: int = 0


class NamedTime(SyntaxNode, frozen=True):
    """A time of day that the person has given a name: `morning`, `evening`."""

    name: str


class DateValue(SyntaxNode, frozen=True):
    """A date, or a part of one, in the person's time zone.

    A part left out is the present one if it stands before a given part, else the first: without a
    year this year, without a day the first of the month. Without a time the day begins.
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
    """A moment that no time zone changes, in UTC."""

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
    """A thing of a kind, such as `tt:url`; without a value it is known by its display name only."""

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
    """A value that is not given yet: the person has to be asked for it."""


class ContextRef(SyntaxNode, frozen=True):
    """A value that the surroundings give, such as the selected text."""

    name: str
    type: Type


class Variable(SyntaxNode, frozen=True):
    """An output of an earlier call of the chain, or a field of what is filtered: `a` or `a.b`."""

    name: str


class EventValue(SyntaxNode, frozen=True):
    """What an earlier call of the chain gave, as one text; or its type, program or source."""

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
