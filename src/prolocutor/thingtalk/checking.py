"""Checking a program against manifests: unknown names, wrong types, what is still missing."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from prolocutor.errors import ThingTalkError
from prolocutor.thingtalk.checked import Checked, CheckedStatement, ResolvedCall, Slot
from prolocutor.thingtalk.fitting import fits, right_of, type_of
from prolocutor.thingtalk.manifests import Class, Function, Manifests, Parameter
from prolocutor.thingtalk.places import Place, fault
from prolocutor.thingtalk.tree import (
    Aggregate,
    Always,
    And,
    Argument,
    AtTimer,
    Call,
    Compare,
    Condition,
    DontCare,
    Expression,
    Filter,
    Index,
    Monitor,
    Not,
    Or,
    Program,
    Projection,
    Slice,
    Sort,
    Statement,
    Timer,
)
from prolocutor.thingtalk.types import ANY, DATE, DURATION, NUMBER, TIME, Type
from prolocutor.thingtalk.values import Array, Enum, Undefined, Value, Variable

Fields = dict[str, Type]
"""Names and types of what a result holds."""

_SUMMED = frozenset({"Number", "Measure", "Currency"})
_ORDERED = _SUMMED | {"Date", "Time"}


def check(program: Program, manifests: Manifests) -> Checked:
    """Resolve the calls of a program and check all that it says.

    `ThingTalkError`, with line and column, for unknown classes, functions, parameters and fields,
    for wrong types, and for parts that stand where they cannot. What is required but missing is no
    error but a slot.
    """
    if program.classes:
        raise fault(
            "a program declares no classes", program.classes[0].place, "put them in a manifest"
        )
    checker = _Checker(manifests)
    statements = tuple(checker.statement(each) for each in program.statements)
    whole = msgspec.structs.replace(
        program, statements=tuple(each.statement for each in statements)
    )
    return Checked(whole, statements, tuple(checker.slots))


class _Found(msgspec.Struct, frozen=True):
    """What an expression is: completed, with its kind and the fields of its results."""

    expression: Expression
    kind: Literal["stream", "query", "action"]
    fields: Fields
    is_monitorable: bool = False


class _Wanted(msgspec.Struct, frozen=True):
    """What a value is for: its type, and how it is asked for."""

    name: str
    type: Type
    prompt: str
    function: str = ""


class _Checker:
    """Goes through a program in the order in which it is written, collecting calls and slots."""

    def __init__(self, manifests: Manifests) -> None:
        self.slots: list[Slot] = []
        self._manifests = manifests
        self._calls: list[ResolvedCall] = []
        self._scope: Fields = {}

    def statement(self, statement: Statement) -> CheckedStatement:
        """Check a chain, and tell its stream, queries and action apart."""
        self._scope, self._calls = {}, []
        found: list[_Found] = []
        for number, expression in enumerate(statement.chain):
            here = self._expression(expression)
            if here.kind == "stream" and number:
                raise fault("a stream can only begin a chain", _place(expression), "move it")
            if here.kind == "action" and number + 1 < len(statement.chain):
                raise fault("an action can only end a chain", _place(expression), "move it")
            self._scope = {**self._scope, **here.fields}
            found.append(here)
        action = self._calls[-1] if found[-1].kind == "action" else None
        return CheckedStatement(
            msgspec.structs.replace(statement, chain=tuple(each.expression for each in found)),
            next((each.expression for each in found if each.kind == "stream"), None),
            tuple(each.expression for each in found if each.kind == "query"),
            action,
            tuple(self._calls),
            self._scope,
            any(each.function.setting("confirm") is True for each in self._calls),
        )

    def _expression(self, expression: Expression) -> _Found:
        match expression:
            case Call():
                return self._call(expression)
            case Filter(source, condition):
                found = self._source(source, expression)
                checked = self._condition(condition, found.fields)
                return _around(found, expression, condition=checked)
            case Projection(source, fields):
                found = self._source(source, expression)
                kept = {name: self._field(name, found.fields, expression) for name in fields}
                return msgspec.structs.replace(_around(found, expression), fields=kept)
            case Sort(source, field):
                found = self._query(source, expression)
                self._countable(field, found.fields, expression, _ORDERED | {"String"})
                return _around(found, expression)
            case Index(source, indices):
                found = self._query(source, expression)
                numbers = self._numbers(indices, "number")
                return _around(found, expression, indices=numbers)
            case Slice(source, base, count):
                found = self._query(source, expression)
                first, many = self._numbers((base, count), "number")
                return _around(found, expression, base=first, count=many)
            case Aggregate():
                return self._aggregate(expression)
            case Monitor(source, fields):
                return self._monitor(expression)
            case Timer() | AtTimer():
                return self._timer(expression)

    def _source(self, source: Expression, around: Expression) -> _Found:
        """Check what results are taken from: a query or a stream."""
        found = self._expression(source)
        if found.kind == "action":
            raise fault("an action gives no results", _place(around), "use a query here")
        return found

    def _query(self, source: Expression, around: Expression) -> _Found:
        found = self._source(source, around)
        if found.kind == "stream":
            raise fault("a stream never ends", _place(around), "use a query here")
        return found

    def _call(self, call: Call) -> _Found:
        owner, function = self._resolved(call)
        name = f"@{call.device.kind}.{call.function}"
        for argument in call.arguments:
            parameter = function.parameter(argument.name)
            if parameter is None or parameter.direction == "out":
                names = [each.name for each in function.inputs]
                said = "is an output of" if parameter else "is no parameter of"
                raise fault(
                    f"{argument.name:.60} {said} {name}",
                    argument.place,
                    _nearest(argument.name, names, "parameters"),
                )
        given = {each.name for each in call.arguments}
        missing = [
            Argument(each.name, Undefined(place=call.place), place=call.place)
            for each in function.inputs
            if each.direction == "in req" and each.name not in given
        ]
        arguments = []
        for argument in (*call.arguments, *missing):
            wanted = _wanted(function, argument.name, name)
            value = self._value(argument.value, wanted, self._scope, argument.place)
            arguments.append(msgspec.structs.replace(argument, value=value))
        whole = msgspec.structs.replace(call, arguments=tuple(arguments))
        self._calls.append(ResolvedCall(whole, owner, function))
        fields = {each.name: each.type for each in (*function.inputs, *function.outputs)}
        return _Found(whole, function.kind, fields, function.is_monitorable)

    def _resolved(self, call: Call) -> tuple[Class, Function]:
        kind = call.device.kind
        owner = self._manifests.find(kind)
        if owner is None:
            names = [each.name for each in self._manifests]
            raise fault(f"@{kind:.80} is not known", call.place, _nearest(kind, names, "classes"))
        function = self._manifests.function(kind, call.function)
        if function is None:
            names = [each.name for each in self._manifests.functions(kind)]
            raise fault(
                f"@{kind} has no function {call.function:.60}",
                call.place,
                _nearest(call.function, names, "functions"),
            )
        return owner, function

    def _aggregate(self, aggregate: Aggregate) -> _Found:
        found = _around(self._query(aggregate.source, aggregate), aggregate)
        if aggregate.field is None:
            fields = {"count": NUMBER}
        elif aggregate.operator == "count":
            self._field(aggregate.field, found.fields, aggregate)
            fields = {"count": NUMBER}
        else:
            allowed = _SUMMED if aggregate.operator in ("sum", "avg") else _ORDERED
            kind = self._countable(aggregate.field, found.fields, aggregate, allowed)
            fields = {aggregate.field: kind}
        return msgspec.structs.replace(found, fields=fields)

    def _monitor(self, monitor: Monitor) -> _Found:
        found = self._query(monitor.source, monitor)
        if not found.is_monitorable:
            raise fault("this query cannot be monitored", monitor.place, "ask it now instead")
        for name in monitor.fields:
            self._field(name, found.fields, monitor)
        return msgspec.structs.replace(_around(found, monitor), kind="stream")

    def _timer(self, timer: Timer | AtTimer) -> _Found:
        wanted = {
            name: _Wanted(name, kind, f"What is the {name.replace('_', ' ')} of the timer?")
            for name, kind in _TIMER.items()
        }
        changed: dict[str, Value | tuple[Value, ...]] = {}
        if isinstance(timer, AtTimer):
            changed["times"] = tuple(
                self._value(each, wanted["time"], {}, timer.place) for each in timer.times
            )
        for name in ("base", "interval", "frequency", "expiration"):
            value = getattr(timer, name, None)
            if value is not None:
                changed[name] = self._value(value, wanted[name], {}, timer.place)
        return _Found(msgspec.structs.replace(timer, **changed), "stream", {})

    def _numbers(self, values: Iterable[Value], name: str) -> tuple[Value, ...]:
        wanted = _Wanted(name, NUMBER, "Which number?")
        return tuple(self._value(each, wanted, self._scope, each.place) for each in values)

    def _condition(self, condition: Condition, fields: Fields) -> Condition:
        match condition:
            case Always():
                return condition
            case DontCare(field):
                self._field(field, fields, condition)
                return condition
            case Not(inner):
                checked = self._condition(inner, fields)
                return msgspec.structs.replace(condition, condition=checked)
            case And(inner) | Or(inner):
                all_checked = tuple(self._condition(each, fields) for each in inner)
                return msgspec.structs.replace(condition, conditions=all_checked)
            case Compare():
                return self._compare(condition, fields)

    def _compare(self, compare: Compare, fields: Fields) -> Compare:
        known = {**self._scope, **fields}
        left = self._left(compare, known)
        wanted = right_of(left, compare.operator)
        if wanted is None:
            raise fault(
                f"{compare.operator} does not compare {left}",
                compare.place,
                "use == or another operator",
            )
        name = compare.left.name if isinstance(compare.left, Variable) else "value"
        slot = _Wanted(name, wanted, f"What {name.replace('_', ' ')} are you looking for?")
        right = self._value(compare.right, slot, known, compare.place)
        return msgspec.structs.replace(compare, right=right)

    def _left(self, compare: Compare, known: Fields) -> Type:
        if isinstance(compare.left, Variable):
            return self._field(compare.left.name, known, compare)
        if isinstance(compare.left, Array | Undefined | Enum):
            raise fault(
                "a comparison begins with a field or a value", compare.place, "turn it round"
            )
        return type_of(compare.left) or ANY

    def _field(self, name: str, fields: Fields, node: Expression | Condition) -> Type:
        """Give the type of a field, or of a field within a field (`a.b`)."""
        first, *inner = name.split(".")
        kind = fields.get(name) or fields.get(first)
        if name not in fields:
            for part in inner:
                kind = dict(kind.fields).get(part) if kind is not None else None
        if kind is None:
            raise fault(
                f"there is no field {name:.60} here",
                node.place,
                _nearest(name, list(fields), "fields"),
            )
        return kind

    def _countable(
        self, name: str, fields: Fields, node: Expression, allowed: frozenset[str]
    ) -> Type:
        kind = self._field(name, fields, node)
        if kind.name not in allowed and kind != ANY:
            raise fault(f"{name:.60} is {kind}, which has no order or sum", node.place)
        return kind

    def _value(self, value: Value, wanted: _Wanted, scope: Fields, place: Place) -> Value:
        """Check one value; what is not given becomes a slot."""
        where = value.place if value.place.line else place
        match value:
            case Undefined():
                slot = Slot(wanted.name, wanted.type, wanted.prompt, wanted.function)
                self.slots.append(slot)
                return value
            case Variable(name):
                return self._variable(value, wanted, scope, where)
            case Array(items) if wanted.type.name in ("Array", "Any"):
                element = msgspec.structs.replace(wanted, type=wanted.type.element or ANY)
                checked = tuple(self._value(each, element, scope, where) for each in items)
                return msgspec.structs.replace(value, items=checked)
            case Enum(name) if wanted.type.name in ("Enum", "Any"):
                if wanted.type.name == "Enum" and name not in wanted.type.choices:
                    choices = _nearest(name, list(wanted.type.choices), "choices")
                    raise fault(f"{name:.60} is no choice for {wanted.name}", where, choices)
                return value
        given = type_of(value)
        if given is None or not fits(given, wanted.type):
            said = str(given) if given else type(value).__name__
            raise _mismatch(said, wanted, where)
        return value

    def _variable(self, value: Variable, wanted: _Wanted, scope: Fields, place: Place) -> Value:
        if not scope:
            raise fault(
                f"{value.name:.60} has no value: nothing comes before it",
                place,
                f'put a text between quotation marks: "{value.name:.40}"',
            )
        kind = self._field(value.name, scope, msgspec.structs.replace(_NOWHERE, place=place))
        if not fits(kind, wanted.type):
            raise _mismatch(f"{value.name}, which is {kind},", wanted, place)
        return value


_NOWHERE = DontCare("")

_TIMER: Mapping[str, Type] = {
    "base": DATE,
    "interval": DURATION,
    "frequency": NUMBER,
    "time": TIME,
    "expiration": DATE,
}


def _wanted(function: Function, name: str, full_name: str) -> _Wanted:
    parameter = function.parameter(name)
    assert parameter is not None
    return _Wanted(name, parameter.type, _prompt(parameter), full_name)


def _prompt(parameter: Parameter) -> str:
    prompt = parameter.text("prompt")
    if isinstance(prompt, list) and prompt:
        prompt = prompt[0]
    return prompt if isinstance(prompt, str) and prompt else f"What is the {parameter.canonical}?"


def _around(found: _Found, expression: Expression, **changes: object) -> _Found:
    """Give what an expression around another one is: with the completed one inside."""
    whole = msgspec.structs.replace(expression, source=found.expression, **changes)
    return msgspec.structs.replace(found, expression=whole)


def _place(expression: Expression) -> Place:
    while not expression.place.line and not isinstance(expression, Call | Timer | AtTimer):
        expression = expression.source
    return expression.place


def _mismatch(said: str, wanted: _Wanted, place: Place) -> ThingTalkError:
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


def _nearest(name: str, names: list[str], what: str) -> str:
    close = difflib.get_close_matches(name, names, 1)
    if close:
        return f"did you mean {close[0]}?"
    return f"{what}: {', '.join(sorted(names)[:8])}" if names else f"there are no {what}"
