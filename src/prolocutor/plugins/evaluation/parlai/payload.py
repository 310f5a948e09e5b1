"""A message as valid JSON: bytes, arrays, sets, images and metrics included.

Values without a JSON form are converted, one way only:

- bytes: base64 text; an image: the data URL of a PNG
- arrays and tensors: nested lists; sets: sorted lists; other sequences: lists
- NaN and infinity: the texts "NaN", "Infinity", "-Infinity" (as in protobuf's JSON form)
- metrics: their value; dates: ISO 8601; paths, UUIDs, decimals: their text; enums: their value
- keys of other types: as Python's json writes them; lone surrogates: U+FFFD
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import io
import math
import os
import uuid
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Final

import msgspec

from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.images import convert_to_rgb

MAX_DEPTH: Final = 64

Unknown = Callable[[Any], Any]
"""Converts an object of an unknown type to a known type."""


def to_json(message: Mapping[str, Any], *, unknown: Unknown | None = None) -> dict[str, Any]:
    """Return a message as a plain dictionary of JSON values; the message is not changed.

    Raise `BadData`, with the path, for an object without a JSON form (unless `unknown` converts
    it), for keys equal as text, and for nesting deeper than 64 levels.
    """
    converted: dict[str, Any] = _Conversion(unknown).mapping(message, "", 1)
    return converted


def encode(message: Mapping[str, Any], *, unknown: Unknown | None = None) -> bytes:
    """Return a message as JSON in UTF-8; `BadData` as in `to_json`."""
    try:
        return msgspec.json.encode(to_json(message, unknown=unknown))
    except ValueError as error:
        raise BadData(f"cannot be written as JSON: {error}") from None


class _Conversion:
    """One conversion of a message."""

    def __init__(self, unknown: Unknown | None) -> None:
        self._unknown = unknown

    def mapping(self, given: Mapping[Any, Any], path: str, depth: int) -> dict[str, Any]:
        if depth > MAX_DEPTH:
            raise BadData(f"nested deeper than {MAX_DEPTH} levels, or a cycle", field=path[:200])
        converted: dict[str, Any] = {}
        for key, value in given.items():
            name = _key(key, path)
            if name in converted:
                raise BadData(f"two keys are {name!r} in JSON", field=path or None)
            converted[name] = self.value(value, f"{path}.{name}" if path else name, depth + 1)
        return converted

    def value(self, given: Any, path: str, depth: int) -> Any:
        kind = type(given)
        if given is None or kind is bool or kind is int:
            return given
        if kind is str:
            return _text(given)
        if isinstance(given, float):
            return float(given) if math.isfinite(given) else _not_finite(given)
        if isinstance(given, Mapping):
            return self.mapping(given, path, depth)
        return self._leaf(given, path, depth)

    def _leaf(self, given: Any, path: str, depth: int) -> Any:
        if isinstance(given, enum.Enum):
            return self.value(given.value, path, depth + 1)
        if isinstance(given, str):
            return _text(str(given))
        if isinstance(given, int):
            return int(given)
        if isinstance(given, memoryview):
            return base64.b64encode(given.tobytes()).decode()
        if isinstance(given, bytes | bytearray):
            return base64.b64encode(given).decode()
        if isinstance(given, Set):
            items = self._items(list(given), path, depth)
            return sorted(items, key=msgspec.json.encode)
        if isinstance(given, datetime.date | datetime.time):
            return given.isoformat()
        if isinstance(given, os.PathLike | uuid.UUID | decimal.Decimal):
            return _text(str(given))
        if dataclasses.is_dataclass(given) and not isinstance(given, type):
            fields = {one.name: getattr(given, one.name) for one in dataclasses.fields(given)}
            return self.mapping(fields, path, depth)
        if isinstance(given, msgspec.Struct):
            return self.mapping(msgspec.structs.asdict(given), path, depth)
        return self._duck(given, path, depth)

    def _duck(self, given: Any, path: str, depth: int) -> Any:
        """Convert an object by its methods: arrays, tensors, images, metrics."""
        if not isinstance(given, type):
            if callable(getattr(given, "tolist", None)):
                return self.value(given.tolist(), path, depth + 1)
            if _is_image(given):
                return png_url(given)
            if callable(getattr(given, "value", None)) and hasattr(given, "macro_average"):
                return self.value(given.value(), path, depth + 1)
        if isinstance(given, Sequence) or type(given) is list:
            return self._items(given, path, depth)
        if self._unknown is None:
            raise BadData(f"a {type(given).__name__} has no JSON form", field=path)
        known = self._unknown(given)
        if known is given:
            raise BadData(f"a {type(given).__name__} has no JSON form", field=path)
        return self.value(known, path, depth + 1)

    def _items(self, given: Sequence[Any], path: str, depth: int) -> list[Any]:
        if depth > MAX_DEPTH:
            raise BadData(f"nested deeper than {MAX_DEPTH} levels, or a cycle", field=path[:200])
        return [self.value(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(given)]


def png_url(image: Any) -> str:
    """Return a Pillow image as the data URL of a PNG; modes that PNG has not become RGB."""
    data = io.BytesIO()
    kept = image.mode in ("1", "I;16", "L", "LA", "P", "RGB", "RGBA")
    plain = image if kept else convert_to_rgb(image)
    plain.save(data, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"


def _is_image(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("save", "convert", "mode", "size"))


def _text(given: str) -> str:
    try:
        given.encode()
    except UnicodeEncodeError:
        return given.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return given


def _not_finite(given: float) -> str:
    return "NaN" if math.isnan(given) else "Infinity" if given > 0 else "-Infinity"


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return _text(str(key.value) if isinstance(key, enum.Enum) else str(key))
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int | float):
        return str(_not_finite(key) if isinstance(key, float) and not math.isfinite(key) else key)
    raise BadData(f"the key {key!r:.50} is a {type(key).__name__}", field=path or None)
