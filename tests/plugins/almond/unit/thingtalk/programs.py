"""Programs of every shape, for properties that have to hold for all of them."""

import datetime as dt
from typing import Any

from hypothesis import strategies as st

from prolocutor.plugins.almond.thingtalk import units
from prolocutor.plugins.almond.thingtalk.tree import (
    Aggregate,
    Always,
    And,
    Argument,
    AtTimerStream,
    Compare,
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
from prolocutor.plugins.almond.thingtalk.types import NUMBER, STRING, Type, entity
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

INFIX = ("==", ">=", "<=", ">", "<", "=~", "~=")
CALLED = ("contains", "contains~", "~contains", "in_array", "in_array~", "starts_with", "prefix_of")

names = st.sampled_from(
    "title text a_b x1 _ count max asc query list contains in_array from any let Base".split()
)
dotted = st.lists(names, min_size=1, max_size=2).map(".".join)
words = st.sampled_from("on off filter new true uber_x now of in monitor class".split())
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ['say "hi"', "a\\b", "two\nlines", "// no comment", "\u2028", "=>"]
)
kinds = st.sampled_from(["tt:url", "tt:username", "com.spotify:song", "security-camera:id"])
classes = st.sampled_from(["com.twitter", "thermostat", "security-camera", "org.prolocutor.todo"])
numbers = st.integers(-(10**6), 10**6) | st.floats(
    allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200
)
times = st.builds(TimeValue, st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
moments = st.integers(-(2 * 10**9), 2 * 10**10).map(
    lambda seconds: dt.datetime.fromtimestamp(seconds, dt.UTC)
)
parts = st.tuples(
    st.none() | st.integers(1000, 2999), st.none() | st.integers(1, 12), st.integers(1, 28)
)
units_of_time = st.sampled_from(["h", "day", "week", "mon", "year"])

plain_constants: st.SearchStrategy[Value] = st.one_of(
    st.builds(StringValue, texts),
    st.builds(NumberValue, numbers),
    st.builds(MeasureValue, numbers, st.sampled_from(sorted(units.UNITS))),
    st.builds(CurrencyValue, numbers, st.sampled_from(["usd", "eur", "xts"])),
    st.builds(EnumValue, words),
    times,
    st.builds(NamedTime, st.just("morning")),
    parts.flatmap(lambda some: st.builds(DateValue, *map(st.just, some), st.none() | times)),
    st.builds(WeekDay, st.sampled_from(["monday", "sunday"]), st.none() | times),
    st.builds(Instant, moments),
    st.builds(Now),
    st.builds(DateEdge, st.sampled_from(["start_of", "end_of"]), units_of_time),
    st.builds(LocationValue, st.floats(-90, 90), st.floats(-180, 180), st.none() | texts),
    st.builds(NamedLocation, texts),
    st.builds(RelativeLocation, st.sampled_from(["home", "work", "current_location"])),
    st.builds(EntityValue, texts, kinds, st.none() | texts),
    st.builds(EntityValue, st.none(), kinds, texts),
    st.builds(UndefinedValue),
    st.builds(EventValue, st.sampled_from([None, "type", "program_id", "source"])),
    st.builds(
        ContextRef,
        st.just("selection"),
        st.sampled_from([STRING, NUMBER, entity("tt:url"), Type("Array", element=STRING)]),
    ),
)
variables = st.builds(Variable, dotted)


def nested(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    fields = st.lists(st.tuples(names, inner), max_size=2, unique_by=lambda field: field[0])
    return st.lists(inner, max_size=3).map(lambda items: ArrayValue(tuple(items))) | fields.map(
        lambda some: ObjectValue(tuple(some))
    )


constants = st.recursive(plain_constants, nested, max_leaves=4)
values: st.SearchStrategy[Value] = st.one_of(
    constants, variables, st.builds(BooleanValue, st.booleans())
)
ordinals = st.one_of(
    st.builds(NumberValue, st.integers(-9, 9)), variables, st.builds(UndefinedValue)
)

leaves: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Always, st.booleans()),
    st.builds(DontCare, dotted),
    st.builds(Compare, constants | variables, st.sampled_from(INFIX), values),
    st.builds(Compare, values, st.sampled_from(CALLED), values),
)


def joined(kind: Any, inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    others = inner.filter(lambda condition: not isinstance(condition, kind))
    return st.lists(others, min_size=2, max_size=3).map(lambda some: kind(tuple(some)))


conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(st.builds(Not, inner), joined(And, inner), joined(Or, inner)),
    max_leaves=5,
)

devices = st.builds(DeviceSelector, classes, st.none() | texts, st.none() | texts, st.booleans())
arguments = st.lists(
    st.builds(Argument, names, values), max_size=3, unique_by=lambda argument: argument.name
)
calls = st.builds(Invocation, devices, names, arguments.map(tuple))
timers: st.SearchStrategy[Expression] = st.builds(
    TimerStream, values, values, st.none() | values
) | st.builds(
    AtTimerStream, st.lists(values, min_size=1, max_size=2).map(tuple), st.none() | values
)


def around(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    fields = st.lists(dotted, min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(Filter, inner, conditions),
        st.builds(Projection, inner, fields),
        st.builds(Sort, inner, dotted, st.sampled_from(["asc", "desc"])),
        st.builds(Index, inner, st.lists(values, min_size=1, max_size=2).map(tuple)),
        st.builds(Slice, inner, ordinals, ordinals),
        st.builds(Aggregate, inner, st.sampled_from(["count", "sum", "avg", "max", "min"]), dotted),
        st.builds(Aggregate, inner, st.just("count"), st.none()),
        st.builds(Monitor, inner, st.just(()) | fields),
        st.builds(Edge, inner, conditions),
    )


expressions: st.SearchStrategy[Expression] = st.recursive(calls | timers, around, max_leaves=3)
statements = st.builds(Statement, st.lists(expressions, min_size=1, max_size=3).map(tuple))
programs = st.builds(Program, st.lists(statements, min_size=1, max_size=3).map(tuple))
controls = st.one_of(
    st.builds(Control, st.sampled_from(["yes", "no", "nevermind", "stop", "more"])),
    st.builds(Control, st.just("choice"), st.builds(NumberValue, st.integers(0, 99))),
    st.builds(Control, st.just("answer"), values),
)
