"""Values of ThingTalk as JSON, in the shapes that skills take and return."""

from __future__ import annotations

from typing import Any

from prolocutor.errors import ThingTalkError
from prolocutor.plugins.almond.thingtalk import units
from prolocutor.plugins.almond.thingtalk.types import Type
from prolocutor.plugins.almond.thingtalk.values import (
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
    calendar_date,
    iso_date,
    location,
    measure,
    time,
)


def plain(value: Value) -> Any:
    """Return a constant as JSON.

    Texts, words of an enum, numbers and booleans stay the same; a measure is the number in its base
    unit; money is `{"value", "code"}`; a time `HH:MM:SS`; a whole date `YYYY-MM-DD`, with a time
    `YYYY-MM-DDTHH:MM:SS`; a moment ISO in UTC; a location `{"latitude", "longitude", "display"}`;
    an entity its value, or its display name; a list and an object their items. Values that depend
    on the person or the moment are None.
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
    """Return whether `plain` returns the value, not None."""
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


def read_json_value(value: Any, kind: Type) -> Value:
    """Return JSON as a value of a type: a result of `plain`, or the value of an answer.

    A measure is a number in its base unit or `{"value", "unit"}`, money `{"value", "code"}` or
    `{"value", "unit"}`; a date ISO 8601 or its parts; a location without degrees is to be looked up
    by its display name. Raise `ThingTalkError` if it is not of the type.
    """
    try:
        return _read_typed(value, kind)
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ThingTalkError(f"{value!r:.60} is no {kind}") from None


def _read_typed(value: Any, kind: Type) -> Value:
    match kind.name:
        case "String" | "Any":
            return StringValue(_text(value))
        case "Number":
            return NumberValue(_number(value))
        case "Boolean" if isinstance(value, bool):
            return BooleanValue(value)
        case "Enum" if value in kind.choices:
            return EnumValue(value)
        case "Measure":
            return _measure(value, kind)
        case "Currency":
            code = value.get("code") or value["unit"]
            return CurrencyValue(_number(value["value"]), _text(code).lower())
        case "Date":
            return _date(value)
        case "Time":
            return time([int(part) for part in _text(value).split(":")])
        case "Location":
            return _location(value)
        case "Entity":
            return EntityValue(_text(value), kind.of)
        case "Array" if kind.element is not None:
            return ArrayValue(tuple(_read_typed(each, kind.element) for each in value))
    raise TypeError


def _measure(value: Any, kind: Type) -> Value:
    if not isinstance(value, dict):
        return measure(_number(value), kind.of)
    if units.base_unit(value["unit"]) != kind.of:
        raise TypeError
    return measure(_number(value["value"]), value["unit"])


def _date(value: Any) -> Value:
    if isinstance(value, str):
        return iso_date(value)
    return calendar_date([value.get(name) for name in ("year", "month", "day")], None)


def _location(value: Any) -> Value:
    display = value.get("display")
    if value.get("latitude") is None:
        return NamedLocation(_text(display))
    shown = None if display is None else _text(display)
    return location(_number(value["latitude"]), _number(value["longitude"]), shown)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value
