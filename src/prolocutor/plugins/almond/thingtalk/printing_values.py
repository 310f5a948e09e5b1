"""Prints values in the canonical form."""

from __future__ import annotations

import re

from prolocutor.plugins.almond.thingtalk.values import (
    ArrayValue,
    BooleanValue,
    ContextRef,
    CurrencyValue,
    DateEdge,
    DateValue,
    EntityValue,
    EnumValue,
    EventValue,
    Instant,
    LocationValue,
    MeasureValue,
    NamedLocation,
    NamedTime,
    Now,
    NumberValue,
    ObjectValue,
    RelativeLocation,
    StringValue,
    TimeValue,
    UndefinedValue,
    Value,
    Variable,
    WeekDay,
)

_TO_ESCAPE = re.compile(r'["\\\x00-\x1f\x7f\u0085\u2028\u2029]')
_WRITTEN = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def show_value(value: Value) -> str:
    """Return a value as source."""
    match value:
        case StringValue(text):
            return escape(text)
        case NumberValue(number):
            return _number(number)
        case BooleanValue(truth):
            return "true" if truth else "false"
        case EnumValue(name):
            return f"enum {name}"
        case MeasureValue(number, unit):
            return f"{_number(number)}{unit}"
        case CurrencyValue(number, code):
            return f"{_number(number)}${code}"
        case EntityValue():
            return _entity(value)
        case ArrayValue(items):
            return f"[{', '.join(map(show_value, items))}]"
        case ObjectValue(fields):
            return "{" + ", ".join(f"{name}={show_value(inner)}" for name, inner in fields) + "}"
        case UndefinedValue():
            return "$?"
        case ContextRef(name, kind):
            return f"$context.{name} : {kind}"
        case Variable(name):
            return name
        case EventValue(name):
            return f"${name or 'result'}"
        case _:
            return _time_or_place(value)


def _time_or_place(value: Value) -> str:
    match value:
        case TimeValue(hour, minute, second):
            return f"new Time({hour}, {minute}{f', {second}' if second else ''})"
        case NamedTime(name):
            return f"$time.{name}"
        case DateValue(year, month, day, clock):
            given = ", ".join("" if part is None else str(part) for part in (year, month, day))
            return f"new Date({given}{_and_time(clock)})"
        case WeekDay(name, clock):
            return f"new Date(enum {name}{_and_time(clock)})"
        case Instant(at):
            return f'new Date("{at.isoformat().replace("+00:00", "Z")}")'
        case Now():
            return "$now"
        case DateEdge(edge, unit):
            return f"${edge}({unit})"
        case LocationValue(latitude, longitude, display):
            shown = f", {escape(display)}" if display is not None else ""
            return f"new Location({_number(latitude)}, {_number(longitude)}{shown})"
        case NamedLocation(name):
            return f"new Location({escape(name)})"
        case RelativeLocation(name):
            return f"$location.{name}"
    raise TypeError(f"{type(value).__name__} is not a value of ThingTalk")


def _and_time(clock: TimeValue | None) -> str:
    return f", {show_value(clock)}" if clock is not None else ""


def _entity(entity: EntityValue) -> str:
    value = escape(entity.value) if entity.value is not None else "null"
    shown = f"({escape(entity.display)})" if entity.display is not None else ""
    return f"{value}^^{entity.kind}{shown}"


def _number(number: float) -> str:
    whole = int(number) if number == int(number) and abs(number) < 2**53 else number
    return repr(whole)


def escape(text: str) -> str:
    """Return a text as a string literal, in double quotation marks, on a single line."""
    return '"' + _TO_ESCAPE.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _WRITTEN.get(char) or (
        f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
    )
