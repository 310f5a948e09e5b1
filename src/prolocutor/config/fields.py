"""The kinds of values that a key may hold; each reads a value or describes its fault.

A kind also describes itself as JSON Schema, for editors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from prolocutor.bounds import Bounds
from prolocutor.catalog import Catalog
from prolocutor.clocks import DAY, HOUR, MINUTE, WEEK
from prolocutor.config.yaml_file import UNREAD, Fault, Unread, YamlNode
from prolocutor.errors import ConfigError
from prolocutor.names import did_you_mean, suggest

MAX_SHOWN: Final = 40

JsonSchema = dict[str, Any]

VARIABLE: Final[JsonSchema] = {"$ref": "#/$defs/variable"}
"""A variable of the environment, which may stand for any scalar."""

_WITH_UNIT: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(ms|[smhdw])")
_UNITS: Final = {"ms": 0.001, "s": 1, "m": MINUTE, "h": HOUR, "d": DAY, "w": WEEK}


class Findings:
    """The faults found in a file so far."""

    def __init__(self, file: str, faults: Sequence[Fault] = ()) -> None:
        self.file = file
        self.faults = list(faults)

    def add(self, node: YamlNode, what: str, suggestion: str | None = None) -> Unread:
        """Record a fault at a node and return UNREAD, the value of an unreadable node."""
        key = node.key or None
        self.faults.append(Fault(self.file, node.line, key, what, suggestion, node.column))
        return UNREAD

    def note_unexpected(self, node: YamlNode, what: str, *, found: str | None = None) -> Unread:
        """Record an unexpected node; `found` describes its content."""
        if node.value is UNREAD:
            return UNREAD
        return self.add(node, f"expected {what}, found {found or describe_value(node)}")

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return Path(self.file).absolute().parent


def describe_value(node: YamlNode) -> str:
    """Describe the value of a node in a few words."""
    value = node.value
    if isinstance(value, dict | list):
        kind = "map" if isinstance(value, dict) else "list"
        return f"a {kind}" if value else f"an empty {kind}"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


class FieldKind(Protocol):
    """The kind of values that a key may hold."""

    @property
    def what(self) -> str:
        """The expected value, as a noun."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        """Return the value, or UNREAD after recording its fault."""

    def schema(self) -> JsonSchema:
        """Return the kind as JSON Schema (draft 2020-12)."""


def _or_variable(schema: JsonSchema) -> JsonSchema:
    return {"anyOf": [schema, VARIABLE]}


class NumberField(msgspec.Struct, frozen=True, kw_only=True):
    """A number within bounds; `words` stand for values other than numbers."""

    what: str = "a number"
    bounds: Bounds = Bounds()
    words: Mapping[str, Any] = {}

    def read(self, node: YamlNode, findings: Findings) -> Any:
        value = node.value
        if isinstance(value, str) and value in self.words:
            return self.words[value]
        if not self.bounds.is_kind(value):
            what = " or ".join([self.what, *self.words])
            return findings.note_unexpected(node, what, found=self._number_written(node))
        if bound := self.bounds.broken_by(value):
            return findings.note_unexpected(
                node, " or ".join([f"{self.what} {bound}", *self.words])
            )
        return int(value) if self.bounds.whole else float(value)

    def _number_written(self, node: YamlNode) -> str | None:
        """Describe a number of seconds with a unit by the number to write in its place."""
        text = node.value if isinstance(node.value, str) and "seconds" in self.what else ""
        if (match := _WITH_UNIT.fullmatch(text)) is None:
            return None
        return f"{describe_value(node)}: write {float(match[1]) * _UNITS[match[2]]:.12g}"

    def schema(self) -> JsonSchema:
        bounds = self.bounds
        limits = {
            "minimum": bounds.least,
            "exclusiveMinimum": bounds.above,
            "maximum": bounds.most,
        }
        finite: JsonSchema = {key: limit for key, limit in limits.items() if math.isfinite(limit)}
        number = {"type": "integer" if bounds.whole else "number", **finite}
        words = [{"enum": list(self.words)}] if self.words else []
        return {"anyOf": [number, *words, VARIABLE]}


def written_time(seconds: float) -> str:
    """Return a time in its largest whole unit, such as 15m."""
    unit = next(unit for unit in reversed(_UNITS) if not seconds % _UNITS[unit])
    return f"{seconds / _UNITS[unit]:.12g}{unit}"


class DurationField(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds as a number, or a number with its unit: 90, 500ms, 90s, 15m, 12h, 7d, 2w."""

    bounds: Bounds
    what: str = "seconds or a time such as 15m, 12h, 7d"

    def read(self, node: YamlNode, findings: Findings) -> Any:
        match = _WITH_UNIT.fullmatch(node.value) if isinstance(node.value, str) else None
        if match is not None:
            seconds = float(match[1]) * _UNITS[match[2]]
            node = replace(node, value=int(seconds) if seconds.is_integer() else seconds)
        return NumberField(what=self.what, bounds=self.bounds).read(node, findings)

    def schema(self) -> JsonSchema:
        with_unit = {"type": "string", "pattern": f"^{_WITH_UNIT.pattern}$"}
        return {"anyOf": [NumberField(bounds=self.bounds).schema(), with_unit]}


class FlagField(msgspec.Struct, frozen=True, kw_only=True):
    """true or false; yes, no, on and off are accepted as well."""

    what: str = "true or false"

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, bool):
            return node.value
        words = {"yes": True, "on": True, "no": False, "off": False}
        if isinstance(node.value, str) and node.plain and node.value.lower() in words:
            return words[node.value.lower()]
        return findings.note_unexpected(node, self.what)

    def schema(self) -> JsonSchema:
        return _or_variable({"type": "boolean"})


class TextField(msgspec.Struct, frozen=True, kw_only=True):
    """Text of at least one character; `pattern` must match the whole. A secret is never shown.

    `group` is the entry-point group of the name, if the text is a name.
    """

    what: str = "text"
    pattern: str = r".*\S.*"
    secret: bool = False
    group: str | None = None

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, str) and re.fullmatch(self.pattern, node.value, re.DOTALL):
            return node.value
        if isinstance(node.value, int | float) and node.plain:
            if not self.secret:
                return findings.note_unexpected(node, f"{self.what} (put it in quotes)")
            return findings.add(node, f"expected {self.what}, found a number: put it in quotes")
        if node.value == "" and self.what == "text":
            what = "expected at least one character, found ''; leave the key out for its default"
            return findings.add(node, what)
        return findings.note_unexpected(node, self.what, found=self.found())

    def found(self) -> str | None:
        """Return a description in place of a secret; None if the text may be shown."""
        return "something else" if self.secret else None

    def schema(self) -> JsonSchema:
        if self.group is not None:
            return _or_variable({"enum": Catalog[Any](self.what, self.group).names()})
        # A file may name a variable of the environment, which fits no pattern.
        return {"type": "string", "minLength": 1}


class ChoiceField(msgspec.Struct, frozen=True):
    """A word out of a few."""

    words: tuple[str, ...]

    @property
    def what(self) -> str:
        return " or ".join(self.words)

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, str) and node.value in self.words:
            return node.value
        if isinstance(node.value, str) and (hint := did_you_mean(node.value, self.words)):
            return findings.add(node, f"expected {self.what}, found {describe_value(node)}", hint)
        return findings.note_unexpected(node, self.what)

    def schema(self) -> JsonSchema:
        return _or_variable({"enum": list(self.words)})


class FolderField(msgspec.Struct, frozen=True, kw_only=True):
    """A folder or file, by its path from the assistant's file."""

    what: str = "a folder"

    def read(self, node: YamlNode, findings: Findings) -> Any:
        path = TextField(what=self.what).read(node, findings)
        return path if path is UNREAD else findings.folder / path

    def schema(self) -> JsonSchema:
        return TextField().schema()


class ListField(msgspec.Struct, frozen=True, kw_only=True):
    """A list of values of one kind; with `single`, a single value stands for a list of one."""

    item: FieldKind
    what: str = "a list"
    single: bool = False
    least: int = 0

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if self.single and not isinstance(node.value, list) and node.value is not None:
            if isinstance(node.value, dict) and isinstance(self.item, TextField):
                return findings.note_unexpected(node, self.what)
            value = self.item.read(node, findings)
            return value if value is UNREAD else [value]
        if not isinstance(node.value, list) or len(node.value) < self.least:
            secret = isinstance(self.item, TextField) and self.item.secret
            return findings.note_unexpected(
                node, self.what, found="something else" if secret else None
            )
        values = [self.item.read(child, findings) for child in node.value]
        return UNREAD if UNREAD in values else values

    def schema(self) -> JsonSchema:
        item = self.item.schema()
        several: JsonSchema = {"type": "array", "items": item}
        return {"anyOf": [several, item]} if self.single else several


class JsonField(msgspec.Struct, frozen=True, kw_only=True):
    """Any JSON: a map of it, or with `anything` any value; `table` has the known keys."""

    what: str = "a map"
    anything: bool = False
    table: TableField | None = None

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if not isinstance(node.value, dict) and not self.anything:
            return findings.note_unexpected(node, self.what)
        return plain_value(node, findings)

    def schema(self) -> JsonSchema:
        if self.table is not None:
            return {**self.table.schema(), "additionalProperties": True}
        return {} if self.anything else {"type": "object"}


def plain_value(node: YamlNode, findings: Findings) -> Any:
    """Return a node as plain data; UNREAD for values without a JSON form."""
    if isinstance(node.value, dict):
        values = {key: plain_value(child, findings) for key, child in node.value.items()}
        return UNREAD if UNREAD in values.values() else values
    if isinstance(node.value, list):
        items = [plain_value(child, findings) for child in node.value]
        return UNREAD if UNREAD in items else items
    if isinstance(node.value, float) and not math.isfinite(node.value):
        return findings.note_unexpected(node, "something that JSON can say")
    return node.value


class MapField(msgspec.Struct, frozen=True, kw_only=True):
    """A map from names to values of one kind; an empty value is an empty map."""

    item: FieldKind
    what: str = "a map"
    name: TextField = TextField(what="a name")

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if node.value is None:
            return {}
        if not isinstance(node.value, dict):
            return findings.note_unexpected(node, self.what, found=self.name.found())
        values = {}
        for name, child in node.value.items():
            self.name.read(key_node(child, name), findings)
            values[name] = self.item.read(child, findings)
        return {name: value for name, value in values.items() if value is not UNREAD}

    def schema(self) -> JsonSchema:
        return {"type": ["object", "null"], "additionalProperties": self.item.schema()}


class OneOfField(msgspec.Struct, frozen=True, kw_only=True):
    """A value of one of several kinds, told apart by the node's type: a map, a list, a text."""

    kinds: tuple[FieldKind, ...]
    given: str = ""

    @property
    def what(self) -> str:
        return self.given or ", or ".join(kind.what for kind in self.kinds)

    def read(self, node: YamlNode, findings: Findings) -> Any:
        for kind in self.kinds:
            trial = Findings(findings.file)
            value = kind.read(node, trial)
            if not trial.faults:
                return value
            if _looks_like(node, kind):
                findings.faults += trial.faults
                return UNREAD
        return findings.note_unexpected(node, self.what)

    def schema(self) -> JsonSchema:
        return {"anyOf": [kind.schema() for kind in self.kinds]}


def _looks_like(node: YamlNode, kind: FieldKind) -> bool:
    """Return whether a node can only be meant as a value of this kind."""
    if isinstance(node.value, dict):
        return isinstance(kind, TableField | MapField)
    return isinstance(node.value, list) and isinstance(kind, ListField)


class ReadBy(msgspec.Struct, frozen=True, kw_only=True):
    """Plain data, made into a value by a function.

    It raises `ValueError` with the expected value, or `ConfigError` with the fault and the `key` of
    a part. With `each` it makes a list of one value, or of each value of a list, and the lists are
    joined.
    """

    function: Callable[[Any], Any]
    each: bool = False
    what: str = ""
    secret: bool = False
    form: JsonSchema = {}

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if self.each and isinstance(node.value, list):
            several = [self._read(child, findings) for child in node.value]
            return UNREAD if UNREAD in several else tuple(one for some in several for one in some)
        return self._read(node, findings)

    def _read(self, node: YamlNode, findings: Findings) -> Any:
        value = plain_value(node, findings)
        if value is UNREAD:
            return UNREAD
        try:
            return self.function(value)
        except ConfigError as error:
            return findings.add(find_child(node, error.key or ""), error.what)
        except ValueError as error:
            description = "something else" if self.secret else None
            return findings.note_unexpected(node, str(error) or self.what, found=description)

    def schema(self) -> JsonSchema:
        return self.form


class TableField(msgspec.Struct, frozen=True, kw_only=True):
    """A map with known keys, made into a Struct of the same field names.

    `synonyms` maps common mistakes to the meant key; `also` are keys read elsewhere. `short` makes
    the Struct, or the meant map, of a value other than a map, as `ReadBy` does. `defaults` are the
    Struct's.
    """

    keys: Mapping[str, FieldKind]
    make: Callable[..., Any] = dict
    required: tuple[str, ...] = ()
    what: str = "a map"
    synonyms: Mapping[str, str] = {}
    also: tuple[str, ...] = ()
    short: Callable[[Any], Any] | None = None
    descriptions: Mapping[str, str] = {}
    defaults: Mapping[str, Any] = {}

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if self.short is not None and not isinstance(node.value, dict):
            if node.value is UNREAD:
                return UNREAD
            meant = ReadBy(function=self.short).read(node, findings)
            if not isinstance(meant, dict):
                return meant
            node = replace(
                node, value={key: replace(node, value=one) for key, one in meant.items()}
            )
        before = len(findings.faults)
        values = self.values(node, findings)
        if values is UNREAD or any(key not in values for key in self.required):
            return UNREAD
        return self.made(node, values, findings, checked=len(findings.faults) == before)

    def made(
        self, node: YamlNode, values: Mapping[str, Any], findings: Findings, *, checked: bool = True
    ) -> Any:
        """Return the Struct of these values; record contradictions, if they are `checked`."""
        try:
            return self.make(**values)
        except ConfigError as error:
            if checked:
                findings.add(find_child(node, error.key or ""), error.what)
        except ValueError as error:
            if checked:
                findings.add(node, str(error))
        return UNREAD

    def values(self, node: YamlNode, findings: Findings) -> Any:
        """Return the readable values, by key; UNREAD if this is not a map."""
        entries = {} if node.value is None else node.value
        if not isinstance(entries, dict):
            return findings.note_unexpected(node, self.what)
        for key in self.required:
            if key not in entries:
                findings.add(node, f"the key {key} is missing")
        values = {}
        for key, child in entries.items():
            if key in self.keys:
                value = self.keys[key].read(child, findings)
                if value is not UNREAD:
                    values[key] = value
            else:
                findings.add(child, "unknown key", self.suggestion(key))
        return values

    def suggestion(self, key: str) -> str:
        """Return the probable key for an unknown key."""
        if key in self.synonyms:
            return f"did you mean '{self.synonyms[key]}'?"
        keys = sorted([*self.keys, *self.also])
        return suggest(key, keys, "known keys are") if keys else "it has no keys"

    def schema(self) -> JsonSchema:
        properties = {}
        for key, kind in self.keys.items():
            properties[key] = kind.schema()
            if description := self.descriptions.get(key):
                properties[key] = {"description": description, **properties[key]}
            if isinstance(default := self.defaults.get(key), str | float | int):
                properties[key]["default"] = default
        table: JsonSchema = {
            "type": "object" if self.required else ["object", "null"],
            "properties": properties,
            "additionalProperties": False,
        }
        if self.required:
            table["required"] = list(self.required)
        if self.short is None:
            return table
        return {"anyOf": [table, {"type": ["string", "boolean", "number", "array"]}]}


def key_node(node: YamlNode, name: str) -> YamlNode:
    """Return the node's key itself as a text, at the same place."""
    return YamlNode(name, node.steps, node.line, node.column)


def find_child(node: YamlNode, key: str) -> YamlNode:
    """Return the part of a node with this dotted key, or the nearest above it that is written."""
    for step in re.findall(r"[^.\[\]]+", key):
        if isinstance(node.value, dict) and step in node.value:
            node = node.value[step]
        elif isinstance(node.value, list) and step.isdigit() and int(step) < len(node.value):
            node = node.value[int(step)]
        else:
            break
    return node
