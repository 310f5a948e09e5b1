"""Checks the values and conditions of a program, and collects missing values as slots."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from prolocutor.errors import ThingTalkError
from prolocutor.names import did_you_mean
from prolocutor.plugins.almond.thingtalk import units
from prolocutor.plugins.almond.thingtalk.checked import Slot, count_slots
from prolocutor.plugins.almond.thingtalk.nodes import SourcePosition, fault
from prolocutor.plugins.almond.thingtalk.tree import (
    Always,
    And,
    Compare,
    Comparison,
    Condition,
    DontCare,
    Not,
    Or,
)
from prolocutor.plugins.almond.thingtalk.types import (
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

Fields = dict[str, Type]
"""Names and types of the fields of a result."""

_EXAMPLES = {
    "String": 'write a text as "text"',
    "Number": "write a number as 5",
    "Boolean": "write true or false",
    "Measure": "write a measure as 5km",
    "Currency": "write an amount of money as 5$usd",
    "Date": "write a date as new Date(2026, 5, 31)",
    "Time": "write a time as new Time(12, 30)",
    "Location": 'write a location as new Location("Berlin")',
    "Entity": 'write an entity as "value"^^type',
    "Enum": "write a choice as enum(choice)",
    "Array": "write a list as [1, 2]",
}

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


class ExpectedValue(msgspec.Struct, frozen=True):
    """An expected value: its type, and the question for it if it is missing."""

    name: str
    type: Type
    prompt: str
    function: str = ""


class ValueChecker:
    """Checks values against the expected types, in source order."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []

    def value(
        self, value: Value, wanted: ExpectedValue, scope: Fields, position: SourcePosition
    ) -> Value:
        """Check a value; a missing value becomes a slot."""
        where = value.position if value.position.line else position
        match value:
            case UndefinedValue():
                slot = Slot(wanted.name, wanted.type, wanted.prompt, wanted.function)
                self.slots.append(slot)
                return value
            case Variable(name):
                return self._variable(value, wanted, scope, where)
            case ArrayValue(items) if wanted.type.name in ("Array", "Any"):
                element = msgspec.structs.replace(wanted, type=wanted.type.element or ANY)
                checked = tuple(self.value(each, element, scope, where) for each in items)
                return msgspec.structs.replace(value, items=checked)
            case EnumValue(name) if wanted.type.name in ("Enum", "Any"):
                if wanted.type.name == "Enum" and name not in wanted.type.choices:
                    choices = nearest(name, list(wanted.type.choices), "choices")
                    raise fault(f"{name!s:.60} is not a choice for {wanted.name}", where, choices)
                return value
        _whole(value, where)
        given = value_type(value)
        if given is None or not fits(given, wanted.type):
            said = str(given) if given else type(value).__name__.removesuffix("Value")
            raise _mismatch(said, wanted, where)
        return value

    def numbers(self, values: Iterable[Value], name: str, scope: Fields) -> tuple[Value, ...]:
        """Check the numbers of results in an index or slice."""
        wanted = ExpectedValue(name, NUMBER, "Which number?")
        return tuple(self.value(each, wanted, scope, each.position) for each in values)

    def condition(self, condition: Condition, fields: Fields) -> Condition:
        """Check a condition on results with these fields."""
        match condition:
            case Always():
                return condition
            case DontCare(field):
                field_type(field, fields, condition.position)
                return condition
            case Not(inner):
                checked = self.condition(inner, fields)
                return msgspec.structs.replace(condition, condition=checked)
            case And(inner) | Or(inner):
                all_checked = tuple(self.condition(each, fields) for each in inner)
                return msgspec.structs.replace(condition, conditions=all_checked)
            case Compare():
                return self._compare(condition, fields)

    def _compare(self, compare: Compare, fields: Fields) -> Compare:
        left = self._left(compare, fields)
        wanted = right_type(left, compare.operator)
        if wanted is None:
            raise fault(
                f"{compare.operator} does not compare {left}",
                compare.position,
                "use == or another operator",
            )
        name = compare.left.name if isinstance(compare.left, Variable) else "value"
        slot = ExpectedValue(name, wanted, f"What {name.replace('_', ' ')} are you looking for?")
        right = self.value(compare.right, slot, fields, compare.position)
        return msgspec.structs.replace(compare, right=right)

    def _left(self, compare: Compare, fields: Fields) -> Type:
        if isinstance(compare.left, Variable):
            return field_type(compare.left.name, fields, compare.position)
        if isinstance(compare.left, ArrayValue | UndefinedValue | EnumValue):
            raise fault(
                "a comparison begins with a field or a value", compare.position, "turn it round"
            )
        _whole(compare.left, compare.position)
        return value_type(compare.left) or ANY

    def _variable(
        self, value: Variable, wanted: ExpectedValue, scope: Fields, position: SourcePosition
    ) -> Value:
        if not scope:
            raise fault(
                f"{value.name!s:.60} has no value: nothing comes before it",
                position,
                f'put a text between quotation marks: "{value.name!s:.40}"',
            )
        kind = field_type(value.name, scope, position)
        if not fits(kind, wanted.type):
            raise _mismatch(f"{value.name}, which is {kind},", wanted, position)
        return value


def field_type(name: str, fields: Fields, position: SourcePosition) -> Type:
    """Return the type of a field, or of a field within a field (`a.b`).

    Raise `ThingTalkError` if it is unknown.
    """
    first, *inner = name.split(".")
    kind = fields.get(name) or fields.get(first)
    if name not in fields:
        for part in inner:
            kind = dict(kind.fields).get(part) if kind is not None else None
    if kind is None:
        raise fault(
            f"there is no field {name!s:.60} here",
            position,
            nearest(name, list(fields), "fields"),
        )
    return kind


def nearest(name: str, names: list[str], what: str) -> str:
    """Return a hint: the nearest name, else some known names."""
    if hint := did_you_mean(name, names):
        return hint
    return f"{what}: {', '.join(sorted(names)[:8])}" if names else f"there are no {what}"


def _whole(value: Value, position: SourcePosition) -> None:
    if count_slots(value):
        raise fault("a part of an object cannot be asked for", position, "give it a value")


def _mismatch(said: str, wanted: ExpectedValue, position: SourcePosition) -> ThingTalkError:
    return fault(
        f"{wanted.name} is {wanted.type}; {said} does not fit",
        position,
        _EXAMPLES.get(wanted.type.name, ""),
    )


def fits(given: Type, wanted: Type) -> bool:
    """Return whether a value of a type is accepted as another type.

    Beside equal types: a number as money, a date as a time, a text as an entity and the reverse, an
    entity as an entity of a wider kind, an enum with fewer choices, lists of accepted types.
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


def value_type(value: Value) -> Type | None:
    """Return the type known from a value alone; None for enums, lists, fields, slots."""
    match value:
        case StringValue():
            return STRING
        case NumberValue():
            return NUMBER
        case BooleanValue():
            return BOOLEAN
        case MeasureValue(_, unit):
            return Type("Measure", of=units.base_unit(unit) or "")
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


def right_type(left: Type, operator: Comparison) -> Type | None:
    """Return the right operand's type in a comparison; None if the types do not compare."""
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
