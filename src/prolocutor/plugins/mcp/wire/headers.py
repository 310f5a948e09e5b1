"""Header values of MCP: what HTTP cannot carry is wrapped, and parameters may be repeated there.

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

MAX_DEPTH: Final = 16


def header_value(text: str) -> str:
    """Write a text as the value of a header, wrapped in base64 where it has to be."""
    if _SAFE.fullmatch(text) and text == text.strip() and not _WRAPPED.fullmatch(text):
        return text
    return f"=?base64?{b64encode(text.encode()).decode()}?="


def text_of_header(value: str | None) -> str | None:
    """Return the text of a header's value; None for a missing or malformed one."""
    wrapped = _WRAPPED.fullmatch(value) if value is not None else None
    if wrapped is None:
        return value
    try:
        return b64decode(wrapped[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def param_headers(schema: Any, arguments: dict[str, Any]) -> dict[str, str]:
    """Return the headers that repeat arguments of a tool: those that its schema marks."""
    return {
        f"Mcp-Param-{token}": header_value(_shown(value))
        for token, value in _marked(schema, arguments, MAX_DEPTH)
    }


def _marked(schema: Any, arguments: Any, depth: int) -> Iterator[tuple[str, Any]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or not isinstance(arguments, dict) or not depth:
        return
    for name, one in properties.items():
        value = arguments.get(name)
        if not isinstance(one, dict) or value is None:
            continue
        token = one.get("x-mcp-header")
        if isinstance(token, str) and _TOKEN.fullmatch(token):
            if isinstance(value, str | int | float):
                yield token, value
        else:
            yield from _marked(one, value, depth - 1)


def _shown(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
