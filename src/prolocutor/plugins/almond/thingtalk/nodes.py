"""Nodes of a tree: their positions in the source, errors at a position, and size limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import msgspec

from prolocutor.errors import ThingTalkError

MAX_BYTES: Final = 8 * 1024
"""Bytes of a program's source in UTF-8; also of its tokens, and of its entities as JSON."""

MAX_MANIFEST_BYTES: Final = 64 * 1024
"""Bytes of the source of manifests."""

MAX_STATEMENTS: Final = 32
"""Statements of one program."""

MAX_DEPTH: Final = 40
"""Levels of a tree, counted from the program."""


class SourcePosition(msgspec.Struct, frozen=True, eq=False):
    """A line and a column, both from 1; `NOWHERE` without a source. All positions are equal."""

    line: int
    column: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourcePosition)

    def __hash__(self) -> int:
        return 0


NOWHERE = SourcePosition(0, 0)


class SyntaxNode(msgspec.Struct, frozen=True, kw_only=True, tag=True, tag_field="node"):
    """A node of a tree, with the position of its characteristic word."""

    position: SourcePosition = NOWHERE


Tree = TypeVar("Tree", bound=SyntaxNode)


def transform(
    tree: Tree,
    change: Callable[[SyntaxNode], SyntaxNode],
    *,
    leave: type[SyntaxNode] | None = None,
) -> Tree:
    """Return a tree with `change` applied to each node, from the leaves up, in source order.

    Nodes of the type `leave` are kept, with everything inside them.
    """

    def inside(node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(inside(each) for each in node)
        if not isinstance(node, SyntaxNode) or (leave is not None and isinstance(node, leave)):
            return node
        inner = {name: inside(getattr(node, name)) for name in node.__struct_fields__}
        return change(msgspec.structs.replace(node, **inner))

    return cast(Tree, inside(tree))


def fault(what: str, position: SourcePosition, do: str = "") -> ThingTalkError:
    """Return an error with the fault, its position and the remedy."""
    return ThingTalkError(what, line=position.line, column=position.column, do=do)


def check_size(size: int, most: int) -> None:
    """Raise `ThingTalkError` if a source is too long."""
    if size > most:
        raise fault(
            f"the source has {size:,} bytes, more than the {most:,} allowed",
            SourcePosition(1, 1),
            "send less at once",
        )


def check_tree(tree: SyntaxNode) -> None:
    """Raise `ThingTalkError` if a tree has too many statements or levels."""
    statements: tuple[SyntaxNode, ...] = getattr(tree, "statements", ())
    if len(statements) > MAX_STATEMENTS:
        position = statements[MAX_STATEMENTS].position
        raise fault(
            f"there are more than {MAX_STATEMENTS} statements", position, "send fewer at once"
        )
    stack: list[tuple[Any, int, SourcePosition]] = [(tree, 1, NOWHERE)]
    while stack:
        node, level, position = stack.pop()
        if isinstance(node, tuple):
            stack.extend([(inner, level, position) for inner in node])
        elif isinstance(node, msgspec.Struct) and not isinstance(node, SourcePosition):
            position = (
                getattr(node, "position", NOWHERE) if level == 1 else _nearest(node, position)
            )
            if level > MAX_DEPTH:
                raise fault(
                    f"the program is nested deeper than {MAX_DEPTH} levels",
                    position if position.line else SourcePosition(1, 1),
                    "make several statements of it",
                )
            stack.extend(
                [(getattr(node, name), level + 1, position) for name in node.__struct_fields__]
            )


def _nearest(node: msgspec.Struct, outer: SourcePosition) -> SourcePosition:
    position = getattr(node, "position", NOWHERE)
    return position if position.line else outer
