"""Descriptions of programs in words."""

from __future__ import annotations

import re
from typing import Any, Final

from prolocutor.plugins.almond.programs.failures import ProgramFailure
from prolocutor.plugins.almond.programs.resolving import ValueResolver
from prolocutor.plugins.almond.programs.result_messages import fill_template, value_text
from prolocutor.plugins.almond.thingtalk.checked import CheckedStatement, ResolvedCall
from prolocutor.plugins.almond.thingtalk.json_values import time_text
from prolocutor.plugins.almond.thingtalk.printing import show_condition
from prolocutor.plugins.almond.thingtalk.printing_values import show_value
from prolocutor.plugins.almond.thingtalk.tree import (
    AtTimerStream,
    Edge,
    Expression,
    Invocation,
    Monitor,
    TimerStream,
)
from prolocutor.plugins.almond.thingtalk.values import MeasureValue, TimeValue, Value

_INTERVAL: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[a-z]+)")
_TIME_UNITS: Final = {
    "ms": "millisecond",
    "s": "second",
    "min": "minute",
    "h": "hour",
    "day": "day",
    "week": "week",
    "mon": "month",
    "year": "year",
}
DEVICE: Final = "__device"
"""The parameter for the function's device in confirmations of 1.x manifests."""


def describe(statement: CheckedStatement, resolver: ValueResolver) -> str:
    """Return a statement in words: "tweet with status “lol”, every hour"."""
    queries = statement.calls if statement.action is None else statement.calls[:-1]
    things = [_call_words(each, resolver) for each in queries]
    if statement.action is not None:
        what = _call_words(statement.action, resolver)
        if things:
            what += f" with {' and '.join(things)}"
    elif things:
        what = f"{'get' if statement.stream is None else 'notify you of'} {' and '.join(things)}"
    else:
        what = "notify you"
    return what + _describe_stream(statement, bool(things))


def find_stream(expression: Expression) -> Expression:
    """Return the monitor or timer at the base of a stream expression."""
    while not isinstance(expression, Monitor | TimerStream | AtTimerStream | Invocation):
        expression = expression.source
    return expression


def _describe_stream(statement: CheckedStatement, monitored: bool) -> str:
    if statement.stream is None:
        return ""
    stream = find_stream(statement.stream)
    if isinstance(stream, TimerStream):
        return f" every {_interval(show_value(stream.interval))}"
    if isinstance(stream, AtTimerStream):
        times = [
            time_text(time)[:5] if isinstance(time, TimeValue) else "?" for time in stream.times
        ]
        return f" every day at {' and '.join(times)}"
    if edge := _find_edge(statement.stream):
        return f" when {show_condition(edge.condition)} becomes true"
    return " whenever it changes" if monitored else ""


def _find_edge(expression: Expression) -> Edge | None:
    while not isinstance(expression, Edge | Monitor | TimerStream | AtTimerStream | Invocation):
        expression = expression.source
    return expression if isinstance(expression, Edge) else None


def _interval(source: str) -> str:
    """Return an interval of time in words: "hour" for "1h", "5 minutes" for "5min"."""
    match = _INTERVAL.fullmatch(source)
    if match is None or match["unit"] not in _TIME_UNITS:
        return source
    unit = _TIME_UNITS[match["unit"]]
    return unit if match["number"] == "1" else f"{match['number']} {unit}s"


def _call_words(call: ResolvedCall, resolver: ValueResolver) -> str:
    """Return a call in words: its confirmation, else its name and its inputs."""
    function = call.function
    given = {each.name: _value_words(each.value, resolver) for each in call.call.arguments}
    types = {each.name: each.type for each in function.parameters}
    confirmation = _first(function.text("confirmation"))
    given[DEVICE] = call.owner.name.rpartition(".")[2].replace("_", " ")
    named = fill_template(confirmation, given, {}) if confirmation else None
    if named is not None and confirmation != named:
        return named
    name = confirmation or _first(function.text("canonical"))
    name = name or function.name.removeprefix("get_").replace("_", " ")
    parts = [
        f"{parameter.canonical} {given[parameter.name]}"
        for parameter in function.inputs
        if given.get(parameter.name) is not None and parameter.name in types
    ]
    return f"{name} with {' and '.join(parts)}" if parts else name


def _value_words(value: Value, resolver: ValueResolver) -> str | None:
    """Return a given value in words; an output of an earlier call by its name."""
    source = show_value(value)
    if isinstance(value, MeasureValue):
        return source
    try:
        known: Any = resolver.value(value, {})
    except ProgramFailure:
        known = None
    return f"“{value_text(known)}”" if known is not None else f"the {source.replace('_', ' ')}"


def _first(given: Any) -> str | None:
    found = given[0] if isinstance(given, list) and given else given
    return found if isinstance(found, str) and found else None
