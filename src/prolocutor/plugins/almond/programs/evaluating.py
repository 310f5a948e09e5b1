"""Evaluation of queries: from the calls of skills to the results after filters and the like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, Final

import msgspec

from prolocutor.plugins.almond.programs.calling import ProgramCalls
from prolocutor.plugins.almond.programs.failures import MissingField, ProgramFailure
from prolocutor.plugins.almond.programs.resolving import EVENT, Fields, ValueResolver, find_field
from prolocutor.plugins.almond.thingtalk.checked import ResolvedCall
from prolocutor.plugins.almond.thingtalk.tree import (
    Aggregate,
    Always,
    And,
    AtTimerStream,
    Compare,
    Condition,
    DontCare,
    Edge,
    Expression,
    Filter,
    Index,
    Invocation,
    Monitor,
    Not,
    Or,
    Projection,
    Slice,
    Sort,
    TimerStream,
)
from prolocutor.plugins.almond.thingtalk.values import Value

MOST_ROWS: Final = 1000
"""The number of results with which a chain continues; further results are dropped."""

_UNSAID: Final = (None, "")

_ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">=": lambda left, right: bool(left >= right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    "<": lambda left, right: bool(left < right),
}
_TEXTS: Final[dict[str, Callable[[str, str], bool]]] = {
    "=~": lambda left, right: right in left,
    "~=": lambda left, right: left in right,
    "starts_with": lambda left, right: left.startswith(right),
    "ends_with": lambda left, right: left.endswith(right),
    "prefix_of": lambda left, right: right.startswith(left),
    "suffix_of": lambda left, right: right.endswith(left),
}


class ResultRow(msgspec.Struct, frozen=True, kw_only=True):
    """A result: its fields, its call, and whether it has all fields of its call."""

    fields: dict[str, Any]
    call: ResolvedCall | None = None
    whole: bool = True


class Evaluation:
    """Evaluates expressions of a statement. `events` are the current results of its stream.

    `held`: the condition of the stream's edge held for its last result.
    """

    def __init__(
        self,
        calls: ProgramCalls,
        resolved: Sequence[ResolvedCall],
        resolver: ValueResolver,
        events: list[ResultRow] | None = None,
        *,
        held: bool = False,
    ) -> None:
        self._calls = calls
        self._resolved = {each.call: each for each in resolved}
        self._resolver = resolver
        self._events = events or []
        self.held = held

    async def rows(self, expression: Expression, scope: Fields) -> list[ResultRow]:
        """Return the results of an expression; `ProgramFailure` if they cannot be had."""
        match expression:
            case Invocation():
                return await self._call(expression, scope)
            case Monitor() | TimerStream() | AtTimerStream():
                return self._events
            case Edge(source, condition):
                return await self._crossing(await self.rows(source, scope), condition, scope)
            case Filter(source, condition):
                return await self._filter(await self.rows(source, scope), condition, scope)
            case Projection(source, fields):
                return [_project(row, fields) for row in await self.rows(source, scope)]
            case Sort(source, field, direction):
                return self._sort(await self.rows(source, scope), field, direction == "desc")
            case Index(source, indices):
                rows = await self.rows(source, scope)
                numbers = [self._whole(value, scope) for value in indices]
                found = [_find_index(number, len(rows)) for number in numbers]
                return [rows[index] for index in found if index is not None]
            case Slice(source, base, count):
                rows = await self.rows(source, scope)
                first = _find_index(self._whole(base, scope), len(rows))
                length = max(0, self._whole(count, scope))
                return [] if first is None else rows[first : first + length]
            case Aggregate():
                return self._aggregate(expression, await self.rows(expression.source, scope))

    async def do(self, call: ResolvedCall, scope: Fields) -> list[ResultRow]:
        """Run an action and return its results, if it has any."""
        results = await self._calls.results(call, self._parameters(call, scope))
        return [ResultRow(fields=result, call=call) for result in results if call.function.outputs]

    async def _call(self, call: Invocation, scope: Fields) -> list[ResultRow]:
        resolved = self._resolved[call]
        given = self._parameters(resolved, scope)
        results = await self._calls.results(resolved, given)
        unsaid = {each.name: None for each in resolved.function.inputs}
        event = {f"{EVENT}.type": f"{resolved.owner.name}:{call.function}"}
        return [
            ResultRow(fields={**unsaid, **given, **event, **result}, call=resolved)
            for result in results
        ]

    async def _filter(
        self, rows: list[ResultRow], condition: Condition, scope: Fields
    ) -> list[ResultRow]:
        left = []
        for row in rows:
            await self._calls.pause()
            if holds(condition, {**scope, **row.fields}, self._resolver):
                left.append(row)
        return left

    async def _crossing(
        self, rows: list[ResultRow], condition: Condition, scope: Fields
    ) -> list[ResultRow]:
        """Return the results with which the condition becomes true."""
        found = []
        for row in rows:
            await self._calls.pause()
            before, self.held = self.held, holds(condition, {**scope, **row.fields}, self._resolver)
            if self.held and not before:
                found.append(row)
        return found

    def _parameters(self, call: ResolvedCall, scope: Fields) -> dict[str, Any]:
        arguments = call.call.arguments
        given = {each.name: self._resolver.value(each.value, scope) for each in arguments}
        for each in call.function.inputs:
            if each.direction == "in req" and given.get(each.name) is None:
                raise MissingField(each.canonical)
        return given

    def _whole(self, value: Value, scope: Fields) -> int:
        number = self._resolver.value(value, scope)
        if isinstance(number, bool) or not isinstance(number, int | float) or number != int(number):
            raise ProgramFailure("", f"{number!r:.80} is not a whole number")
        return int(number)

    def _sort(self, rows: list[ResultRow], field: str, down: bool) -> list[ResultRow]:
        """Sort by a field; results without the field come last in either direction."""
        keyed = [(sort_key(find_field(row.fields, field), self._resolver), row) for row in rows]
        said = [(key, row) for key, row in keyed if key is not None]
        said.sort(key=lambda pair: pair[0], reverse=down)
        return [row for _, row in said] + [row for key, row in keyed if key is None]

    def _aggregate(self, aggregate: Aggregate, rows: list[ResultRow]) -> list[ResultRow]:
        call = rows[0].call if rows else None
        if aggregate.field is None:
            return [ResultRow(fields={"count": len(rows)}, call=call, whole=False)]
        values = [find_field(row.fields, aggregate.field) for row in rows]
        values = [value for value in values if value not in _UNSAID]
        if aggregate.operator == "count":
            different = {repr(value) for value in values}
            return [ResultRow(fields={"count": len(different)}, call=call, whole=False)]
        if not values:
            return []
        if aggregate.operator in ("max", "min"):
            ordered = self._sort(rows, aggregate.field, aggregate.operator == "max")
            found = find_field(ordered[0].fields, aggregate.field)
        else:
            parts = len(values) if aggregate.operator == "avg" else 1
            found = _total(values, aggregate.field, parts)
        return [ResultRow(fields={aggregate.field: found}, call=call, whole=False)]


def _project(row: ResultRow, fields: Sequence[str]) -> ResultRow:
    projected = {name: find_field(row.fields, name) for name in fields}
    return ResultRow(fields=projected, call=row.call, whole=False)


def _find_index(number: int, length: int) -> int | None:
    """Return the index of a result by its number (1 first, -1 last); None if out of range."""
    index = number - 1 if number > 0 else length + number
    return index if number and 0 <= index < length else None


def _total(values: list[Any], field: str, parts: int) -> Any:
    """Return the sum of numbers, or of money of a single currency, divided by `parts`."""
    codes = {str(value.get("code", "")).lower() for value in values if isinstance(value, dict)}
    amounts: list[Any] = [
        value.get("value") if isinstance(value, dict) else value for value in values
    ]
    if len(codes) > 1:
        raise ProgramFailure("", f"{field} is money of several currencies, which have no sum")
    if any(isinstance(amount, bool) or not isinstance(amount, int | float) for amount in amounts):
        raise ProgramFailure("", f"{field} is not always a number")
    try:
        total = sum(amounts) if parts == 1 else sum(amounts) / parts
    except OverflowError:
        total = float("inf")
    if isinstance(total, float) and not isfinite(total):
        raise ProgramFailure("", f"{field} is too large to be added")
    return {"value": total, "code": codes.pop()} if codes else total


def holds(condition: Condition, fields: Fields, resolver: ValueResolver) -> bool:
    """Return whether a condition is true. A comparison with a missing field is false."""
    match condition:
        case Always(value):
            return value
        case DontCare():
            return True
        case Not(inner):
            return not holds(inner, fields, resolver)
        case And(inner):
            return all(holds(one, fields, resolver) for one in inner)
        case Or(inner):
            return any(holds(one, fields, resolver) for one in inner)
        case Compare(left, operator, right):
            return compare(
                resolver.value(left, fields),
                operator,
                resolver.value(right, fields),
                resolver,
            )


def compare(left: Any, operator: str, right: Any, resolver: ValueResolver) -> bool:
    """Compare two JSON values by an operator of ThingTalk."""
    if left is None or right is None:
        return False
    if operator == "==":
        return _same(left, right, resolver)
    if operator in _ORDERS:
        first, second = sort_key(left, resolver), sort_key(right, resolver)
        if first is None or second is None or not _are_comparable(first[0], second[0]):
            return False
        return _ORDERS[operator](first[1], second[1])
    if operator in _TEXTS:
        return _TEXTS[operator](_fold_text(left), _fold_text(right))
    match operator:
        case "contains":
            return any(_same(item, right, resolver) for item in _list_items(left))
        case "contains~":
            return any(_fold_text(right) in _fold_text(item) for item in _list_items(left))
        case "~contains":
            return any(_fold_text(item) in _fold_text(right) for item in _list_items(left))
        case "in_array":
            return any(_same(left, item, resolver) for item in _list_items(right))
        case "in_array~":
            return any(_fold_text(item) in _fold_text(left) for item in _list_items(right))
        case "~in_array":
            return any(_fold_text(left) in _fold_text(item) for item in _list_items(right))
    return False


def sort_key(value: Any, resolver: ValueResolver) -> tuple[str, Any] | None:
    """Return the sort key of a value: its kind, and a number, moment or text; None if unordered.

    Money compares within its currency; a plain number compares with any.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return "number", value
    if isinstance(value, dict):
        amount = value.get("value")
        is_amount = isinstance(amount, int | float) and not isinstance(amount, bool)
        return (f"number {value.get('code', '')}".lower(), amount) if is_amount else None
    if isinstance(value, str):
        moment = resolver.moment(value)
        return ("moment", moment) if moment is not None else ("text", value.casefold())
    return None


def _are_comparable(first: str, second: str) -> bool:
    if first == second:
        return True
    return "number" in (first, second) and first.startswith("number") == second.startswith("number")


def _same(left: Any, right: Any, resolver: ValueResolver) -> bool:
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if left == right:
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        return _same_place(left, right) if "display" in left | right else _same_money(left, right)
    if isinstance(left, str) and isinstance(right, str):
        moment = resolver.moment(left)
        return moment is not None and moment == resolver.moment(right)
    return False


def _same_place(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Return whether two places have the same coordinates, or else the same name."""
    places = [(one.get("latitude"), one.get("longitude")) for one in (left, right)]
    if all(None not in place for place in places):
        return places[0] == places[1]
    return _fold_text(left.get("display") or "") == _fold_text(right.get("display") or "-")


def _same_money(left: dict[str, Any], right: dict[str, Any]) -> bool:
    codes = [str(one.get("code", "")).lower() for one in (left, right)]
    return "value" in left and left["value"] == right.get("value") and codes[0] == codes[1]


def _fold_text(value: Any) -> str:
    """Return the text of a value for searching: case folded, single blanks."""
    if isinstance(value, dict):
        value = value.get("display") or ""
    return " ".join(str(value).casefold().split())


def _list_items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
