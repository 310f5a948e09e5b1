"""Reads locations: coordinates, "here", or the name of a place."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from prolocutor.asks.answers import (
    AnswerContext,
    AskOptions,
    NotUnderstood,
    Outcome,
    Understood,
    UnknownPlace,
)
from prolocutor.dialog.plain import JsonObject
from prolocutor.reading.plain_text import bare, is_name, is_question, original_text

_NUMBER: Final = r"([+-]?\d{1,3}(?:\.\d{1,15})?)\s?°?\s?"
_COORDINATES: Final = re.compile(
    rf"(?:geo:|lat(?:itude)?:? ?)?([ns] ?)?{_NUMBER}([ns]?)"
    rf"[\s,;/]+(?:lon(?:gitude)?:? ?)?([ew] ?)?{_NUMBER}([ew]?)"
)
_COMMAS: Final = re.compile(r"^([+-]?\d+),(\d+)[; ]+([+-]?\d+),(\d+)$")
_ADDRESS: Final = re.compile(r"\d{1,5}[a-z]? (?=\S+ \S)")
_HERE: Final = frozenset(
    "here|right here|over here|my location|my current location|current location|my position"
    "|where i am|where i'm at|this place|around here|near me|near here|nearby".split("|")
)
_LEAD: Final = re.compile(
    r"^(?:i'?m |i am |i live |we'?re |we are |it'?s )?(?:(?:near|close to|next to|around|at|in|to"
    r"|from|on|over in|over at)\s+)?(?:the (?:city|town|village) of )?"
)
_OWN: Final = frozenset({"home", "work"})
"""Places of the person's own, which are asked for once and remembered."""
_UNKNOWN: Final = "I don't know where you are; please name the place, or give its coordinates."


def read(text: str, context: AnswerContext) -> Outcome:
    """Read a location: `{latitude, longitude, display}`.

    A named place has None for both coordinates: names are not looked up here, so the asking skill
    has to find the place by `display`.
    """
    bare_text = bare(text)
    if point := coordinates(bare_text):
        return Understood(point)
    place = _LEAD.sub("", bare_text, count=1)
    if place in _HERE or bare_text in _HERE:
        return Understood(context.here) if context.here else NotUnderstood(_UNKNOWN)
    if (own := place.removeprefix("my ")) in _OWN:
        return _own_place(own, context)
    led = place != bare_text and not is_question(bare_text)
    named = _ADDRESS.sub("", place, count=1)
    if is_name(named, words=10) and (led or named != place or is_name(bare_text, words=10)):
        return Understood(_place(None, None, original_text(text, place)))
    return NotUnderstood(Location.hint)


def take(type_name: str, value: Any, context: AnswerContext) -> Outcome:
    """Take a parsed location, or the name of a place."""
    if type_name == "raw_string" and isinstance(value, str):
        return read(value, context)
    if type_name != "location" or not isinstance(value, dict):
        return NotUnderstood(Location.hint)
    display = value.get("display")
    latitude, longitude = value.get("latitude"), value.get("longitude")
    if latitude is None and longitude is None and isinstance(display, str):
        if display in _HERE:
            return read(display, context)
        if display in _OWN:
            return _own_place(display, context)
        return Understood(_place(None, None, display))
    if not (_is_within(latitude, 90) and _is_within(longitude, 180)):
        return NotUnderstood(Location.hint)
    named = display if isinstance(display, str) and display else f"{latitude}, {longitude}"
    return Understood(_place(latitude, longitude, named))


def _own_place(name: str, context: AnswerContext) -> Outcome:
    place = context.places.get(name)
    return UnknownPlace(name) if place is None else Understood(place)


def coordinates(said: str) -> dict[str, Any] | None:
    """Read "48.1, 11.5" or "48.1 N 11.5 E", in degrees; None for any other plain text."""
    said = _COMMAS.sub(r"\1.\2 \3.\4", said.strip("() "))
    match = _COORDINATES.fullmatch(said)
    if match is None:
        return None
    south = "s" in {(match[1] or "").strip(), match[3]}
    west = "w" in {(match[4] or "").strip(), match[6]}
    latitude = -float(match[2]) if south else float(match[2])
    longitude = -float(match[5]) if west else float(match[5])
    if not (_is_within(latitude, 90) and _is_within(longitude, 180)):
        return None
    return _place(latitude, longitude, f"{latitude:g}, {longitude:g}")


def _place(latitude: float | None, longitude: float | None, display: str) -> dict[str, Any]:
    return {"latitude": latitude, "longitude": longitude, "display": display}


def _is_within(value: Any, most: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -most <= value <= most


class Location(AskOptions, frozen=True):
    """A place, as {latitude, longitude, display}."""

    hint: ClassVar[str] = "I'm looking for a location."
    schema: ClassVar[JsonObject] = {
        "type": "string",
        "description": "A place, or its latitude and longitude.",
    }
    is_name: ClassVar[bool] = True
    read, take = staticmethod(read), staticmethod(take)
