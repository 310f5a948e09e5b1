"""Values of entities and tokens, in the form in which skills get answers."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any, Final

import msgspec

from prolocutor.dialog.rounds import Ask

_TEXTS: Final[dict[str, Ask]] = {
    "QUOTED_STRING": "raw_string",
    "USERNAME": "raw_string",
    "HASHTAG": "raw_string",
    "URL": "raw_string",
    "PATH_NAME": "raw_string",
    "PHONE_NUMBER": "phone_number",
    "EMAIL_ADDRESS": "email_address",
    "PICTURE": "picture",
}
_ENTITY_ASKS: Final[dict[str, Ask]] = {
    "tt:picture": "picture",
    "tt:phone_number": "phone_number",
    "tt:email_address": "email_address",
    "tt:contact": "contact",
}
_DAY: Final = ("year", "month", "day")
_CLOCK: Final = ("hour", "minute", "second")


class ParsedValue(msgspec.Struct, frozen=True):
    """A value, and its ask.

    An incomplete date is the object of its parts; missing parts are today's in the person's time
    zone.
    """

    value: Any
    kind: Ask


def read_entity(kind: str, value: Any) -> ParsedValue | None:
    """Return the value of an entity of a kind (`NUMBER`, `MEASURE_km`); None if it is none."""
    if kind in _TEXTS:
        return ParsedValue(value, _TEXTS[kind]) if isinstance(value, str) else None
    if kind == "NUMBER":
        return ParsedValue(value, "number") if _is_number(value) else None
    if kind == "DATE":
        return read_date_entity(value)
    if not isinstance(value, dict):
        return None
    if kind in {"DURATION", "CURRENCY"} or kind.startswith("MEASURE_"):
        return _measure(value, kind)
    if kind == "TIME":
        return read_time_entity([value.get(name) or 0 for name in _CLOCK])
    if kind == "LOCATION":
        return read_coordinates(value.get("latitude"), value.get("longitude"), value.get("display"))
    if kind.startswith("GENERIC_ENTITY_"):
        named = value.get("value")
        named = value.get("display") if named is None else named
        return read_typed_entity(named, kind.removeprefix("GENERIC_ENTITY_"))
    return None


def read_typed_entity(value: Any, type_name: str) -> ParsedValue | None:
    """Return the value of a text with the type of its entity (`tt:contact`)."""
    if not isinstance(value, str):
        return None
    return ParsedValue(value, _ENTITY_ASKS.get(type_name, "raw_string"))


def read_time_entity(parts: list[Any]) -> ParsedValue | None:
    """Return the value of hour, minute and second."""
    time = time_of_value(dict(zip(_CLOCK, parts, strict=False)))
    return None if time is None else ParsedValue(time.isoformat(), "time")


def time_of_value(value: object) -> dt.time | None:
    """Return the time of day of ISO 8601 or of `{hour, minute, second}`, in whole seconds."""
    try:
        if isinstance(value, dict):
            hour, minute, second = (value.get(name) or 0 for name in ("hour", "minute", "second"))
            return dt.time(int(hour), int(minute), int(second))
        if isinstance(value, str) and len(value) <= 20:
            return dt.time.fromisoformat(value).replace(microsecond=0, tzinfo=None)
    except (ValueError, TypeError, OverflowError):
        return None
    return None


def read_date_entity(value: Any) -> ParsedValue | None:
    """Return the value of ISO 8601, or of `{year, month, day}` with -1 for a missing part."""
    if isinstance(value, str):
        return ParsedValue(value, "date")
    if not isinstance(value, dict):
        return None
    day_parts = {name: value.get(name) for name in _DAY}
    try:
        parts = {name: int(part) for name, part in day_parts.items() if part not in (None, -1)}
        if len(parts) < len(_DAY):
            return ParsedValue(parts, "date")
        return ParsedValue(dt.date(*parts.values()).isoformat(), "date")
    except (ValueError, TypeError, OverflowError):
        return None


def read_coordinates(latitude: Any, longitude: Any, display: Any) -> ParsedValue | None:
    """Return the value of coordinates in degrees."""
    if not (_is_number(latitude) and _is_number(longitude)):
        return None
    if abs(latitude) > 90 or abs(longitude) > 180:
        return None
    named = display if isinstance(display, str) and display else f"{latitude}, {longitude}"
    return ParsedValue({"latitude": latitude, "longitude": longitude, "display": named}, "location")


def make_place(name: str) -> ParsedValue:
    """Return the value of a named place: "home", or "current_location", which is here."""
    display = {"current_location": "here"}.get(name, name)
    return ParsedValue({"latitude": None, "longitude": None, "display": display}, "location")


def _measure(value: dict[str, Any], kind: str) -> ParsedValue | None:
    unit = value.get("unit") or kind.removeprefix("MEASURE_")
    if not isinstance(unit, str) or not _is_number(value.get("value")):
        return None
    return ParsedValue({"value": value["value"], "unit": unit}, "generic")


def _is_number(value: Any) -> bool:
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    return whole and abs(value) < 2**1000 and math.isfinite(value)
