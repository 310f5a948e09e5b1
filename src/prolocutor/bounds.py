"""Bounds: what a setting may be, written once in the type of a Struct's field and read from there.

    timeout: Annotated[float, Meta(gt=0)] = 2.0

The YAML schema, the Python API and the tests of the reference pages read it.
"""

from __future__ import annotations

import math
import types
from functools import lru_cache
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeGuard,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from prolocutor.clocks import YEAR
from prolocutor.errors import ConfigError

MANY: Final = 1_000_000_000

Count = Annotated[int, Meta(ge=1, le=MANY)]
Seconds = Annotated[float, Meta(ge=0, le=YEAR, extra={"unit": "seconds"})]
PositiveSeconds = Annotated[float, Meta(gt=0, le=YEAR, extra={"unit": "seconds"})]
Share = Annotated[float, Meta(ge=0, le=1)]
Cost = Annotated[float, Meta(ge=0)]


def about(description: str, **extra: Any) -> Meta:
    """Return the annotation of a setting: what it is for, and what its type cannot say.

    - `unit`: what a number counts, such as "seconds"
    - `what`, `item`: what the value, or one of a list or map, is called where another is found
    - `words`: texts that stand for values, such as `{"unlimited": None}`
    - `duration`: seconds may be written with a unit, such as 15m
    - `single`: one value may stand for a list of one
    - `secret`: the value is never shown
    - `reads`: a function from plain data to the value; it raises `ValueError` with what is expected
    - `each`: that function makes a list of one value, and of each value of a list
    - `group`: an entry-point group; the value is a name in it
    - `json`: in a file it is a map of any JSON, though Python may set a Struct
    - `hidden`: Python alone sets it, it is no key of a file
    """
    return Meta(description=description, extra=extra or None)


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers that a setting may be: `least` and `most` included, `above` excluded."""

    whole: bool = False
    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf

    @property
    def what(self) -> str:
        """The kind of number, as a noun."""
        return "a whole number" if self.whole else "a number"

    def is_kind(self, value: object) -> TypeGuard[float]:
        """Return whether a value is a number of this kind; a whole number may be written 1.0."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return not self.whole or (math.isfinite(value) and value == int(value))

    def broken_by(self, value: float) -> str | None:
        """Return the bound that a number breaks, such as "above 0"; None for a number within."""
        if value <= self.above:
            return f"above {self.above:.12g}"
        if value < self.least:
            return f"of at least {self.least:.12g}"
        if value > self.most:
            return f"of at most {self.most:.12g}"
        return None if math.isfinite(value) else "that is finite"


class TypeNotes:
    """The merged annotations of one type; `hint` is the type without them."""

    def __init__(self, hint: Any) -> None:
        self.hint = hint
        self.metas: tuple[Meta, ...] = ()
        if get_origin(hint) is Annotated:
            self.hint, *metas = get_args(hint)
            self.metas = tuple(meta for meta in metas if isinstance(meta, Meta))
        self.extra: dict[str, Any] = {}
        for meta in self.metas:
            self.extra |= meta.extra or {}

    @property
    def description(self) -> str:
        """The first description."""
        return next((meta.description for meta in self.metas if meta.description), "")

    @property
    def pattern(self) -> str | None:
        """The first pattern."""
        return next((meta.pattern for meta in self.metas if meta.pattern is not None), None)

    def bounds(self) -> Bounds:
        """Return the bounds of a number."""
        found = Bounds(whole=self.hint is int)
        for meta in self.metas:
            given = {"least": meta.ge, "above": meta.gt, "most": meta.le}
            found = replace(found, **{key: at for key, at in given.items() if at is not None})
        return found

    def members(self) -> list[TypeNotes]:
        """Return the types of a union, but None, each with the annotations of the union too."""
        if get_origin(self.hint) not in (Union, types.UnionType):
            return []
        members = [TypeNotes(arg) for arg in get_args(self.hint) if arg is not type(None)]
        for member in members:
            member.extra = {**member.extra, **self.extra}
            member.metas = (*member.metas, *self.metas)
        return members


def check_bounds(struct: msgspec.Struct, *, path: str = "") -> None:
    """Raise a `ConfigError` with the key of the first field that is out of its bounds.

    Fields whose type says nothing that could be checked here may hold anything.
    """
    for name, (kinds, is_optional) in _kinds(type(struct)).items():
        value = getattr(struct, name)
        if (
            not kinds
            or (value is None and is_optional)
            or any(_fits(value, kind) for kind in kinds)
        ):
            continue
        expected = ", or ".join(_describe_kind(kind, value) for kind in kinds)
        key = f"{path}.{name}" if path else name
        raise ConfigError(f"expected {expected}, found {value!r:.80}", key=key)


Kind = Bounds | tuple[str, ...] | type[str]
"""The values of a field: numbers, one of some words, a text."""


@lru_cache(maxsize=64)
def _kinds(struct: type[msgspec.Struct]) -> dict[str, tuple[list[Kind], bool]]:
    """Return each field's kinds of values (none for an unknown type), and whether it takes None."""
    hints = get_type_hints(struct, include_extras=True)
    notes = {name: TypeNotes(hints[name]) for name in struct.__struct_fields__}
    return {
        name: (_find_kinds(note), type(None) in get_args(note.hint)) for name, note in notes.items()
    }


def _find_kinds(notes: TypeNotes) -> list[Kind]:
    if members := notes.members():
        each = [_find_kinds(member) for member in members]
        return [kind for kinds in each for kind in kinds] if all(each) else []
    if notes.hint in (int, float):
        return [notes.bounds()]
    if get_origin(notes.hint) is Literal:
        return [get_args(notes.hint)]
    return [str] if notes.hint is str else []


def _fits(value: object, kind: Kind) -> bool:
    if isinstance(kind, Bounds):
        is_number = isinstance(value, int if kind.whole else int | float)
        return is_number and kind.is_kind(value) and kind.broken_by(value) is None
    return value in kind if isinstance(kind, tuple) else isinstance(value, str)


def _describe_kind(kind: Kind, value: Any) -> str:
    if isinstance(kind, Bounds):
        broken = kind.broken_by(value) if kind.is_kind(value) else None
        return f"{kind.what} {broken}" if broken else kind.what
    return " or ".join(kind) if isinstance(kind, tuple) else "a text"
