"""Checks a program against manifests: unknown names, wrong types, missing values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from prolocutor.plugins.almond.thingtalk.checked import Checked, CheckedStatement, ResolvedCall
from prolocutor.plugins.almond.thingtalk.checking_values import (
    ExpectedValue,
    Fields,
    ValueChecker,
    field_type,
    nearest,
)
from prolocutor.plugins.almond.thingtalk.manifests import Class, Function, Manifests, Parameter
from prolocutor.plugins.almond.thingtalk.nodes import SourcePosition, fault
from prolocutor.plugins.almond.thingtalk.tree import (
    Aggregate,
    Argument,
    AtTimerStream,
    Edge,
    Expression,
    Filter,
    Index,
    Invocation,
    Monitor,
    Program,
    Projection,
    Slice,
    Sort,
    Statement,
    TimerStream,
)
from prolocutor.plugins.almond.thingtalk.types import ANY, DATE, DURATION, NUMBER, TIME, Type
from prolocutor.plugins.almond.thingtalk.values import UndefinedValue, Value

_SUMMED = frozenset({"Number", "Measure", "Currency"})
_ORDERED = _SUMMED | {"Date", "Time"}

_TIMER: Mapping[str, Type] = {
    "base": DATE,
    "interval": DURATION,
    "frequency": NUMBER,
    "time": TIME,
    "expiration": DATE,
}


def check(program: Program, manifests: Manifests) -> Checked:
    """Resolve the calls of a program and check its names and types.

    `ThingTalkError`, with line and column, for unknown classes, functions, parameters and fields,
    for wrong types, and for parts in the wrong order. A missing required value is not an error but
    a slot.
    """
    if program.classes:
        raise fault(
            "a program declares no classes", program.classes[0].position, "put them in a manifest"
        )
    checker = _Checker(manifests)
    statements = tuple(checker.statement(each) for each in program.statements)
    whole = msgspec.structs.replace(
        program, statements=tuple(each.statement for each in statements)
    )
    return Checked(whole, statements, tuple(checker.values.slots))


class _Found(msgspec.Struct, frozen=True):
    """A checked expression: completed, with its kind and the fields of its results."""

    expression: Expression
    kind: Literal["stream", "query", "action"]
    fields: Fields
    is_monitorable: bool = False


class _Checker:
    """Walks a program in source order and collects calls and slots."""

    def __init__(self, manifests: Manifests) -> None:
        self.values = ValueChecker()
        self._manifests = manifests
        self._calls: list[ResolvedCall] = []
        self._scope: Fields = {}

    def statement(self, statement: Statement) -> CheckedStatement:
        """Check a chain and divide it into stream, queries and action."""
        self._scope, self._calls = {}, []
        found: list[_Found] = []
        for number, expression in enumerate(statement.chain):
            here = self._expression(expression)
            if here.kind == "stream" and number:
                raise fault("a stream can only begin a chain", _position(expression), "move it")
            if here.kind == "action" and number + 1 < len(statement.chain):
                raise fault("an action can only end a chain", _position(expression), "move it")
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
            statement.confirm
            if statement.confirm is not None
            else any(_is_confirmed(each.function) for each in self._calls),
        )

    def _expression(self, expression: Expression) -> _Found:
        match expression:
            case Invocation():
                return self._call(expression)
            case Filter(source, condition):
                found = self._source(source, expression)
                checked = self.values.condition(condition, {**self._scope, **found.fields})
                return _around(found, expression, condition=checked)
            case Projection(source, fields):
                found = self._source(source, expression)
                projected = {
                    name: field_type(name, found.fields, expression.position) for name in fields
                }
                return msgspec.structs.replace(_around(found, expression), fields=projected)
            case Sort(source, field):
                found = self._query(source, expression)
                _countable(field, found.fields, expression.position, _ORDERED | {"String"})
                return _around(found, expression)
            case Index(source, indices):
                found = self._query(source, expression)
                numbers = self.values.numbers(indices, "number", self._scope)
                return _around(found, expression, indices=numbers)
            case Slice(source, base, count):
                found = self._query(source, expression)
                first, many = self.values.numbers((base, count), "number", self._scope)
                return _around(found, expression, base=first, count=many)
            case Aggregate():
                return self._aggregate(expression)
            case Edge(source, condition):
                return self._edge(expression)
            case Monitor(source, fields):
                return self._monitor(expression)
            case TimerStream() | AtTimerStream():
                return self._timer(expression)

    def _source(self, source: Expression, around: Expression) -> _Found:
        """Check the source of results: a query or a stream."""
        found = self._expression(source)
        if found.kind == "action":
            raise fault("an action gives no results", _position(around), "use a query here")
        return found

    def _query(self, source: Expression, around: Expression) -> _Found:
        found = self._source(source, around)
        if found.kind == "stream":
            raise fault("a stream never ends", _position(around), "use a query here")
        return found

    def _call(self, call: Invocation) -> _Found:
        owner, function = self._resolve(call)
        name = f"@{call.device.kind}.{call.function}"
        for argument in call.arguments:
            parameter = function.parameter(argument.name)
            if parameter is None or parameter.direction == "out":
                names = [each.name for each in function.inputs]
                said = "is an output of" if parameter else "is not a parameter of"
                raise fault(
                    f"{argument.name!s:.60} {said} {name}",
                    argument.position,
                    nearest(argument.name, names, "parameters"),
                )
        given = {each.name for each in call.arguments}
        missing = [
            Argument(each.name, UndefinedValue(position=call.position), position=call.position)
            for each in function.inputs
            if each.direction == "in req" and each.name not in given
        ]
        arguments = []
        for argument in (*call.arguments, *missing):
            wanted = _expected_value(function, argument.name, name)
            value = self.values.value(argument.value, wanted, self._scope, argument.position)
            arguments.append(msgspec.structs.replace(argument, value=value))
        whole = msgspec.structs.replace(call, arguments=tuple(arguments))
        self._calls.append(ResolvedCall(whole, owner, function))
        fields = {each.name: each.type for each in (*function.inputs, *function.outputs)}
        return _Found(whole, function.kind, fields, function.is_monitorable)

    def _resolve(self, call: Invocation) -> tuple[Class, Function]:
        kind = call.device.kind
        owner = self._manifests.find(kind)
        if owner is None:
            names = [each.name for each in self._manifests]
            raise fault(
                f"@{kind!s:.80} is not known", call.position, nearest(kind, names, "classes")
            )
        function = self._manifests.function(kind, call.function)
        if function is None:
            names = [each.name for each in self._manifests.functions(kind)]
            raise fault(
                f"@{kind} has no function {call.function!s:.60}",
                call.position,
                nearest(call.function, names, "functions"),
            )
        return owner, function

    def _aggregate(self, aggregate: Aggregate) -> _Found:
        found = _around(self._query(aggregate.source, aggregate), aggregate)
        if aggregate.field is None:
            fields = {"count": NUMBER}
        elif aggregate.operator == "count":
            field_type(aggregate.field, found.fields, aggregate.position)
            fields = {"count": NUMBER}
        else:
            allowed = _SUMMED if aggregate.operator in ("sum", "avg") else _ORDERED
            kind = _countable(aggregate.field, found.fields, aggregate.position, allowed)
            fields = {aggregate.field: kind}
        return msgspec.structs.replace(found, fields=fields)

    def _monitor(self, monitor: Monitor) -> _Found:
        found = self._query(monitor.source, monitor)
        if not found.is_monitorable:
            raise fault("this query cannot be monitored", monitor.position, "ask it now instead")
        for name in monitor.fields:
            field_type(name, found.fields, monitor.position)
        return msgspec.structs.replace(_around(found, monitor), kind="stream")

    def _edge(self, edge: Edge) -> _Found:
        found = self._expression(edge.source)
        if found.kind != "stream":
            raise fault("an edge is one of a stream", edge.position, "put monitor(...) around it")
        checked = self.values.condition(edge.condition, {**self._scope, **found.fields})
        return _around(found, edge, condition=checked)

    def _timer(self, timer: TimerStream | AtTimerStream) -> _Found:
        wanted = {
            name: ExpectedValue(name, kind, f"What is the {name.replace('_', ' ')} of the timer?")
            for name, kind in _TIMER.items()
        }
        changed: dict[str, Value | tuple[Value, ...]] = {}
        if isinstance(timer, AtTimerStream):
            changed["times"] = tuple(
                self.values.value(each, wanted["time"], {}, timer.position) for each in timer.times
            )
        for name in ("base", "interval", "frequency", "expiration"):
            value = getattr(timer, name, None)
            if value is not None:
                changed[name] = self.values.value(value, wanted[name], {}, timer.position)
        return _Found(msgspec.structs.replace(timer, **changed), "stream", {})


def _is_confirmed(function: Function) -> bool:
    """Return whether a call has to be confirmed: an action, unless its manifest says otherwise."""
    return function.setting("confirm", function.kind == "action") is True


def _expected_value(function: Function, name: str, full_name: str) -> ExpectedValue:
    parameter = function.parameter(name)
    assert parameter is not None
    return ExpectedValue(name, parameter.type, _prompt(parameter), full_name)


def _prompt(parameter: Parameter) -> str:
    prompt = parameter.text("prompt")
    if isinstance(prompt, list) and prompt:
        prompt = prompt[0]
    return prompt if isinstance(prompt, str) and prompt else f"What is the {parameter.canonical}?"


def _around(found: _Found, expression: Expression, **changes: object) -> _Found:
    """Wrap the checked form of an expression around its checked source."""
    whole = msgspec.structs.replace(expression, source=found.expression, **changes)
    return msgspec.structs.replace(found, expression=whole)


def _position(expression: Expression) -> SourcePosition:
    while not expression.position.line and not isinstance(
        expression, Invocation | TimerStream | AtTimerStream
    ):
        expression = expression.source
    return expression.position


def _countable(
    name: str, fields: Fields, position: SourcePosition, allowed: frozenset[str]
) -> Type:
    kind = field_type(name, fields, position)
    if kind.name not in allowed and kind != ANY:
        raise fault(f"{name!s:.60} is {kind}, which has no order or sum", position)
    return kind
