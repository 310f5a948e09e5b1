"""Builds the trees of values and of classes: a method for each rule of the grammar."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Literal, cast

from lark import Token, Transformer, v_args

from prolocutor.plugins.almond.thingtalk import units
from prolocutor.plugins.almond.thingtalk.lexer import token_position
from prolocutor.plugins.almond.thingtalk.manifests import (
    Annotation,
    Class,
    Direction,
    EntityDeclaration,
    Function,
    Import,
    Parameter,
)
from prolocutor.plugins.almond.thingtalk.nodes import NOWHERE, SourcePosition, fault
from prolocutor.plugins.almond.thingtalk.types import OLD_NAMES, PLAIN, Type
from prolocutor.plugins.almond.thingtalk.values import (
    ArrayValue,
    BooleanValue,
    ContextRef,
    CurrencyValue,
    DateEdge,
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
    calendar_date,
    date_edge,
    iso_date,
    location,
    measure,
    time,
)
from prolocutor.reading.dates import WEEK_DAYS


@v_args(inline=True)
class ValueBuilder(Transformer[Token, Any]):
    """Builds values; the parts of a rule are positional arguments."""

    def values(self, *found: Value) -> tuple[Value, ...]:
        return found

    def variable(self, name: Token) -> Variable:
        return Variable(str(name), position=token_position(name))

    def true(self, token: Token) -> BooleanValue:
        return BooleanValue(True, position=token_position(token))

    def false(self, token: Token) -> BooleanValue:
        return BooleanValue(False, position=token_position(token))

    def string(self, token: Token) -> StringValue:
        return StringValue(token.value, position=token_position(token))

    def number(self, token: Token) -> NumberValue:
        return NumberValue(cast(float, token.value), position=token_position(token))

    def measure(self, token: Token, unit: Token) -> MeasureValue:
        return measure(cast(float, token.value), str(unit), token_position(unit))

    def currency(self, token: Token, code: Token) -> CurrencyValue:
        return CurrencyValue(
            cast(float, token.value), str(code.value).lower(), position=token_position(token)
        )

    def enum(self, word: Token) -> EnumValue:
        return EnumValue(str(word), position=token_position(word))

    def device(self, token: Token) -> EntityValue:
        return EntityValue(token.value, "tt:device", position=token_position(token))

    def entity(self, value: Token, kind: Token, display: Token | None = None) -> EntityValue:
        shown = display.value if display is not None else None
        return EntityValue(value.value, kind.value, shown, position=token_position(value))

    def named_entity(self, kind: Token, display: Token) -> EntityValue:
        return EntityValue(None, kind.value, display.value, position=token_position(kind))

    def array(self, items: tuple[Value, ...] = ()) -> ArrayValue:
        return ArrayValue(items)

    def entry(self, name: Token, value: Value) -> tuple[str, Value]:
        return str(name), value

    def object(self, *fields: tuple[str, Value]) -> ObjectValue:
        return ObjectValue(fields)

    def undefined(self, *word: Token) -> UndefinedValue:
        return UndefinedValue(position=token_position(word[0])) if word else UndefinedValue()

    def given(self, token: Token) -> Value:
        return cast(Value, token.value)

    def now(self) -> Now:
        return Now()

    def time(self, new: Token, *parts: Token) -> TimeValue:
        return time([part.value for part in parts], token_position(new))

    def named_time(self, name: Token) -> NamedTime:
        return NamedTime(str(name), position=token_position(name))

    def date(self, new: Token, *parts: Any) -> Value:
        given = [
            part.value if isinstance(part, Token) and part.type == "CONSTANT" else part
            for part in parts
        ]
        return date(given, token_position(new))

    def date_edge(self, edge: Token, unit: Token) -> DateEdge:
        return date_edge(str(edge).removeprefix("$"), str(unit), token_position(unit))

    def location(
        self, new: Token, latitude: Token, longitude: Token, display: Token | None = None
    ) -> LocationValue:
        shown = display.value if display is not None else None
        return location(latitude.value, longitude.value, shown, token_position(new))

    def named_location(self, new: Token, name: Token) -> NamedLocation:
        return NamedLocation(name.value, position=token_position(new))

    def relative_location(self, name: Token) -> RelativeLocation:
        return RelativeLocation(str(name), position=token_position(name))

    def old_context(self, token: Token, name: Token) -> NamedTime | RelativeLocation:
        what, _, which = str(name).partition(".")
        if what == "location" and which:
            return RelativeLocation(which, position=token_position(token))
        if what == "time" and which:
            return NamedTime(which, position=token_position(token))
        raise fault(
            f"$context.{name} lacks its type",
            token_position(name),
            f"write $context.{name} : String, for instance",
        )

    def context(self, token: Token, name: Token, kind: Type) -> Value:
        if str(name).startswith(("location.", "time.")) and kind.name in ("Location", "Time"):
            return self.old_context(token, name)
        return ContextRef(str(name), kind, position=token_position(token))

    def event(self, *tokens: Token) -> EventValue:
        if not tokens:
            return EventValue()
        name = str(tokens[0]).removeprefix("$")
        if name not in ("type", "program_id", "source"):
            raise fault(
                f"a result has no {name!r}",
                token_position(tokens[0]),
                "there are $type, $program_id and $source",
            )
        kind = cast(Literal["type", "program_id", "source"], name)
        return EventValue(kind, position=token_position(tokens[0]))

    @v_args(inline=False)
    def edge(self, children: list[Token]) -> Token:
        return children[0]

    unit = nothing = type_word = direction = aggregation = edge
    comparison = called = member = source_of = edge

    @v_args(inline=False)
    def name(self, children: list[Token]) -> Token:
        if len(children) == 1:
            return children[0]
        return children[0].update(value=".".join(map(str, children)))


def date(parts: list[Any], position: SourcePosition = NOWHERE) -> Value:
    """Return a date from the arguments of `new Date(...)`.

    Without parts: now. A text: ISO 8601. A number too large for a year: milliseconds since 1970.
    Else year, month and day, each of which may be left out, or a day of the week; then hour, minute
    and second, or a time. Commas are tokens among the parts.
    """
    if not parts:
        return Now(position=position)
    slots = _between_commas(parts, position)
    first = slots[0]
    if isinstance(first, EnumValue):
        return _week_day(first, slots[1:], position)
    if len(slots) == 1 and isinstance(first, Token) and first.type == "STRING":
        return iso_date(first.value, position)
    clock = slots.pop() if isinstance(slots[-1], TimeValue) else None
    numbers = [_whole(slot, position) for slot in slots]
    while len(numbers) < 3:
        numbers.append(None)
    if clock is None and len(numbers) in (5, 6) and None not in numbers[3:]:
        clock = time([part for part in numbers[3:] if part is not None], position)
        numbers = numbers[:3]
    if len(numbers) == 4 and numbers[3] is None:
        numbers.pop()
    if len(numbers) != 3 or (numbers == [None] * 3):
        raise fault("these are not the parts of a date", position, "write new Date(2026, 5, 31)")
    if len(slots) == 1 and numbers[0] is not None and not -10_000 <= numbers[0] < 3_000:
        return _instant(numbers[0], position)
    return calendar_date(numbers, clock, position)


def _between_commas(parts: list[Any], position: SourcePosition) -> list[Any]:
    slots: list[Any] = [None]
    for part in parts:
        if isinstance(part, Token) and part.type == "COMMA":
            slots.append(None)
        elif slots[-1] is None:
            slots[-1] = part
        else:
            raise fault("the parts of a date are separated by commas", position)
    return slots


def _week_day(name: EnumValue, rest: list[Any], position: SourcePosition) -> WeekDay:
    if name.name not in WEEK_DAYS:
        raise fault(
            f"{name.name!s:.40} is not a day of the week", name.position, "write enum(monday)"
        )
    clock: TimeValue | None = None
    if rest and isinstance(rest[0], TimeValue):
        clock = rest.pop(0)
    elif rest and rest != [None]:
        numbers = [_whole(part, position) for part in rest if part is not None]
        clock = time([part for part in numbers if part is not None], position)
        rest = []
    if any(part is not None for part in rest):
        raise fault("a day of the week is followed by a time at most", position)
    return WeekDay(name.name, clock, position=position)


def _whole(part: Any, position: SourcePosition) -> int | None:
    if part is None:
        return None
    if isinstance(part, Token) and part.type == "NUMBER" and part.value == int(part.value):
        return int(part.value)
    raise fault("a part of a date is a whole number", position, "write new Date(2026, 5, 31)")


def _instant(milliseconds: int, position: SourcePosition) -> Instant:
    try:
        moment = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise fault(f"{milliseconds} ms after 1970 is not a date", position) from None
    return Instant(moment, position=position)


@v_args(inline=True)
class ClassBuilder(ValueBuilder):
    """Builds classes and types."""

    def setting(self, name: Token, value: Value) -> Annotation:
        return Annotation(str(name), value, position=token_position(name))

    def text(self, name: Token, value: Value) -> Annotation:
        return Annotation(str(name), value, is_text=True, position=token_position(name))

    def plain_type(self, name: Token) -> Type:
        if name in OLD_NAMES:
            return Type("Entity", of=OLD_NAMES[name])
        if name not in PLAIN:
            raise fault(
                f"{name!s:.40} is not a type", token_position(name), "types begin as in String"
            )
        return Type(str(name))

    def array_type(self, element: Type) -> Type:
        return Type("Array", element=element)

    def entity_type(self, kind: Token) -> Type:
        return Type("Entity", of=kind.value)

    def measure_type(self, unit: Token | None = None) -> Type:
        base = units.base_unit(str(unit)) if unit is not None else ""
        if base is None:
            raise fault(f"{unit!s:.40} is not a unit", token_position(cast(Token, unit)))
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
            way, parts = parts[0], parts[1:]
        name, kind, *annotations = parts
        return Parameter(
            str(name), kind, way, annotations=tuple(annotations), position=token_position(name)
        )

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
        unique([(each.name, each.position) for each in parameters], "parameter")
        return Function(
            str(name),
            cast(Literal["query", "action"], str(kind)),
            parameters,
            is_list="list" in modifiers,
            is_monitorable="monitorable" in modifiers,
            extends=next((part for part in parts if type(part) is tuple), ()),
            annotations=tuple(part for part in parts if isinstance(part, Annotation)),
            position=token_position(name),
        )

    def import_(self, *parts: Any) -> Import:
        *facets, module, arguments = parts
        given = tuple((each.name, each.value) for each in arguments)
        return Import(
            tuple(map(str, facets)), module.value, given, position=token_position(facets[0])
        )

    def entity_declaration(self, name: Token, *parts: Any) -> EntityDeclaration:
        return EntityDeclaration(
            str(name),
            next((part for part in parts if type(part) is tuple), ()),
            annotations=tuple(part for part in parts if isinstance(part, Annotation)),
            position=token_position(name),
        )

    def class_(self, name: Token, *parts: Any) -> Class:
        return self._class(name, parts, is_abstract=False)

    def abstract_class(self, name: Token, *parts: Any) -> Class:
        return self._class(name, parts, is_abstract=True)

    def _class(self, name: Token, parts: Sequence[Any], *, is_abstract: bool) -> Class:
        functions = tuple(part for part in parts if isinstance(part, Function))
        unique([(each.name, each.position) for each in functions], "function")
        return Class(
            str(name.value),
            functions,
            next((part for part in parts if type(part) is tuple), ()),
            tuple(part for part in parts if isinstance(part, Import)),
            tuple(part for part in parts if isinstance(part, EntityDeclaration)),
            is_abstract,
            annotations=tuple(part for part in parts if isinstance(part, Annotation)),
            position=token_position(name),
        )


setattr(ClassBuilder, "class", ClassBuilder.class_)
setattr(ClassBuilder, "import", ClassBuilder.import_)


def unique(names: Sequence[tuple[str, SourcePosition]], what: str) -> None:
    """Raise `ThingTalkError` if a name is given twice."""
    seen = set()
    for name, position in names:
        if name in seen:
            raise fault(f"the {what} {name!s:.60} is given twice", position, "leave one out")
        seen.add(name)
