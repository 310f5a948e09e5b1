"""Values of ThingTalk as JSON: the shapes in which skills are given and give values."""

from __future__ import annotations

from typing import Any

from prolocutor.almond.thingtalk.values import (
    ArrayValue,
    BooleanValue,
    CurrencyValue,
    DateValue,
    EntityValue,
    EnumValue,
    Instant,
    LocationValue,
    MeasureValue,
    NamedLocation,
    NumberValue,
    ObjectValue,
    StringValue,
    TimeValue,
    Value,
)
from prolocutor.reading import units


def plain(value: Value) -> Any:
    """Return a constant as JSON.

    Texts, words of an enum, numbers and booleans are themselves; a measure is the number in its
    base unit; money is `{"value", "code"}`; a time `HH:MM:SS`; a whole date `YYYY-MM-DD`, with a
    time `YYYY-MM-DDTHH:MM:SS`; a moment ISO in UTC; a location
    `{"latitude", "longitude", "display"}`; an entity its value, or its display name; a list and an
    object what is in them. What only the person's surroundings can tell is None.
    """
    match value:
        case StringValue(text) | EnumValue(text) | NamedLocation(text):
            return text
        case NumberValue(number):
            return number
        case BooleanValue(truth):
            return truth
        case MeasureValue(number, unit):
            return units.to_base(number, unit)
        case CurrencyValue(number, code):
            return {"value": number, "code": code}
        case TimeValue():
            return time_text(value)
        case DateValue(year=int(), month=int(), day=int()):
            return _date_text(value)
        case Instant(at):
            return at.isoformat().replace("+00:00", "Z")
        case LocationValue(latitude, longitude, display):
            return {"latitude": latitude, "longitude": longitude, "display": display}
        case EntityValue(text, _, display):
            return text if text is not None else display
        case ArrayValue(items):
            return [plain(item) for item in items]
        case ObjectValue(fields):
            return {name: plain(inner) for name, inner in fields}
        case _:
            return None


def is_constant(value: Value) -> bool:
    """Return whether `plain` gives the value itself, not only a None in its place."""
    if isinstance(value, ArrayValue):
        return all(is_constant(item) for item in value.items)
    if isinstance(value, ObjectValue):
        return all(is_constant(inner) for _, inner in value.fields)
    return plain(value) is not None


def time_text(time: TimeValue) -> str:
    """Return a time of day as `HH:MM:SS`."""
    return f"{time.hour:02}:{time.minute:02}:{time.second:02}"


def _date_text(date: DateValue) -> str:
    text = f"{date.year:04}-{date.month:02}-{date.day:02}"
    return f"{text}T{time_text(date.time)}" if date.time else text
