"""Control commands of a source as the intents of bookkeeping."""

from __future__ import annotations

from prolocutor.errors import ThingTalkError
from prolocutor.thingtalk.answers import (
    Answer,
    of_date,
    of_entity,
    of_location,
    of_place,
    of_time,
    of_typed,
)
from prolocutor.thingtalk.bookkeeping import Intent
from prolocutor.thingtalk.checked import ask_of
from prolocutor.thingtalk.fitting import type_of
from prolocutor.thingtalk.places import fault
from prolocutor.thingtalk.plain_values import is_constant, plain
from prolocutor.thingtalk.tree import Control
from prolocutor.thingtalk.types import ANY
from prolocutor.thingtalk.values import (
    Currency,
    Date,
    Entity,
    Enum,
    Instant,
    Location,
    Measure,
    NamedLocation,
    Now,
    RelativeLocation,
    Time,
    Value,
)


def intent_of_control(control: Control) -> Intent:
    """Give the intent that a control command means; `ThingTalkError` for an answer of no value."""
    if control.value is None:
        return Intent(control.name)  # type: ignore[arg-type]
    if control.name == "choice":
        return Intent("choice", int(plain(control.value)), "choice")
    answer = _answer(control.value)
    if answer is None:
        raise _no_answer(control.value)
    return Intent("answer", answer.value, answer.kind)


def _answer(value: Value) -> Answer | None:
    match value:
        case Measure(number, unit):
            return of_entity("MEASURE_", {"value": number, "unit": unit})
        case Currency(number, code):
            return of_entity("CURRENCY", {"value": number, "unit": code})
        case Date(year, month, day):
            return of_date({"year": year, "month": month, "day": day})
        case Instant():
            return of_date(plain(value))
        case Now():
            return of_date({})
        case Time(hour, minute, second):
            return of_time([hour, minute, second])
        case Location(latitude, longitude, display):
            return of_location(latitude, longitude, display)
        case NamedLocation(name) | RelativeLocation(name):
            return of_place(name)
        case Entity(text, kind, display):
            return of_typed(text if text is not None else display, kind)
        case Enum(name):
            return Answer(name, "raw_string")
        case _ if is_constant(value):
            return Answer(plain(value), ask_of(type_of(value) or ANY))
    return None


def _no_answer(value: Value) -> ThingTalkError:
    return fault("this is no answer", value.place, 'write a value, as in $answer("yes");')
