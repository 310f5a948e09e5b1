"""Which types fit where: what may be given for a parameter, and what can be compared how."""

from __future__ import annotations

from prolocutor.almond.thingtalk.tree import Comparison
from prolocutor.almond.thingtalk.types import (
    ANY,
    BOOLEAN,
    CURRENCY,
    DATE,
    LOCATION,
    NUMBER,
    STRING,
    TIME,
    Type,
    array,
    entity,
)
from prolocutor.almond.thingtalk.values import (
    BooleanValue,
    ContextRef,
    CurrencyValue,
    DateEdge,
    DateValue,
    EntityValue,
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
    Value,
    WeekDay,
)
from prolocutor.reading import units

_ORDERED = frozenset({"Number", "Measure", "Currency", "Date", "Time"})
_TEXTUAL = frozenset({"String", "Entity", "Any"})

_SUBTYPES: dict[str, frozenset[str]] = {
    "tt:contact": frozenset({"tt:phone_number", "tt:email_address", "tt:username"}),
    "tt:url": frozenset({"tt:picture", "tt:audio_url", "tt:video", "tt:rdf_resource"}),
    "tt:picture": frozenset({"tt:url"}),
}

_EVENTS = {None: STRING} | {
    "type": entity("tt:function"),
    "program_id": entity("tt:program_id"),
    "source": entity("tt:contact"),
}


def fits(given: Type, wanted: Type) -> bool:
    """Return whether a value of one type may stand where another is wanted.

    Beside equal types: a number for money, a date for a time, a text for an entity and an entity
    for a text, an entity for one of a wider kind, an enum with fewer choices, lists of what fits.
    """
    if given == wanted or "Any" in (given.name, wanted.name):
        return True
    match given.name, wanted.name:
        case (
            ("Number", "Currency") | ("Date", "Time") | ("String", "Entity") | ("Entity", "String")
        ):
            return True
        case "Entity", "Entity":
            return given.of in _SUBTYPES.get(wanted.of, frozenset())
        case "Measure", "Measure":
            return "" in (given.of, wanted.of)
        case "Enum", "Enum":
            return set(given.choices) <= set(wanted.choices)
        case "Array", "Array":
            return fits(given.element or ANY, wanted.element or ANY)
        case ("Object", "Compound") | ("Compound", "Object") | ("Compound", "Compound"):
            return True
    return False


def type_of(value: Value) -> Type | None:
    """Return the type of a value that has one by itself; None for enums, lists, fields, slots."""
    match value:
        case StringValue():
            return STRING
        case NumberValue():
            return NUMBER
        case BooleanValue():
            return BOOLEAN
        case MeasureValue(_, unit):
            return Type("Measure", of=units.base_of(unit) or "")
        case CurrencyValue():
            return CURRENCY
        case DateValue() | WeekDay() | Instant() | Now() | DateEdge():
            return DATE
        case TimeValue() | NamedTime():
            return TIME
        case LocationValue() | NamedLocation() | RelativeLocation():
            return LOCATION
        case EntityValue(_, kind):
            return entity(kind)
        case ObjectValue():
            return Type("Object")
        case ContextRef(_, kind):
            return kind
        case EventValue(name):
            return _EVENTS[name]
    return None


def right_of(left: Type, operator: Comparison) -> Type | None:
    """Return the type that the right side of a comparison needs; None where it cannot be so."""
    match operator:
        case "==":
            return left
        case ">=" | "<=" | ">" | "<":
            return left if left.name in _ORDERED or left == ANY else None
        case "contains":
            return left.element if left.name == "Array" else None
        case "contains~" | "~contains":
            held = left.element if left.name == "Array" else None
            return STRING if held is not None and held.name in _TEXTUAL else None
        case "in_array":
            return array(left)
        case "in_array~" | "~in_array":
            return array(STRING) if left.name in _TEXTUAL else None
        case _:
            return STRING if left.name in _TEXTUAL else None
