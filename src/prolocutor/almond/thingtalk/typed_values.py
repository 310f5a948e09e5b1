"""Values of ThingTalk out of JSON: the answer to a question, by the type that was asked for."""

from __future__ import annotations

from typing import Any

from prolocutor.almond.thingtalk.constants import calendar_date, iso_date, location, measure, time
from prolocutor.almond.thingtalk.types import Type
from prolocutor.almond.thingtalk.values import (
    ArrayValue,
    BooleanValue,
    CurrencyValue,
    EntityValue,
    EnumValue,
    NamedLocation,
    NumberValue,
    StringValue,
    Value,
)
from prolocutor.errors import ThingTalkError
from prolocutor.reading import units


def typed(value: Any, kind: Type) -> Value:
    """Make a value of a type out of JSON: what `plain` gives, and what people answer.

    A measure is a number in its base unit or `{"value", "unit"}`, money `{"value", "code"}` or
    `{"value", "unit"}`; a date ISO 8601 or its parts; a location without degrees one that has to
    be looked up by its display name. `ThingTalkError` for what is not of the type.
    """
    try:
        return _typed(value, kind)
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ThingTalkError(f"{value!r:.60} is no {kind}") from None


def _typed(value: Any, kind: Type) -> Value:
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
            return ArrayValue(tuple(_typed(each, kind.element) for each in value))
    raise TypeError


def _measure(value: Any, kind: Type) -> Value:
    if not isinstance(value, dict):
        return measure(_number(value), kind.of)
    if units.base_of(value["unit"]) != kind.of:
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
