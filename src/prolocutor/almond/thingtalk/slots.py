"""Slots: the places of a program at which a value is missing, and filling them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import msgspec

from prolocutor.almond.thingtalk.manifests import Class
from prolocutor.almond.thingtalk.nodes import SyntaxNode
from prolocutor.almond.thingtalk.values import UndefinedValue, Value

Tree = TypeVar("Tree", bound=SyntaxNode)


def count_slots(tree: SyntaxNode) -> int:
    """Count the values that are missing in a tree."""
    count = 0

    def see(empty: UndefinedValue) -> Value:
        nonlocal count
        count += 1
        return empty

    _changed(tree, see)
    return count


def fill(tree: Tree, slot: int, value: Value) -> Tree:
    """Put a value into a slot of a tree, the slots being counted from 0 as they are written.

    `IndexError` where there is no such slot.
    """
    seen = 0

    def put(empty: UndefinedValue) -> Value:
        nonlocal seen
        seen += 1
        return value if seen == slot + 1 else empty

    filled = cast(Tree, _changed(tree, put))
    if not 0 <= slot < seen:
        raise IndexError(f"there is no slot {slot} among {seen}")
    return filled


def _changed(node: Any, put: Callable[[UndefinedValue], Value]) -> Any:
    """Return a tree in which each missing value is what `put` says, in the order of writing."""
    if isinstance(node, UndefinedValue):
        return put(node)
    if isinstance(node, tuple):
        return tuple(_changed(each, put) for each in node)
    if not isinstance(node, SyntaxNode) or isinstance(node, Class):
        return node
    changed = {}
    for name in node.__struct_fields__:
        inner = getattr(node, name)
        if isinstance(inner, SyntaxNode | tuple):
            after = _changed(inner, put)
            if after != inner:
                changed[name] = after
    return msgspec.structs.replace(node, **changed) if changed else node
