"""Bounds: what a setting may be, written once in the type of a Struct's field and read from there.

    timeout: Annotated[float, Meta(gt=0)] = 2.0

The YAML schema, the Python API and the tests of the reference pages read it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, inspect

from prolocutor.clocks import YEAR
from prolocutor.errors import ConfigError

MANY: Final = 1_000_000_000


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


Count = Annotated[int, Meta(ge=1, le=MANY)]
Seconds = Annotated[float, Meta(ge=0, le=YEAR, extra={"unit": "seconds"})]
PositiveSeconds = Annotated[float, Meta(gt=0, le=YEAR, extra={"unit": "seconds"})]
Share = Annotated[float, Meta(ge=0, le=1)]
Cost = Annotated[float, Meta(ge=0)]


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Which numbers a setting may be: `least` and `most` included, `above` excluded."""

    whole: bool = False
    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf

    def hold(self, value: object) -> bool:
        """Return whether a value is a number within the bounds."""
        kind = int if self.whole else int | float
        return (
            isinstance(value, kind)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and self.least <= value <= self.most
            and value > self.above
        )

    def describe_for(self, value: object) -> str:
        """Say what is expected in place of a value that is out of the bounds."""
        if isinstance(value, int | float) and value > self.most:
            return f"at most {self.most:.12g}"
        if math.isfinite(self.above):
            return f"more than {self.above:g}"
        if math.isfinite(self.least):
            return f"{self.least:g} or more"
        return "a whole number" if self.whole else "a number"


def check_bounds(struct: msgspec.Struct, *, path: str = "") -> None:
    """Raise a `ConfigError` with the key of the first field that is out of its bounds.

    Fields whose type says nothing that could be checked here may hold anything.
    """
    for name, kinds in _kinds(type(struct)).items():
        value = getattr(struct, name)
        if kinds and not any(_fits(value, kind) for kind in kinds):
            expected = ", or ".join(
                _describe_kind(kind, value) for kind in kinds if kind is not None
            )
            key = f"{path}.{name}" if path else name
            raise ConfigError(f"expected {expected}, found {value!r:.80}", key=key)


Kind = Bounds | tuple[str, ...] | type[str] | None
"""The values that a field may have: a number, one of some words, a text, nothing."""


@lru_cache(maxsize=64)
def _kinds(struct: type[msgspec.Struct]) -> dict[str, tuple[Kind, ...]]:
    """Return for each field what it may be; nothing for a type that cannot be checked here."""
    hints = get_type_hints(struct, include_extras=True)
    return {name: _read_kinds(hints[name]) for name in struct.__struct_fields__}


def _read_kinds(hint: Any) -> tuple[Kind, ...]:
    words = _literal_words(hint)
    try:
        kinds = _read(inspect.type_info(hint))
    except TypeError:  # a union of several types that msgspec does not know
        return ()
    return tuple(words if isinstance(kind, tuple) else kind for kind in kinds)


def _literal_words(hint: Any) -> tuple[str, ...]:
    """Return the words of the first literal in a type, in their order."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return next((words for part in get_args(hint) if (words := _literal_words(part))), ())


def _read(kind: inspect.Type) -> tuple[Kind, ...]:
    match kind:
        case inspect.Metadata(type=inner):
            return _read(inner)
        case inspect.UnionType(types=types):
            each = [_read(one) for one in types]
            return tuple(one for kinds in each for one in kinds) if all(each) else ()
        case inspect.IntType() | inspect.FloatType():
            return (_bounds(kind),)
        case inspect.LiteralType():
            return ((),)
        case inspect.StrType():
            return (str,)
        case inspect.NoneType():
            return (None,)
    return ()


def _bounds(kind: inspect.IntType | inspect.FloatType) -> Bounds:
    return Bounds(
        whole=isinstance(kind, inspect.IntType),
        least=-math.inf if kind.ge is None else kind.ge,
        above=-math.inf if kind.gt is None else kind.gt,
        most=math.inf if kind.le is None else kind.le,
    )


def _fits(value: object, kind: Kind) -> bool:
    if kind is None:
        return value is None
    if isinstance(kind, Bounds):
        return kind.hold(value)
    return value in kind if isinstance(kind, tuple) else isinstance(value, str)


def _describe_kind(kind: Kind, value: object) -> str:
    if isinstance(kind, Bounds):
        return kind.describe_for(value)
    return " or ".join(kind) if isinstance(kind, tuple) else "a text"
