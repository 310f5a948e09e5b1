"""From recognised values to their tree: one method a rule of the grammars."""

from __future__ import annotations

from typing import Any, Literal, cast

from lark import Token, Transformer, v_args

from prolocutor.almond.thingtalk.constants import date_edge, location, measure, time
from prolocutor.almond.thingtalk.dates import date
from prolocutor.almond.thingtalk.nodes import fault
from prolocutor.almond.thingtalk.types import Type
from prolocutor.almond.thingtalk.values import (
    ArrayValue,
    BooleanValue,
    ContextRef,
    CurrencyValue,
    DateEdge,
    EntityValue,
    EnumValue,
    EventValue,
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
)
from prolocutor.almond.thingtalk.words import position_of


@v_args(inline=True)
class ValueBuilder(Transformer[Token, Any]):
    """Builds values; what a rule has found comes as positional arguments."""

    def values(self, *found: Value) -> tuple[Value, ...]:
        return found

    def variable(self, name: Token) -> Variable:
        return Variable(str(name), place=position_of(name))

    def true(self, token: Token) -> BooleanValue:
        return BooleanValue(True, place=position_of(token))

    def false(self, token: Token) -> BooleanValue:
        return BooleanValue(False, place=position_of(token))

    def string(self, token: Token) -> StringValue:
        return StringValue(token.value, place=position_of(token))

    def number(self, token: Token) -> NumberValue:
        return NumberValue(cast(float, token.value), place=position_of(token))

    def measure(self, token: Token, unit: Token) -> MeasureValue:
        return measure(cast(float, token.value), str(unit), position_of(unit))

    def currency(self, token: Token, code: Token) -> CurrencyValue:
        return CurrencyValue(
            cast(float, token.value), str(code.value).lower(), place=position_of(token)
        )

    def enum(self, word: Token) -> EnumValue:
        return EnumValue(str(word), place=position_of(word))

    def device(self, token: Token) -> EntityValue:
        return EntityValue(token.value, "tt:device", place=position_of(token))

    def entity(self, value: Token, kind: Token, display: Token | None = None) -> EntityValue:
        shown = display.value if display is not None else None
        return EntityValue(value.value, kind.value, shown, place=position_of(value))

    def named_entity(self, kind: Token, display: Token) -> EntityValue:
        return EntityValue(None, kind.value, display.value, place=position_of(kind))

    def array(self, items: tuple[Value, ...] = ()) -> ArrayValue:
        return ArrayValue(items)

    def entry(self, name: Token, value: Value) -> tuple[str, Value]:
        return str(name), value

    def object(self, *fields: tuple[str, Value]) -> ObjectValue:
        return ObjectValue(fields)

    def undefined(self, *word: Token) -> UndefinedValue:
        return UndefinedValue(place=position_of(word[0])) if word else UndefinedValue()

    def given(self, token: Token) -> Value:
        return cast(Value, token.value)

    def now(self) -> Now:
        return Now()

    def time(self, new: Token, *parts: Token) -> TimeValue:
        return time([part.value for part in parts], position_of(new))

    def named_time(self, name: Token) -> NamedTime:
        return NamedTime(str(name), place=position_of(name))

    def date(self, new: Token, *parts: Any) -> Value:
        given = [
            part.value if isinstance(part, Token) and part.type == "CONSTANT" else part
            for part in parts
        ]
        return date(given, position_of(new))

    def date_edge(self, edge: Token, unit: Token) -> DateEdge:
        return date_edge(str(edge).removeprefix("$"), str(unit), position_of(unit))

    def location(
        self, new: Token, latitude: Token, longitude: Token, display: Token | None = None
    ) -> LocationValue:
        shown = display.value if display is not None else None
        return location(latitude.value, longitude.value, shown, position_of(new))

    def named_location(self, new: Token, name: Token) -> NamedLocation:
        return NamedLocation(name.value, place=position_of(new))

    def relative_location(self, name: Token) -> RelativeLocation:
        return RelativeLocation(str(name), place=position_of(name))

    def old_context(self, token: Token, name: Token) -> NamedTime | RelativeLocation:
        what, _, which = str(name).partition(".")
        if what == "location" and which:
            return RelativeLocation(which, place=position_of(token))
        if what == "time" and which:
            return NamedTime(which, place=position_of(token))
        raise fault(
            f"$context.{name} lacks its type",
            position_of(name),
            f"write $context.{name} : String, for instance",
        )

    def context(self, token: Token, name: Token, kind: Type) -> Value:
        if str(name).startswith(("location.", "time.")) and kind.name in ("Location", "Time"):
            return self.old_context(token, name)
        return ContextRef(str(name), kind, place=position_of(token))

    def event(self, *tokens: Token) -> EventValue:
        if not tokens:
            return EventValue()
        name = str(tokens[0]).removeprefix("$")
        if name not in ("type", "program_id", "source"):
            raise fault(
                f"a result has no {name!r}",
                position_of(tokens[0]),
                "there are $type, $program_id and $source",
            )
        kind = cast(Literal["type", "program_id", "source"], name)
        return EventValue(kind, place=position_of(tokens[0]))

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
