"""Builds the tree of a program in old tokens, on top of the rules shared by both grammars."""

from __future__ import annotations

from typing import Any

import msgspec
from lark import Token, v_args

from prolocutor.plugins.almond.thingtalk.building import (
    ProgramBuilder,
    make_statement,
    select_device,
    timer,
)
from prolocutor.plugins.almond.thingtalk.lexer import made, token_position
from prolocutor.plugins.almond.thingtalk.nodes import fault
from prolocutor.plugins.almond.thingtalk.tree import (
    Argument,
    AtTimerStream,
    Expression,
    Invocation,
    Monitor,
    Program,
    Statement,
    TimerStream,
)
from prolocutor.plugins.almond.thingtalk.types import Type
from prolocutor.plugins.almond.thingtalk.values import ContextRef, EntityValue, Value

Chain = tuple[Expression, ...]
"""A chain of expressions; in the old grammar also for a single expression."""


@v_args(inline=True)
class OldProgramBuilder(ProgramBuilder):
    """Builds programs from old tokens."""

    def program(self, *found: Any) -> Program:
        return Program(found)

    def act(self, call: Invocation, passed: tuple[Argument, ...]) -> Statement:
        return make_statement((_add_arguments(call, passed),))

    def ask(self, table: Any, ending: Chain) -> Statement:
        return make_statement(_chain(table) + ending)

    watch = ask

    def shown(self, passed: tuple[Argument, ...]) -> Chain:
        if passed:
            raise fault("notify takes no parameters", passed[0].position, "leave them out")
        return ()

    def done(self, call: Invocation, passed: tuple[Argument, ...]) -> Chain:
        return (_add_arguments(call, passed),)

    def ons(self, *passed: Argument) -> tuple[Argument, ...]:
        return passed

    def on(self, name: Token, value: Value) -> Argument:
        return self.argument(name, value)

    def group(self, found: Any) -> Any:
        return found

    def joined(self, left: Any, right: Any, passed: tuple[Argument, ...]) -> Chain:
        *earlier, last = _chain(right)
        return (*_chain(left), *earlier, _add_arguments(last, passed))

    def monitor_new(self, word: Token, source: Expression, field: Token) -> Monitor:
        return self.monitor(word, source, (str(field),))

    def every(self, word: Token, *values: Value) -> TimerStream | AtTimerStream:
        return _timer(word, ("base", "interval", "frequency"), values)

    def daily(self, word: Token, *values: Value) -> TimerStream | AtTimerStream:
        return _timer(word, ("time", "expiration_date"), values)

    def call(self, name: Token, *given: Argument | _Attribute) -> Invocation:
        kind, _, function = str(name.value).rpartition(".")
        chosen = tuple(each.chosen for each in given if isinstance(each, _Attribute))
        arguments = tuple(each for each in given if isinstance(each, Argument))
        position = token_position(name)
        device = select_device(made("REF", kind, position), chosen)
        return Invocation(device, function, self.arguments(*arguments), position=position)

    def attribute(self, name: Token, value: Value) -> _Attribute:
        return _Attribute(self.argument(name, value))

    def old_entity(self, value: Token, kind: Token) -> EntityValue:
        if kind.value in ("tt:hashtag", "tt:username"):
            return EntityValue(value.value, kind.value, position=token_position(value))
        return EntityValue(None, kind.value, value.value, position=token_position(value))

    def context_ref(self, token: Token) -> Value:
        name, _, kind = str(token).partition(":")
        return ContextRef(name, Type(kind or "String"), position=token_position(token))


class _Attribute(msgspec.Struct):
    """An argument for selecting the device."""

    chosen: Argument


def _chain(found: Any) -> Chain:
    return found if isinstance(found, tuple) else (found,)


def _add_arguments(expression: Any, passed: tuple[Argument, ...]) -> Any:
    """Return the expression with further arguments added to its call."""
    if not passed:
        return expression
    if not isinstance(expression, Invocation):
        inner = _add_arguments(expression.source, passed)
        return msgspec.structs.replace(expression, source=inner)
    names = {each.name for each in expression.arguments}
    for each in passed:
        if each.name in names:
            raise fault(f"the parameter {each.name!s:.60} is given twice", each.position)
        names.add(each.name)
    return msgspec.structs.replace(expression, arguments=expression.arguments + passed)


def _timer(
    word: Token, names: tuple[str, ...], values: tuple[Value, ...]
) -> TimerStream | AtTimerStream:
    given = {
        name: Argument(name, value, position=token_position(word))
        for name, value in zip(names, values, strict=False)
    }
    return timer(made("NAME", str(word), token_position(word)), given)
