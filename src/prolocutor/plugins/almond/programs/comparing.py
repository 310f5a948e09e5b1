"""Conditions: whether a condition of a program is true of a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from prolocutor.plugins.almond.programs.resolving import Fields, ValueResolver
from prolocutor.plugins.almond.thingtalk.tree import (
    Always,
    And,
    Compare,
    Condition,
    DontCare,
    Not,
    Or,
)


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
            return any(_same(one, right, resolver) for one in _list_items(left))
        case "contains~":
            return any(_fold_text(right) in _fold_text(one) for one in _list_items(left))
        case "~contains":
            return any(_fold_text(one) in _fold_text(right) for one in _list_items(left))
        case "in_array":
            return any(_same(left, one, resolver) for one in _list_items(right))
        case "in_array~":
            return any(_fold_text(one) in _fold_text(left) for one in _list_items(right))
        case "~in_array":
            return any(_fold_text(left) in _fold_text(one) for one in _list_items(right))
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
    if all(None not in one for one in places):
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
