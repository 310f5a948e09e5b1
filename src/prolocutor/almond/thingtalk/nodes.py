"""Place: where in the source something stands. It never makes two trees different."""

from __future__ import annotations

import msgspec

from prolocutor.errors import ThingTalkError


class SourcePosition(msgspec.Struct, frozen=True, eq=False):
    """A line and a column, both from 1; `NOWHERE` for what was not read from a source."""

    line: int
    column: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourcePosition)

    def __hash__(self) -> int:
        return 0


NOWHERE = SourcePosition(0, 0)


class SyntaxNode(msgspec.Struct, frozen=True, kw_only=True, tag=True, tag_field="node"):
    """A node of a tree, with the place of its first telling word."""

    place: SourcePosition = NOWHERE


def fault(what: str, place: SourcePosition, do: str = "") -> ThingTalkError:
    """Make an error out of what is wrong, where, and what to do."""
    return ThingTalkError(what, line=place.line, column=place.column, do=do)
