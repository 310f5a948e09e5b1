"""Values that nobody expects, and values that nearly fit a JSON schema."""

import json
import random
from typing import Any

TEXTS = [
    "",
    " ",
    "ann",
    "\x00",
    "\ud800",
    "\u202e\u0301",
    "{text:.40!r}",
    "%s%n{0}",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "'; DROP TABLE dialogs; --",
    "🦜" * 40,
    "[" * 2000,
    "a" * 20_000,
    "0" * 300,
    "1e999999",
    "9" * 5_000,
    "2026-02-30",
    "٣٫٥",
    "\r\nX-Injected: yes",
]
ODD = [None, True, -1, 0, 0.5, 1e308, -0.0, 2**53, 2**63, 10**30, [], {}, [[]], {"": {}}, *TEXTS]
DEEP = b"[" * 5_000 + b"]" * 5_000
BODIES = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"\xff\xfe",
    b"\x00",
    b'{"a":NaN}',
    b'{"a":1,"a":2}',
    b'"\\ud800"',
    b"1e400",
    b"\xef\xbb\xbf{}",
    b"\x89PNG\r\n\x1a\n",
    b"[" * 5_000,
    DEEP,
    b'{"a":' * 3_000 + b"1" + b"}" * 3_000,
    b'"' + b"x" * 900_000 + b'"',
    b"[" + b"1," * 200_000 + b"1]",
]


def odd_value(chance: random.Random, depth: int = 0) -> Any:
    """Make a value of any shape."""
    if depth > 3 or chance.random() < 0.7:
        return chance.choice(ODD)
    if chance.random() < 0.5:
        return [odd_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {str(chance.choice(TEXTS)): odd_value(chance, depth + 1) for _ in range(3)}


def nearly(schema: Any, components: Any, chance: random.Random, depth: int = 0) -> Any:
    """Make a value that fits a schema, or nearly."""
    if not isinstance(schema, dict) or depth > 6 or chance.random() < 0.12:
        return odd_value(chance, depth)
    if "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return nearly(chance.choice(schema[key]), components, chance, depth + 1)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "const" in schema:
        return schema["const"]
    match schema.get("type"):
        case "object":
            fields, needed = schema.get("properties", {}), set(schema.get("required", ()))
            made = {
                name: nearly(kind, components, chance, depth + 1)
                for name, kind in fields.items()
                if name in needed or chance.random() < 0.5
            }
            if chance.random() < 0.1:
                made[str(chance.choice(TEXTS))] = odd_value(chance, depth)
            return made
        case "array":
            item, number = schema.get("items", {}), chance.choice([0, 1, 2, 2, 40])
            return [nearly(item, components, chance, depth + 2) for _ in range(number)]
        case "integer":
            return chance.choice([0, 1, -1, 2**31, 2**70])
        case "number":
            return chance.choice([0.5, -1, 1e300])
        case "boolean":
            return chance.random() < 0.5
    return chance.choice(["hi", "ann", "text", *TEXTS])


def as_json(value: Any, chance: random.Random) -> bytes:
    """Write a value as JSON, now and then with a piece cut out or put in."""
    text = json.dumps(value).encode()
    if chance.random() < 0.15:
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(BODIES[:10]) + text[at + chance.randrange(9) :]
    return text
