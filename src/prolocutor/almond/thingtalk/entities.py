"""Entities of a parsed command: the values that tokens such as `NUMBER_0` stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lark import Token

from prolocutor.almond.thingtalk.constants import calendar_date, iso_date, location, measure, time
from prolocutor.almond.thingtalk.lexer import LARGEST
from prolocutor.almond.thingtalk.nodes import SourcePosition, fault
from prolocutor.almond.thingtalk.values import CurrencyValue, EntityValue, UndefinedValue, Value
from prolocutor.almond.thingtalk.words import made

_NAME = re.compile(
    r"(QUOTED_STRING|NUMBER|MEASURE_\w+?|DURATION|CURRENCY|DATE|TIME|LOCATION|USERNAME|HASHTAG|URL"
    r"|PHONE_NUMBER|EMAIL_ADDRESS|PATH_NAME|PICTURE|GENERIC_ENTITY_.+|SLOT)_\d+"
)

_TEXTS = frozenset("USERNAME HASHTAG URL PHONE_NUMBER EMAIL_ADDRESS PATH_NAME PICTURE".split())


def is_entity(token: str) -> bool:
    """Return whether a token stands for an entity."""
    return _NAME.fullmatch(token) is not None


def entity_token(name: str, entities: Mapping[str, Any], place: SourcePosition) -> Token:
    """Return the token of what an entity's name stands for.

    `ThingTalkError` where it is not among the entities or not of the shape that its name says. A
    `SLOT_n` without a value is `Undefined`.
    """
    match = _NAME.fullmatch(name)
    kind = match[1] if match else ""
    if kind == "SLOT" and entities.get(name) is None:
        return made("CONSTANT", UndefinedValue(place=place), place, name)
    if name not in entities:
        raise fault(f"the entity {name:.60} has no value", place, "name it among the entities")
    given = entities[name]
    try:
        if kind == "QUOTED_STRING" or (kind == "SLOT" and isinstance(given, str)):
            return made("STRING", _text(given), place, name)
        if kind == "NUMBER" or kind == "SLOT":
            return made("NUMBER", _number(given), place, name)
        return made("CONSTANT", _constant(kind, given, place), place, name)
    except (TypeError, ValueError, KeyError, AttributeError):
        raise fault(
            f"the entity {name:.60} is not of its kind", place, f"send {_SHAPES.get(kind, 'text')}"
        ) from None


_SHAPES = {
    "NUMBER": "a number",
    "DURATION": '{"value", "unit"}',
    "CURRENCY": '{"value", "unit"}',
    "DATE": '{"year", "month", "day"} or ISO 8601',
    "TIME": '{"hour", "minute", "second"}',
    "LOCATION": '{"latitude", "longitude", "display"}',
}


def _constant(kind: str, given: Any, place: SourcePosition) -> Value:
    if kind in _TEXTS:
        return EntityValue(_text(given), f"tt:{kind.lower()}", place=place)
    if kind.startswith("GENERIC_ENTITY_"):
        value, display = given.get("value"), given.get("display")
        return EntityValue(
            None if value is None else _text(value),
            kind.removeprefix("GENERIC_ENTITY_"),
            None if display is None else _text(display),
            place=place,
        )
    if kind == "CURRENCY":
        return CurrencyValue(_number(given["value"]), _text(given["unit"]).lower(), place=place)
    if kind == "DURATION" or kind.startswith("MEASURE_"):
        return measure(_number(given["value"]), _text(given["unit"]), place)
    if kind == "TIME":
        return time(
            [int(given["hour"]), int(given["minute"]), int(given.get("second") or 0)], place
        )
    if kind == "LOCATION":
        display = given.get("display")
        return location(
            _number(given["latitude"]),
            _number(given["longitude"]),
            None if display is None else _text(display),
            place,
        )
    return _date(given, place)


def _date(given: Any, place: SourcePosition) -> Value:
    if isinstance(given, str):
        return iso_date(given, place)
    parts = [given.get(name) for name in ("year", "month", "day")]
    day = [None if part in (None, -1) else int(part) for part in parts]
    clock = [given.get(name) for name in ("hour", "minute", "second")]
    told = any(part not in (None, -1) for part in clock)
    hours = (
        time([0 if part in (None, -1) else int(part) for part in clock], place) if told else None
    )
    return calendar_date(day, hours, place)


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError
    given.encode()
    return given


def _number(given: Any) -> int | float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < LARGEST:
        raise TypeError
    return given
