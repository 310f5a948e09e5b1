"""Checking the values and conditions of a program, and collecting what is missing as slots."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from prolocutor.almond.thingtalk.checked import Slot
from prolocutor.almond.thingtalk.fitting import fits, right_of, type_of
from prolocutor.almond.thingtalk.nodes import SourcePosition, fault
from prolocutor.almond.thingtalk.slots import count_slots
from prolocutor.almond.thingtalk.tree import Always, And, Compare, Condition, DontCare, Not, Or
from prolocutor.almond.thingtalk.types import ANY, NUMBER, Type
from prolocutor.almond.thingtalk.values import (
    ArrayValue,
    EnumValue,
    UndefinedValue,
    Value,
    Variable,
)
from prolocutor.errors import ThingTalkError
from prolocutor.names import did_you_mean

Fields = dict[str, Type]
"""Names and types of what a result holds."""


class ExpectedValue(msgspec.Struct, frozen=True):
    """What a value is for: its type, and how it is asked for where it is missing."""

    name: str
    type: Type
    prompt: str
    function: str = ""


class ValueChecker:
    """Checks values against the types that are wanted, in the order in which they are written."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []

    def value(
        self, value: Value, wanted: ExpectedValue, scope: Fields, place: SourcePosition
    ) -> Value:
        """Check one value; what is not given becomes a slot."""
        where = value.place if value.place.line else place
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
                    raise fault(f"{name:.60} is no choice for {wanted.name}", where, choices)
                return value
        _whole(value, where)
        given = type_of(value)
        if given is None or not fits(given, wanted.type):
            said = str(given) if given else type(value).__name__.removesuffix("Value")
            raise _mismatch(said, wanted, where)
        return value

    def numbers(self, values: Iterable[Value], name: str, scope: Fields) -> tuple[Value, ...]:
        """Check numbers of results."""
        wanted = ExpectedValue(name, NUMBER, "Which number?")
        return tuple(self.value(each, wanted, scope, each.place) for each in values)

    def condition(self, condition: Condition, fields: Fields) -> Condition:
        """Check a condition on results with these fields."""
        match condition:
            case Always():
                return condition
            case DontCare(field):
                field_type(field, fields, condition.place)
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
        wanted = right_of(left, compare.operator)
        if wanted is None:
            raise fault(
                f"{compare.operator} does not compare {left}",
                compare.place,
                "use == or another operator",
            )
        name = compare.left.name if isinstance(compare.left, Variable) else "value"
        slot = ExpectedValue(name, wanted, f"What {name.replace('_', ' ')} are you looking for?")
        right = self.value(compare.right, slot, fields, compare.place)
        return msgspec.structs.replace(compare, right=right)

    def _left(self, compare: Compare, fields: Fields) -> Type:
        if isinstance(compare.left, Variable):
            return field_type(compare.left.name, fields, compare.place)
        if isinstance(compare.left, ArrayValue | UndefinedValue | EnumValue):
            raise fault(
                "a comparison begins with a field or a value", compare.place, "turn it round"
            )
        _whole(compare.left, compare.place)
        return type_of(compare.left) or ANY

    def _variable(
        self, value: Variable, wanted: ExpectedValue, scope: Fields, place: SourcePosition
    ) -> Value:
        if not scope:
            raise fault(
                f"{value.name:.60} has no value: nothing comes before it",
                place,
                f'put a text between quotation marks: "{value.name:.40}"',
            )
        kind = field_type(value.name, scope, place)
        if not fits(kind, wanted.type):
            raise _mismatch(f"{value.name}, which is {kind},", wanted, place)
        return value


def field_type(name: str, fields: Fields, place: SourcePosition) -> Type:
    """Return the type of a field, or of a field within a field (`a.b`).

    `ThingTalkError` where there is none.
    """
    first, *inner = name.split(".")
    kind = fields.get(name) or fields.get(first)
    if name not in fields:
        for part in inner:
            kind = dict(kind.fields).get(part) if kind is not None else None
    if kind is None:
        raise fault(
            f"there is no field {name:.60} here",
            place,
            nearest(name, list(fields), "fields"),
        )
    return kind


def nearest(name: str, names: list[str], what: str) -> str:
    """Say what may have been meant: the nearest name, else some of those that there are."""
    if hint := did_you_mean(name, names):
        return hint
    return f"{what}: {', '.join(sorted(names)[:8])}" if names else f"there are no {what}"


def _whole(value: Value, place: SourcePosition) -> None:
    if count_slots(value):
        raise fault("a part of an object cannot be asked for", place, "give it a value")


def _mismatch(said: str, wanted: ExpectedValue, place: SourcePosition) -> ThingTalkError:
    return fault(
        f"{wanted.name} is {wanted.type}; {said} does not fit",
        place,
        _EXAMPLES.get(wanted.type.name, ""),
    )


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
