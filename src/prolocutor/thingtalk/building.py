"""From recognised programs and classes to their tree: one method a rule of the grammars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from lark import Token, v_args

from prolocutor.thingtalk import units
from prolocutor.thingtalk.building_values import Values
from prolocutor.thingtalk.lexer import SPECIAL
from prolocutor.thingtalk.manifests import (
    Annotation,
    Class,
    Direction,
    EntityDeclaration,
    Function,
    Import,
    Parameter,
)
from prolocutor.thingtalk.places import NOWHERE, fault
from prolocutor.thingtalk.tree import (
    Aggregate,
    Aggregation,
    Always,
    And,
    Argument,
    AtTimer,
    Call,
    Compare,
    Comparison,
    Condition,
    Control,
    Device,
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
from prolocutor.thingtalk.types import OLD_NAMES, PLAIN, Type
from prolocutor.thingtalk.values import Array, Boolean, Entity, Number, String, Value
from prolocutor.thingtalk.words import place_of


@v_args(inline=True)
class Classes(Values):
    """Builds classes and types."""

    def setting(self, name: Token, value: Value) -> Annotation:
        return Annotation(str(name), value, place=place_of(name))

    def text(self, name: Token, value: Value) -> Annotation:
        return Annotation(str(name), value, is_text=True, place=place_of(name))

    def plain_type(self, name: Token) -> Type:
        if name in OLD_NAMES:
            return Type("Entity", of=OLD_NAMES[name])
        if name not in PLAIN:
            raise fault(f"{name:.40} is no type", place_of(name), "types begin as in String")
        return Type(str(name))

    def array_type(self, element: Type) -> Type:
        return Type("Array", element=element)

    def entity_type(self, kind: Token) -> Type:
        return Type("Entity", of=kind.value)

    def measure_type(self, unit: Token | None = None) -> Type:
        base = units.base_of(str(unit)) if unit is not None else ""
        if base is None:
            raise fault(f"{unit:.40} is no unit", place_of(cast(Token, unit)))
        return Type("Measure", of=base)

    def enum_type(self, *choices: Token) -> Type:
        return Type("Enum", choices=tuple(map(str, choices)))

    def field(self, name: Token, kind: Type, *_: Annotation) -> tuple[str, Type]:
        return str(name), kind

    def compound_type(self, *fields: tuple[str, Type]) -> Type:
        return Type("Compound", fields=fields)

    def in_req(self) -> Direction:
        return "in req"

    def in_opt(self) -> Direction:
        return "in opt"

    def out(self) -> Direction:
        return "out"

    def parameter(self, *parts: Any) -> Parameter:
        way: Direction = "in req"
        if not isinstance(parts[0], Token):
            way, *parts = parts  # type: ignore[assignment]
        name, kind, *annotations = parts
        return Parameter(str(name), kind, way, annotations=tuple(annotations), place=place_of(name))

    def modifier(self, token: Token) -> Token:
        return token

    function_kind = modifier

    def extends(self, *names: Token) -> tuple[str, ...]:
        return tuple(str(name.value) for name in names)

    function_extends = entity_extends = extends

    def function(self, *parts: Any) -> Function:
        words = [part for part in parts if isinstance(part, Token)]
        *modifiers, kind, name = words
        parameters = tuple(part for part in parts if isinstance(part, Parameter))
        _unique([(each.name, each.place) for each in parameters], "parameter")
        return Function(
            str(name),
            cast(Literal["query", "action"], str(kind)),
            parameters,
            is_list="list" in modifiers,
            is_monitorable="monitorable" in modifiers,
            extends=next((part for part in parts if type(part) is tuple), ()),
            annotations=tuple(part for part in parts if isinstance(part, Annotation)),
            place=place_of(name),
        )

    def import_(self, *parts: Any) -> Import:
        *facets, module, arguments = parts
        given = tuple((each.name, each.value) for each in arguments)
        return Import(tuple(map(str, facets)), module.value, given, place=place_of(facets[0]))

    def entity_declaration(self, name: Token, *parts: Any) -> EntityDeclaration:
        return EntityDeclaration(
            str(name),
            next((part for part in parts if type(part) is tuple), ()),
            annotations=tuple(part for part in parts if isinstance(part, Annotation)),
            place=place_of(name),
        )

    def class_(self, name: Token, *parts: Any) -> Class:
        return self._class(name, parts, is_abstract=False)

    def abstract_class(self, name: Token, *parts: Any) -> Class:
        return self._class(name, parts, is_abstract=True)

    def _class(self, name: Token, parts: Sequence[Any], *, is_abstract: bool) -> Class:
        functions = tuple(part for part in parts if isinstance(part, Function))
        _unique([(each.name, each.place) for each in functions], "function")
        return Class(
            str(name.value),
            functions,
            next((part for part in parts if type(part) is tuple), ()),
            tuple(part for part in parts if isinstance(part, Import)),
            tuple(part for part in parts if isinstance(part, EntityDeclaration)),
            is_abstract,
            annotations=tuple(part for part in parts if isinstance(part, Annotation)),
            place=place_of(name),
        )


@v_args(inline=True)
class Programs(Classes):
    """Builds programs and control commands."""

    def program(self, *found: Statement | Class) -> Program:
        classes = tuple(each for each in found if isinstance(each, Class))
        _unique([(each.name, each.place) for each in classes], "class")
        return Program(tuple(each for each in found if isinstance(each, Statement)), classes)

    def statement(self, chain: tuple[Expression, ...]) -> Statement:
        return Statement(chain)

    def chain(self, *found: Expression) -> tuple[Expression, ...]:
        return found

    def special(self, token: Token) -> Control:
        return _control(str(token.value), token)

    def old_special(self, token: Token) -> Control:
        return _control(str(token), token)

    def choice(self, number: Token) -> Control:
        return _choice(Number(cast(float, number.value), place=place_of(number)))

    def answer(self, value: Value) -> Control:
        return Control("answer", value)

    def old_control(self, name: Token, value: Value) -> Control:
        if name == "answer":
            return self.answer(value)
        if name == "choice":
            return _choice(value)
        raise fault(
            f"there is no control command {name:.40} with a value",
            place_of(name),
            "there are choice and answer",
        )

    def names(self, *names: Token) -> tuple[str, ...]:
        return tuple(map(str, names))

    def projection(self, bracket: Token, fields: tuple[str, ...], source: Expression) -> Projection:
        return Projection(source, fields, place=place_of(bracket))

    def filter(self, source: Expression, word: Token, condition: Condition) -> Filter:
        return Filter(source, condition, place=place_of(word))

    def index(self, source: Expression, bracket: Token, numbers: tuple[Value, ...]) -> Index:
        return Index(source, numbers, place=place_of(bracket))

    def slice(self, source: Expression, bracket: Token, base: Value, count: Value) -> Slice:
        return Slice(source, base, count, place=place_of(bracket))

    def monitor(self, word: Token, source: Expression, fields: tuple[str, ...] = ()) -> Monitor:
        return Monitor(source, fields, place=place_of(word))

    def monitor_fields(self, word: Token, fields: tuple[str, ...], source: Expression) -> Monitor:
        return Monitor(source, fields, place=place_of(word))

    def count(self, word: Token, source: Expression) -> Aggregate:
        return Aggregate(source, "count", place=place_of(word))

    count_call = count

    def count_field(self, word: Token, field: Token, source: Expression) -> Aggregate:
        return Aggregate(source, "count", str(field), place=place_of(word))

    def aggregate(
        self, word: Token, operator: Token, field: Token, source: Expression
    ) -> Aggregate:
        return self.aggregate_call(operator, field, source)

    def aggregate_call(self, operator: Token, field: Token, source: Expression) -> Aggregate:
        name = cast(Aggregation, str(operator))
        return Aggregate(source, name, str(field), place=place_of(operator))

    def sort(self, word: Token, field: Token, direction: Token, source: Expression) -> Sort:
        way = cast(Literal["asc", "desc"], str(direction))
        return Sort(source, str(field), way, place=place_of(word))

    def timer(self, name: Token, arguments: tuple[Argument, ...]) -> Timer | AtTimer:
        return timer(name, {each.name: each for each in arguments})

    def argument(self, name: Token, value: Value) -> Argument:
        return Argument(str(name), value, place=place_of(name))

    def arguments(self, *found: Argument) -> tuple[Argument, ...]:
        _unique([(each.name, each.place) for each in found], "parameter")
        return found

    def call(self, name: Token, *parts: Any) -> Call:
        given: tuple[Argument, ...]
        match parts:
            case [tuple() as given]:
                kind, _, function = str(name.value).rpartition(".")
                if not kind:
                    raise fault(
                        f"@{function:.60} names no function",
                        place_of(name),
                        "write @class.function(...)",
                    )
                device = Device(kind, place=place_of(name))
                return Call(device, function, given, place=place_of(name))
            case [Token() as member, tuple() as given]:
                device = Device(str(name.value), place=place_of(name))
                return Call(device, str(member), given, place=place_of(name))
            case _:
                selection, member, given = parts
                device = device_of(name, selection)
                return Call(device, str(member), given, place=place_of(name))

    def or_(self, left: Condition, right: Condition) -> Or:
        return Or(_flat(Or, left) + _flat(Or, right))

    def and_(self, left: Condition, right: Condition) -> And:
        return And(_flat(And, left) + _flat(And, right))

    def not_(self, condition: Condition) -> Not:
        return Not(condition)

    def group(self, condition: Condition) -> Condition:
        return condition

    def always(self, token: Token) -> Always:
        return Always(True, place=place_of(token))

    def never(self, token: Token) -> Always:
        return Always(False, place=place_of(token))

    def dont_care(self, token: Token, field: Token) -> DontCare:
        return DontCare(str(field), place=place_of(field))

    def compare(self, left: Value, operator: Token, right: Value) -> Compare:
        place = left.place if left.place.line else place_of(operator)
        return Compare(left, cast(Comparison, str(operator)), right, place=place)

    def test(self, operator: Any, *values: Value) -> Any:
        if not values:
            return operator[0] if isinstance(operator, list) else operator
        left, right = values
        return Compare(left, cast(Comparison, str(operator)), right, place=place_of(operator))


setattr(Programs, "class", Programs.class_)
setattr(Programs, "import", Programs.import_)


def timer(name: Token, given: dict[str, Argument]) -> Timer | AtTimer:
    """Give the stream that a call without a device means; `ThingTalkError` for other functions."""
    place = place_of(name)
    known = {"timer": {"base", "interval", "frequency"}, "attimer": {"time", "expiration_date"}}
    if name not in known:
        raise fault(
            f"there is no function {name:.60}",
            place,
            "functions of devices begin with @; own functions and macros are not taken",
        )
    for each in given.values():
        if each.name not in known[name]:
            raise fault(
                f"{name} has no parameter {each.name:.60}",
                each.place,
                f"it has {', '.join(sorted(known[name]))}",
            )
    if name == "attimer":
        if "time" not in given:
            raise fault("attimer lacks its time", place, "write attimer(time=[new Time(12, 30)])")
        times = given["time"].value
        until = given.get("expiration_date")
        listed = times.items if isinstance(times, Array) else (times,)
        return AtTimer(listed, until.value if until else None, place=place)
    if not {"base", "interval"} <= given.keys():
        raise fault("timer lacks its base or interval", place, "timer(base=$now, interval=1h)")
    often = given.get("frequency")
    return Timer(
        given["base"].value,
        given["interval"].value,
        often.value if often else None,
        place=place,
    )


def device_of(name: Token, selection: tuple[Argument, ...]) -> Device:
    """Give the device that is chosen by attributes; `ThingTalkError` for odd ones."""
    chosen: dict[str, Any] = {}
    for each in selection:
        match each.name, each.value:
            case "id", Entity(value, _, display):
                chosen["id"] = value
                if display is not None:
                    chosen["name"] = display
            case "id" | "name", String(value):
                chosen[each.name] = value
            case "all", Boolean(value):
                chosen["all"] = value
            case _:
                raise fault(
                    f"a device is not chosen by {each.name:.60}, or not so",
                    each.place,
                    'write @class(id="...") or @class(name="...") or @class(all=true)',
                )
    return Device(str(name.value), **chosen, place=place_of(name))


def _control(name: str, token: Token) -> Control:
    if name not in SPECIAL:
        raise fault(
            f"there is no control command {name:.40}",
            place_of(token),
            f"there are {', '.join(sorted(SPECIAL))}",
        )
    return Control("nevermind" if name == "cancel" else name)


def _choice(value: Value) -> Control:
    if not isinstance(value, Number) or value.value != int(value.value) or value.value < 0:
        raise fault("a choice is a whole number", value.place, "choices count from 0")
    return Control("choice", value)


def _flat(kind: type[And] | type[Or], condition: Condition) -> tuple[Condition, ...]:
    return condition.conditions if isinstance(condition, kind) else (condition,)


def _unique(names: Sequence[tuple[str, Any]], what: str) -> None:
    seen = set()
    for name, place in names:
        if name in seen:
            raise fault(f"the {what} {name:.60} is given twice", place or NOWHERE, "leave one out")
        seen.add(name)
