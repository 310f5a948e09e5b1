"""Header values of MCP: wraps texts that HTTP cannot carry; repeats parameters in headers.

Source: the specification of 2026-07-28, "Transports", "Custom Headers".
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any, Final

_WRAPPED: Final = re.compile(r"=\?base64\?(.*)\?=")
_SAFE: Final = re.compile(r"[\x20-\x7e]*")
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

MARK: Final = "x-mcp-header"
"""The keyword by which the schema of an argument names the header that repeats it."""

_SIMPLE: Final = ("string", "integer", "boolean", "number")
_SCHEMAS: Final = frozenset(
    "items contains unevaluatedItems additionalProperties propertyNames unevaluatedProperties"
    " not if then else contentSchema".split()
)
_SCHEMA_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS_BY_NAME: Final = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}
)
"""Keywords of JSON Schema 2020-12 with schemas; others have values, which may look like schemas."""


def header_value(text: str) -> str:
    """Return a text as the value of a header, wrapped in base64 if need be."""
    if _SAFE.fullmatch(text) and text == text.strip() and not _WRAPPED.fullmatch(text):
        return text
    return f"=?base64?{b64encode(text.encode()).decode()}?="


def text_of_header(value: str | None) -> str | None:
    """Return the text of a header's value, None for a missing or malformed value."""
    wrapped = _WRAPPED.fullmatch(value) if value is not None else None
    if wrapped is None:
        return value
    try:
        return b64decode(wrapped[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def header_fault(schema: Any) -> str:
    """Return the fault of the headers that a tool's schema marks, or "".

    A mark is the name of a header, once in a schema, at an argument of a simple type that is
    reached from the root by `properties` alone. The specification leaves `number` out, its
    conformance tests do not.
    """
    seen: set[str] = set()
    for path, marked_schema in _marked_schemas(schema):
        token = marked_schema[MARK]
        if not path:
            return f"{MARK} stands at no argument"
        where = f"{MARK} of {'.'.join(path)}"
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            return f"{where} is not the name of a header: {token!r:.80}"
        if marked_schema.get("type") not in _SIMPLE:
            return f"{where} marks an argument that is not a text, number or boolean"
        if token.lower() in seen:
            return f"{where} is marked before: {token}"
        seen.add(token.lower())
    return ""


def param_headers(schema: Any, arguments: dict[str, Any]) -> dict[str, str]:
    """Return the headers for the arguments that a tool's schema marks."""
    found: dict[str, str] = {}
    for path, marked_schema in _marked_schemas(schema):
        value: Any = arguments
        for name in path or ():
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, str | int | float):
            found[f"Mcp-Param-{marked_schema[MARK]}"] = header_value(_header_text(value))
    return found


def _marked_schemas(schema: Any) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the schemas that mark a header, each with the path of argument names to it.

    The path is empty if other keywords than `properties` lead to the schema.
    """
    left: list[tuple[tuple[str, ...] | None, Any]] = [((), schema)]
    while left:
        path, one = left.pop()
        if not isinstance(one, dict):
            continue
        if MARK in one:
            yield path or (), one
        for key, value in one.items():
            is_map = key in _SCHEMAS_BY_NAME and isinstance(value, dict)
            if key == "properties" and is_map:
                left += [(None if path is None else (*path, name), value[name]) for name in value]
            elif is_map or (key in _SCHEMA_LISTS and isinstance(value, list)):
                left += [(None, each) for each in (value.values() if is_map else value)]
            elif key in _SCHEMAS:
                left.append((None, value))


def _header_text(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
