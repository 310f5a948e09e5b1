"""Plain values: values are checked and encoded to JSON here before any other use.

msgspec writes NaN as null, merges the keys 1 and "1" and takes dates for strings without a word, so
a value counts as plain only if encoding and decoding give an equal value. A Struct stands for its
JSON object, which differs from it, so only values without Structs are encoded once.
"""

from __future__ import annotations

import functools
import logging
import math
import operator
import re
from gc import get_referents
from operator import length_hint
from typing import Any, Final, NoReturn, TypeAlias

import msgspec

from prolocutor.errors import BadReply, ServiceError

log = logging.getLogger(__name__)

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object with free keys: annotations, attributes, data defined by other programs."""

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 64
MAX_STATE_BYTES: Final = 1 << 40
MAX_PAYLOAD_BYTES: Final = 1 << 26
MAX_STATE_DEPTH: Final = 2 * MAX_DEPTH
"""The depth of agent state, in which services' replies lie some levels further in."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
"""Some programs begin UTF-8 with it; in JSON it means nothing (RFC 8259, 8.1)."""

encode: Final = msgspec.json.Encoder().encode
decode: Final = msgspec.json.Decoder().decode

_EMPTY: Final = object()
"""Stands for the default of a field that is an empty list or dict of its own."""
_NEVER: Final = object()
"""Stands for the default of a field that is never left out."""

_STRINGS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))

_FEW_PARTS: Final = 50
"""Parts up to which a value is not measured at all."""

_MANY_PARTS: Final = 1_000_000
"""Parts from which on a value is walked through slowly, each part once."""

_CONTAINERS: Final = (dict, list, tuple, msgspec.Struct)
_LEAVES: Final = frozenset({str, int, float, bool, type(None)})
_PLAIN: Final = (*_CONTAINERS, str, int, float, type(None), msgspec.UnsetType)


class Plain(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A checked JSON value and its encoding: `value` is a decoded copy of `encoded`."""

    value: Any
    encoded: bytes


class PlainItems(Plain, frozen=True, eq=False, gc=True):
    """A list with items checked one by one; a bad item is kept as its error, null in `value`. It is
    the reply of a service to a batch of requests.
    """

    items: list[Plain | ServiceError]

    @classmethod
    def collect(cls, items: list[Plain | ServiceError]) -> PlainItems:
        """Return the list of these items."""
        good = [item if isinstance(item, Plain) else None for item in items]
        encoded = b",".join([b"null" if item is None else item.encoded for item in good])
        return cls([item and item.value for item in good], b"[%b]" % encoded, items)


class OwnReply(Plain, frozen=True, eq=False, gc=False):
    """A reply in place of a service's: hypotheses, which pass no formatter."""

    @classmethod
    def from_hypothesis(cls, hypothesis: JsonObject) -> OwnReply:
        """Return the reply that is this hypothesis."""
        made = check([hypothesis])
        return cls(made.value, made.encoded)


def check(value: Any, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Plain:
    """Encode `value` to JSON and decode it again; raise `BadReply` with the path of a fault.

    Refused: NaN and infinity, keys other than strings, lone surrogates, cycles, other types, more
    than `max_bytes` bytes, more than `max_depth` levels. Tuples become lists, Structs (such as
    `Hypothesis`) JSON objects.
    """
    kind = type(value)
    if kind is list and 0 < len(value) <= _FEW_PARTS and isinstance(value[0], msgspec.Struct):
        # a typed reply: convert to objects at once, as encoded and decoded values would differ
        value = [_struct_object(one) if isinstance(one, msgspec.Struct) else one for one in value]
    elif kind is not list and kind is not dict and isinstance(value, msgspec.Struct):
        value = _struct_object(value)
    inner = get_referents(*(parts := get_referents(value)))
    if len(parts) + len(inner) > _FEW_PARTS or get_referents(*inner):
        _measure(value, max_bytes, max_depth)
    while True:
        try:
            encoded = encode(value)
        except Exception:
            _explain(value, max_depth)
            raise BadReply("cannot be written as JSON") from None
        if len(encoded) > max_bytes:
            raise BadReply(f"{len(encoded):,} bytes, more than the {max_bytes:,} allowed")
        if len(encoded) > 2 * max_depth and _is_deep(encoded, max_depth):
            _explain(value, max_depth)
        decoded = decode(encoded)
        if decoded == value:
            return Plain(decoded, encoded)
        objects = unpack_structs(value)
        if objects is value:
            _explain(value, max_depth)
            return Plain(decoded, encoded)
        value = objects


def unpack_structs(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a value with its Structs as JSON objects; the same value if it has no Structs.

    A Struct may define its object by a method `json_members`.
    """
    if depth == 0:
        return value
    if isinstance(value, msgspec.Struct):
        own = getattr(value, "json_members", None)
        if own is None:
            return unpack_structs(members(value), depth - 1)
        made = own()
        _measure(made, MAX_BYTES, MAX_DEPTH)  # made here, so not measured before
        return unpack_structs(made, depth - 1)
    if isinstance(value, dict):
        inner = {key: unpack_structs(one, depth - 1) for key, one in value.items()}
        return inner if any(inner[key] is not one for key, one in value.items()) else value
    if isinstance(value, list | tuple):
        items = [unpack_structs(one, depth - 1) for one in value]
        return items if any(map(operator.is_not, items, value)) else value
    return value


def _struct_object(struct: msgspec.Struct) -> dict[str, Any]:
    own = getattr(struct, "json_members", None)
    made: dict[str, Any] = members(struct) if own is None else own()
    return made


def members(struct: msgspec.Struct) -> dict[str, Any]:
    """Return the members of a Struct's JSON object, as msgspec names, tags and omits them."""
    tag, names, defaults = _layout(type(struct))
    said = {
        name: value
        for name, default, value in zip(
            names, defaults, msgspec.structs.astuple(struct), strict=True
        )
        if value is not default and (default is not _EMPTY or value or value is None)
    }
    return {**tag, **said}


@functools.lru_cache(maxsize=256)
def _layout(
    struct: type[msgspec.Struct],
) -> tuple[dict[str, Any], tuple[str, ...], tuple[Any, ...]]:
    """Return the tag of a Struct, the names of its members, and the omitted defaults."""
    config, fields = struct.__struct_config__, msgspec.structs.fields(struct)
    tag = {config.tag_field: config.tag} if config.tag_field is not None else {}
    names = tuple(field.encode_name for field in fields)
    if not config.omit_defaults:
        return tag, names, (_NEVER,) * len(fields)
    has_own = [field.default_factory is not msgspec.NODEFAULT for field in fields]
    defaults = [
        _EMPTY if own else field.default for own, field in zip(has_own, fields, strict=True)
    ]
    return tag, names, tuple(defaults)


def parse(data: bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Plain:
    """Decode JSON from a wire; raise `BadReply` if it is not JSON, too large or too deep."""
    if len(data) > max_bytes:
        raise BadReply(f"{len(data):,} bytes, more than the {max_bytes:,} allowed")
    try:
        value = decode(data.removeprefix(BYTE_ORDER_MARK))
    except RecursionError:
        raise BadReply(f"nested deeper than {max_depth} levels") from None
    except ValueError as error:
        raise BadReply(f"not JSON: {error}") from None
    if _is_deep(data, max_depth):
        _explain(value, max_depth)
    return Plain(value, encode(value))


def _is_deep(encoded: bytes, max_depth: int) -> bool:
    """Return whether JSON has more levels: each round takes the innermost brackets away."""
    if encoded.count(b"{") + encoded.count(b"[") <= max_depth:
        return False
    brackets = _STRINGS.sub(b"", encoded).translate(_SQUARE, _NO_BRACKETS)
    for _ in range(max_depth):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _measure(value: Any, max_bytes: int, max_depth: int) -> None:
    """Refuse a value too large as JSON, before its encoding.

    Nested lists, each with the next list twice, are small in memory and endless in JSON. A value is
    walked level by level, which is cheap, each part as often as it occurs: a part has at least a
    byte. From `_MANY_PARTS` parts on, each part is visited once.
    """
    level = get_referents(value)
    number = len(level)
    while level and number <= _FEW_PARTS:
        level = get_referents(*level)
        number += len(level)
    try:
        if not level or _is_small(value, max_bytes, max_depth):
            return
    except BadReply:
        raise
    except Exception:  # a part of unknown length
        log.debug("cannot measure a %s", type(value).__name__)
    size = _estimate_size(value, max_bytes, max_depth)
    if size > 4 * max_bytes:  # a slightly too large value is encoded, and refused by its length
        _refuse(size, max_bytes)


def _is_small(value: Any, max_bytes: int, max_depth: int) -> bool:
    """Walk through a value; False if it has too many parts or levels, or shared parts."""
    level, number, size = [value], 0, length_hint(value)
    for _ in range(2 * max_depth):
        if size > max_bytes:
            _refuse(size, max_bytes)
        if number > _MANY_PARTS or 4 * len(set(map(id, level))) < len(level) - _MANY_PARTS // 1000:
            return False
        parts = get_referents(*level)  # of a Struct also its class, which has no length
        number += len(parts)
        keys = [key for one in level if isinstance(one, dict) for key in one]  # no referents
        size += sum(map(length_hint, [*parts, *keys]))
        level = [
            part for part in parts if type(part) not in _LEAVES and isinstance(part, _CONTAINERS)
        ]
        if not level:
            return size <= max_bytes or _refuse(size, max_bytes)
    return False


def _refuse(size: int, max_bytes: int) -> NoReturn:
    raise BadReply(f"{size:,} bytes or more, more than the {max_bytes:,} allowed")


def _estimate_size(value: Any, max_bytes: int, max_depth: int) -> int:
    """Return about how many bytes a value has as JSON, and never more than it has.

    Raise `BadReply` as soon as the seen parts, each counted once, are too many.
    """
    sizes: dict[int, int] = {}
    least = 0  # brackets and commas of the visited parts
    stack: list[tuple[Any, int, list[Any] | None]] = [(value, 1, None)]
    while stack:
        item, depth, parts = stack.pop()
        if parts is not None:
            sizes[id(item)] = len(parts) + 1 + sum([_size(part, sizes) for part in parts])
        elif isinstance(item, _CONTAINERS) and id(item) not in sizes:
            if depth > 2 * max_depth:
                _explain(value, max_depth)
            least += 2 if isinstance(item, msgspec.Struct) else len(item) + 1
            if least > max_bytes:
                _refuse(least, max_bytes)
            inner = _parts(item)
            stack.append((item, depth, inner))
            stack += [(part, depth + 1, None) for part in inner if type(part) not in _LEAVES]
        elif not isinstance(item, _PLAIN):
            _explain(value, max_depth)
    return _size(value, sizes)


def _parts(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return [*item, *item.values()]
    if isinstance(item, msgspec.Struct):
        return [getattr(item, name) for name in item.__struct_fields__]
    return list(item)


def _size(part: Any, sizes: dict[int, int]) -> int:
    return len(part) + 2 if isinstance(part, str) else sizes.get(id(part), 1)


def _explain(value: Any, max_depth: int) -> None:
    """Walk the value and raise `BadReply` with the path of the first part outside of JSON.

    A part in several places is walked again only at a greater depth.
    """
    stack: list[tuple[Any, str, int]] = [(value, "$", 1)]
    seen: dict[int, int] = {}
    objects: list[Any] = []  # objects made of Structs, kept so that their ids are not reused
    while stack:
        item, path, depth = stack.pop()
        if isinstance(item, _CONTAINERS):
            if depth > max_depth:
                what = f"nested deeper than {max_depth} levels, or a cycle"
                raise BadReply(what, path=path[:200])
            if seen.get(id(item), 0) >= depth:
                continue
            seen[id(item)] = depth
        if isinstance(item, msgspec.Struct):
            own = getattr(item, "json_members", None)
            item = members(item) if own is None else own()
            objects.append(item)
        if isinstance(item, dict):
            for key, inner in item.items():
                if not isinstance(key, str):
                    raise BadReply(f"the key {key!r:.50} is not a string", path=path)
                _explain_text(key, path)
                stack.append((inner, f"{path}.{key!s:.80}", depth + 1))
        elif isinstance(item, list | tuple):
            stack.extend((inner, f"{path}[{i}]", depth + 1) for i, inner in enumerate(item))
        else:
            _explain_leaf(item, path)


def _explain_leaf(item: Any, path: str) -> None:
    if isinstance(item, int):
        _explain_integer(item, path)
    elif isinstance(item, str):
        _explain_text(item, path)
    elif isinstance(item, float):
        if not math.isfinite(item):
            raise BadReply(f"{item} is not a number that JSON has", path=path)
    elif item is not None:
        raise BadReply(f"a {type(item).__name__} cannot be written as JSON", path=path)


def _explain_integer(item: int, path: str) -> None:
    try:
        str(int(item))
    except ValueError:
        raise BadReply(f"an integer of {item.bit_length():,} bits is too long", path=path) from None


def _explain_text(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadReply("a lone surrogate is not Unicode text", path=path) from None
