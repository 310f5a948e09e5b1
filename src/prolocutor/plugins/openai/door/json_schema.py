"""Faults by a JSON Schema: the keywords by which clients describe an answer.

Source: JSON Schema 2020-12. Patterns and formats are not checked, and neither is a keyword that is
not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

MAX_DEPTH: Final = 64

_TYPES: Final[dict[str, Any]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}


def schema_fault(schema: Any, value: Any) -> str:
    """Return the fault and its place, as in `$.age: not of type integer`; "" without a fault."""
    return next(_faults(schema, value, "$", schema, MAX_DEPTH), "")


def _faults(schema: Any, value: Any, path: str, root: Any, depth: int) -> Iterator[str]:
    if schema is False:
        yield f"{path}: not allowed"
    if not isinstance(schema, dict) or not depth:
        return
    if isinstance(ref := schema.get("$ref"), str):
        yield from _faults(_referred(ref, root), value, path, root, depth - 1)
    types = schema.get("type")
    kinds = types if isinstance(types, list) else [types] if isinstance(types, str) else []
    if kinds and not any(_is_of(value, kind) for kind in kinds):
        yield f"{path}: not of type {' or '.join(map(str, kinds))}"
        return
    if "enum" in schema and not any(_is_same(value, one) for one in schema["enum"]):
        yield f"{path}: none of {schema['enum']!r:.200}"
    if "const" in schema and not _is_same(value, schema["const"]):
        yield f"{path}: not {schema['const']!r:.200}"
    yield from _bounds(schema, value, path)
    for part in schema.get("allOf") or ():
        yield from _faults(part, value, path, root, depth - 1)
    for key in ("anyOf", "oneOf"):
        found = [
            next(_faults(part, value, path, root, depth - 1), "") for part in schema.get(key) or ()
        ]
        if found and (all(found) or (key == "oneOf" and found.count("") != 1)):
            yield next(filter(None, found), f"{path}: fits several of oneOf")
    yield from _parts(schema, value, path, root, depth)


def _parts(schema: Any, value: Any, path: str, root: Any, depth: int) -> Iterator[str]:
    """Return the faults of the members of an object or the items of a list."""
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        for name in schema.get("required") or ():
            if name not in value:
                yield f"{path}.{name}: missing"
        others = schema.get("additionalProperties", True)
        for name, one in value.items():
            part = properties.get(name, others)
            yield from _faults(part, one, f"{path}.{name:.80}", root, depth - 1)
    if isinstance(value, list):
        first = schema.get("prefixItems") or ()
        for number, one in enumerate(value):
            part = first[number] if number < len(first) else schema.get("items", True)
            yield from _faults(part, one, f"{path}[{number}]", root, depth - 1)


_SIZES: Final[dict[str, Any]] = {"Length": str, "Items": list, "Properties": dict}


def _bounds(schema: Any, value: Any, path: str) -> Iterator[str]:
    broken = []
    for name, kind in _SIZES.items():
        if isinstance(value, kind):
            size = len(value)
            broken += [f"min{name}"] if size < schema.get(f"min{name}", 0) else []
            broken += [f"max{name}"] if size > schema.get(f"max{name}", size) else []
    if _is_of(value, "number"):
        broken += [
            key
            for key, is_out in (
                ("minimum", value < schema.get("minimum", value)),
                ("maximum", value > schema.get("maximum", value)),
                ("exclusiveMinimum", value <= schema.get("exclusiveMinimum", value - 1)),
                ("exclusiveMaximum", value >= schema.get("exclusiveMaximum", value + 1)),
            )
            if is_out
        ]
    for key in broken:
        yield f"{path}: {key} is {schema[key]}"


def _referred(ref: str, root: Any) -> Any:
    """Return the schema of a reference within the same document; True for another reference."""
    if not ref.startswith("#"):
        return True
    found = root
    for step in ref[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name, True) if isinstance(found, dict) else True
    return found


def _is_of(value: Any, kind: object) -> bool:
    if kind in ("number", "integer"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and (kind == "number" or float(value).is_integer())
    known = _TYPES.get(str(kind))
    return known is None or isinstance(value, known)


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
