"""Builds the tree of a program: a method for each rule of the grammars."""

from __future__ import annotations

from typing import Any, Literal, cast

import msgspec
from lark import Token, v_args

from prolocutor.plugins.almond.thingtalk.building_classes import ClassBuilder, unique
from prolocutor.plugins.almond.thingtalk.lexer import SPECIAL, token_position
from prolocutor.plugins.almond.thingtalk.manifests import (
    Class,
)
from prolocutor.plugins.almond.thingtalk.nodes import fault
from prolocutor.plugins.almond.thingtalk.tree import (
    Aggregate,
    Aggregation,
    Always,
    And,
    Argument,
    AtTimerStream,
    Compare,
    Comparison,
    Condition,
    Control,
    DeviceSelector,
    DontCare,
    Edge,
    Expression,
    Filter,
    Index,
    Invocation,
    Monitor,
    Not,
    Or,
    Program,
    Projection,
    Slice,
    Sort,
    Statement,
    TimerStream,
)
from prolocutor.plugins.almond.thingtalk.unsupported import annotation_refused, executor_refused
from prolocutor.plugins.almond.thingtalk.values import (
    ArrayValue,
    BooleanValue,
    EntityValue,
    NumberValue,
    StringValue,
    Value,
)


@v_args(inline=True)
class ProgramBuilder(ClassBuilder):
    """Builds programs and control commands."""

    def program(self, *found: Statement | Class) -> Program:
        classes = tuple(each for each in found if isinstance(each, Class))
        unique([(each.name, each.position) for each in classes], "class")
        return Program(tuple(each for each in found if isinstance(each, Statement)), classes)

    def statement(self, *parts: Any) -> Statement:
        *notes, chain = parts
        confirm = notes[-1] if notes else None
        return msgspec.structs.replace(make_statement(chain), confirm=confirm)

    def note(self, name: Token, value: Value) -> bool:
        if name == "executor":
            raise executor_refused(token_position(name))
        if name != "confirm" or not isinstance(value, BooleanValue):
            raise annotation_refused(token_position(name))
        return value.value

    def chain(self, *found: Expression) -> tuple[Expression, ...]:
        return found

    def special(self, token: Token) -> Control:
        return _control(str(token.value), token)

    def old_special(self, token: Token) -> Control:
        return _control(str(token), token)

    def choice(self, number: Token) -> Control:
        return _choice(NumberValue(cast(float, number.value), position=token_position(number)))

    def answer(self, value: Value) -> Control:
        return Control("answer", value)

    def old_control(self, name: Token, value: Value) -> Control:
        if name == "answer":
            return self.answer(value)
        if name == "choice":
            return _choice(value)
        raise fault(
            f"there is no control command {name!s:.40} with a value",
            token_position(name),
            "there are choice and answer",
        )

    def names(self, *names: Token) -> tuple[str, ...]:
        return tuple(map(str, names))

    def projection(self, bracket: Token, fields: tuple[str, ...], source: Expression) -> Projection:
        return Projection(source, fields, position=token_position(bracket))

    def filter(self, source: Expression, word: Token, condition: Condition) -> Filter:
        return Filter(source, condition, position=token_position(word))

    def index(self, source: Expression, bracket: Token, numbers: tuple[Value, ...]) -> Index:
        return Index(source, numbers, position=token_position(bracket))

    def slice(self, source: Expression, bracket: Token, base: Value, count: Value) -> Slice:
        return Slice(source, base, count, position=token_position(bracket))

    def monitor(self, word: Token, source: Expression, fields: tuple[str, ...] = ()) -> Monitor:
        return Monitor(source, fields, position=token_position(word))

    def monitor_fields(self, word: Token, fields: tuple[str, ...], source: Expression) -> Monitor:
        return Monitor(source, fields, position=token_position(word))

    def edge_of(self, word: Token, source: Expression, condition: Condition) -> Edge:
        return Edge(source, condition, position=token_position(word))

    def count(self, word: Token, source: Expression) -> Aggregate:
        return Aggregate(source, "count", position=token_position(word))

    count_call = count

    def count_field(self, word: Token, field: Token, source: Expression) -> Aggregate:
        return Aggregate(source, "count", str(field), position=token_position(word))

    def aggregate(
        self, word: Token, operator: Token, field: Token, source: Expression
    ) -> Aggregate:
        return self.aggregate_call(operator, field, source)

    def aggregate_call(self, operator: Token, field: Token, source: Expression) -> Aggregate:
        name = cast(Aggregation, str(operator))
        return Aggregate(source, name, str(field), position=token_position(operator))

    def sort(self, word: Token, field: Token, direction: Token, source: Expression) -> Sort:
        way = cast(Literal["asc", "desc"], str(direction))
        return Sort(source, str(field), way, position=token_position(word))

    def timer(self, name: Token, arguments: tuple[Argument, ...]) -> TimerStream | AtTimerStream:
        return timer(name, {each.name: each for each in arguments})

    def argument(self, name: Token, value: Value) -> Argument:
        return Argument(str(name), value, position=token_position(name))

    def arguments(self, *found: Argument) -> tuple[Argument, ...]:
        unique([(each.name, each.position) for each in found], "parameter")
        return found

    def call(self, name: Token, *parts: Any) -> Invocation:
        given: tuple[Argument, ...]
        match parts:
            case [tuple() as given]:
                kind, _, function = str(name.value).rpartition(".")
                if not kind:
                    raise fault(
                        f"@{function!s:.60} names no function",
                        token_position(name),
                        "write @class.function(...)",
                    )
                device = DeviceSelector(kind, position=token_position(name))
                return Invocation(device, function, given, position=token_position(name))
            case [Token() as member, tuple() as given]:
                device = DeviceSelector(str(name.value), position=token_position(name))
                return Invocation(device, str(member), given, position=token_position(name))
            case _:
                selection, member, given = parts
                device = select_device(name, selection)
                return Invocation(device, str(member), given, position=token_position(name))

    def or_(self, left: Condition, right: Condition) -> Or:
        return Or(_flat(Or, left) + _flat(Or, right))

    def and_(self, left: Condition, right: Condition) -> And:
        return And(_flat(And, left) + _flat(And, right))

    def not_(self, condition: Condition) -> Not:
        return Not(condition)

    def group(self, condition: Condition) -> Condition:
        return condition

    def always(self, token: Token) -> Always:
        return Always(True, position=token_position(token))

    def never(self, token: Token) -> Always:
        return Always(False, position=token_position(token))

    def dont_care(self, token: Token, field: Token) -> DontCare:
        return DontCare(str(field), position=token_position(field))

    def compare(self, left: Value, operator: Token, right: Value) -> Compare:
        position = left.position if left.position.line else token_position(operator)
        return Compare(left, cast(Comparison, str(operator)), right, position=position)

    def test(self, operator: Token, left: Value, right: Value) -> Compare:
        return Compare(
            left, cast(Comparison, str(operator)), right, position=token_position(operator)
        )


def make_statement(chain: tuple[Expression, ...]) -> Statement:
    """Make the statement of a chain, with the position of its first word."""
    positions, inner = [], chain[0]
    while not isinstance(inner, Invocation | TimerStream | AtTimerStream):
        positions.append(inner.position)
        inner = inner.source
    begin = min([*positions, inner.position], key=lambda position: (position.line, position.column))
    return Statement(chain, position=begin)


def timer(name: Token, given: dict[str, Argument]) -> TimerStream | AtTimerStream:
    """Return the stream of a call to `timer` or `attimer`; `ThingTalkError` for others."""
    position = token_position(name)
    known = {"timer": {"base", "interval", "frequency"}, "attimer": {"time", "expiration_date"}}
    if name not in known:
        raise fault(
            f"there is no function {name!s:.60}",
            position,
            "functions of devices begin with @; own functions and macros are not taken",
        )
    for each in given.values():
        if each.name not in known[name]:
            raise fault(
                f"{name} has no parameter {each.name!s:.60}",
                each.position,
                f"it has {', '.join(sorted(known[name]))}",
            )
    if name == "attimer":
        if "time" not in given:
            raise fault(
                "attimer lacks its time", position, "write attimer(time=[new Time(12, 30)])"
            )
        times = given["time"].value
        until = given.get("expiration_date")
        listed = times.items if isinstance(times, ArrayValue) else (times,)
        return AtTimerStream(listed, until.value if until else None, position=position)
    if not {"base", "interval"} <= given.keys():
        raise fault("timer lacks its base or interval", position, "timer(base=$now, interval=1h)")
    often = given.get("frequency")
    return TimerStream(
        given["base"].value,
        given["interval"].value,
        often.value if often else None,
        position=position,
    )


def select_device(name: Token, selection: tuple[Argument, ...]) -> DeviceSelector:
    """Return the device selected by attributes; raise `ThingTalkError` for unknown attributes."""
    chosen: dict[str, Any] = {}
    for each in selection:
        match each.name, each.value:
            case "id", EntityValue(value, _, display):
                chosen["id"] = value
                if display is not None:
                    chosen["name"] = display
            case "id" | "name", StringValue(value):
                chosen[each.name] = value
            case "all", BooleanValue(value):
                chosen["all"] = value
            case _:
                raise fault(
                    f"a device is not chosen by {each.name!s:.60}, or not so",
                    each.position,
                    'write @class(id="...") or @class(name="...") or @class(all=true)',
                )
    return DeviceSelector(str(name.value), **chosen, position=token_position(name))


def _control(name: str, token: Token) -> Control:
    if name not in SPECIAL:
        raise fault(
            f"there is no control command {name!s:.40}",
            token_position(token),
            f"there are {', '.join(sorted(SPECIAL))}",
        )
    return Control("nevermind" if name == "cancel" else name)


def _choice(value: Value) -> Control:
    if not isinstance(value, NumberValue) or value.value != int(value.value) or value.value < 0:
        raise fault("a choice is a whole number", value.position, "choices count from 0")
    return Control("choice", value)


def _flat(kind: type[And] | type[Or], condition: Condition) -> tuple[Condition, ...]:
    return condition.conditions if isinstance(condition, kind) else (condition,)
