"""How large a ThingTalk program may be: bytes, tokens, statements, depth."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from prolocutor.almond.thingtalk.nodes import NOWHERE, SourcePosition, SyntaxNode, fault

MAX_BYTES: Final = 8 * 1024
"""Bytes of a program's source in UTF-8, and of the words and entities of one in tokens."""

MAX_MANIFEST_BYTES: Final = 64 * 1024
"""Bytes of the source of manifests."""

MAX_STATEMENTS: Final = 32
"""Statements of one program."""

MAX_DEPTH: Final = 40
"""Levels of a tree, counted from the program."""


def check_size(size: int, most: int) -> None:
    """Raise `ThingTalkError` where a source is too long."""
    if size > most:
        raise fault(
            f"the source has {size:,} bytes, more than the {most:,} allowed",
            SourcePosition(1, 1),
            "send less at once",
        )


def check_tree(tree: SyntaxNode) -> None:
    """Raise `ThingTalkError` where a tree has too many statements or levels."""
    statements: tuple[SyntaxNode, ...] = getattr(tree, "statements", ())
    if len(statements) > MAX_STATEMENTS:
        place = statements[MAX_STATEMENTS].place
        raise fault(f"there are more than {MAX_STATEMENTS} statements", place, "send fewer at once")
    stack: list[tuple[Any, int, SourcePosition]] = [(tree, 1, NOWHERE)]
    while stack:
        node, level, place = stack.pop()
        if isinstance(node, tuple):
            stack.extend([(inner, level, place) for inner in node])
        elif isinstance(node, msgspec.Struct) and not isinstance(node, SourcePosition):
            place = getattr(node, "place", NOWHERE) if level == 1 else _nearest(node, place)
            if level > MAX_DEPTH:
                raise fault(
                    f"the program is nested deeper than {MAX_DEPTH} levels",
                    place if place.line else SourcePosition(1, 1),
                    "make several statements of it",
                )
            stack.extend(
                [(getattr(node, name), level + 1, place) for name in node.__struct_fields__]
            )


def _nearest(node: msgspec.Struct, outer: SourcePosition) -> SourcePosition:
    place = getattr(node, "place", NOWHERE)
    return place if place.line else outer
