"""The kinds of values that a key may hold; each reads a value or describes its fault."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from prolocutor.bounds import Bounds
from prolocutor.config.faults import Fault
from prolocutor.config.yaml_file import UNREAD, Unread, YamlNode
from prolocutor.names import did_you_mean, suggest

MAX_SHOWN: Final = 40


class Findings:
    """The faults found in one file so far."""

    def __init__(self, file: str, faults: Sequence[Fault] = ()) -> None:
        self.file = file
        self.faults = list(faults)

    def add(self, node: YamlNode, what: str, suggestion: str | None = None) -> Unread:
        """Record a fault at a node and return UNREAD, the value of what could not be read."""
        key = node.key or None
        self.faults.append(Fault(self.file, node.line, key, what, suggestion, node.column))
        return UNREAD

    def expected(self, node: YamlNode, what: str, *, found: str | None = None) -> Unread:
        """Record that a node holds something unexpected; `found` describes what it holds."""
        if node.value is UNREAD:
            return UNREAD
        return self.add(node, f"expected {what}, found {found or shown(node)}")


def shown(node: YamlNode) -> str:
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
    """What a key may hold."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        """Return the value, or UNREAD after recording what is wrong with it."""


class NumberField(msgspec.Struct, frozen=True, kw_only=True):
    """A number within bounds; `words` stand for values that are not numbers."""

    what: str = "a number"
    bounds: Bounds = Bounds()
    words: dict[str, Any] = {}

    def read(self, node: YamlNode, findings: Findings) -> Any:
        value = node.value
        if isinstance(value, str) and value in self.words:
            return self.words[value]
        whole = self.bounds.whole
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or (whole and value != _whole(value))
        ):
            return findings.expected(node, " or ".join([self.what, *self.words]))
        if bound := self._broken_bound(value):
            return findings.expected(node, " or ".join([f"{self.what} {bound}", *self.words]))
        return int(value) if whole else float(value)

    def _broken_bound(self, value: float) -> str | None:
        bounds = self.bounds
        if value <= bounds.above:
            return f"above {bounds.above:.12g}"
        if value < bounds.least:
            return f"of at least {bounds.least:.12g}"
        if value > bounds.most:
            return f"of at most {bounds.most:.12g}"
        return None if math.isfinite(value) else "that is finite"


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None


class FlagField(msgspec.Struct, frozen=True):
    """true or false; yes, no, on and off are accepted as well."""

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, bool):
            return node.value
        words = {"yes": True, "on": True, "no": False, "off": False}
        if isinstance(node.value, str) and node.plain and node.value.lower() in words:
            return words[node.value.lower()]
        return findings.expected(node, "true or false")


class TextField(msgspec.Struct, frozen=True, kw_only=True):
    """Text that is not empty; `pattern` must match the whole. A secret is never shown."""

    what: str = "text"
    pattern: str = r".*\S.*"
    secret: bool = False

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, str) and re.fullmatch(self.pattern, node.value, re.DOTALL):
            return node.value
        if isinstance(node.value, int | float) and node.plain:
            if not self.secret:
                return findings.expected(node, f"{self.what} (put it in quotes)")
            return findings.add(node, f"expected {self.what}, found a number: put it in quotes")
        return findings.expected(node, self.what, found=self.found())

    def found(self) -> str | None:
        """Return what to show in place of a secret; None if the text may be shown."""
        return "something else" if self.secret else None


class ChoiceField(msgspec.Struct, frozen=True):
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if isinstance(node.value, str) and node.value in self.words:
            return node.value
        if isinstance(node.value, str) and (hint := did_you_mean(node.value, self.words)):
            what = f"expected {' or '.join(self.words)}, found {shown(node)}"
            return findings.add(node, what, hint)
        return findings.expected(node, " or ".join(self.words))


class TextListField(msgspec.Struct, frozen=True, kw_only=True):
    """A list of texts; with `single`, one text stands for a list of one."""

    item: TextField = TextField()
    what: str = "a list"
    single: bool = False

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if self.single and isinstance(node.value, str):
            value = self.item.read(node, findings)
            return value if value is UNREAD else [value]
        if not isinstance(node.value, list):
            return findings.expected(node, self.what, found=self.item.found())
        values = [self.item.read(child, findings) for child in node.value]
        return UNREAD if UNREAD in values else values


class JsonField(msgspec.Struct, frozen=True, kw_only=True):
    """A map of any JSON values."""

    what: str = "a map"

    def read(self, node: YamlNode, findings: Findings) -> Any:
        if not isinstance(node.value, dict):
            return findings.expected(node, self.what)
        value = _plain(node, findings)
        return value if isinstance(value, dict) else UNREAD


def _plain(node: YamlNode, findings: Findings) -> Any:
    if isinstance(node.value, dict):
        values = {key: _plain(child, findings) for key, child in node.value.items()}
        return UNREAD if UNREAD in values.values() else values
    if isinstance(node.value, list):
        items = [_plain(child, findings) for child in node.value]
        return UNREAD if UNREAD in items else items
    if isinstance(node.value, float) and not math.isfinite(node.value):
        return findings.expected(node, "something that JSON can say")
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
            return findings.expected(node, self.what, found=self.name.found())
        values = {}
        for name, child in node.value.items():
            self.name.read(named(child, name), findings)
            values[name] = self.item.read(child, findings)
        return {name: value for name, value in values.items() if value is not UNREAD}


class TableField(msgspec.Struct, frozen=True, kw_only=True):
    """A map with known keys, made into a struct of the same field names.

    `synonyms` maps common mistakes to the key that is meant; `also` are keys that are read
    elsewhere.
    """

    keys: Mapping[str, FieldKind]
    make: Callable[..., Any] = dict
    required: tuple[str, ...] = ()
    what: str = "a map"
    synonyms: Mapping[str, str] = {}
    also: tuple[str, ...] = ()

    def read(self, node: YamlNode, findings: Findings) -> Any:
        values = self.values(node, findings)
        return UNREAD if values is UNREAD or self._lacks(values) else self.make(**values)

    def values(self, node: YamlNode, findings: Findings) -> Any:
        """Return the values that could be read, by key; UNREAD if this is not a map."""
        entries = {} if node.value is None else node.value
        if not isinstance(entries, dict):
            return findings.expected(node, self.what)
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
                findings.add(child, "unknown key", self._meant(key))
        return values

    def _meant(self, key: str) -> str:
        if key in self.synonyms:
            return f"did you mean '{self.synonyms[key]}'?"
        known = sorted([*self.keys, *self.also])
        return suggest(key, known, "known keys are")

    def _lacks(self, values: Mapping[str, Any]) -> bool:
        return any(key not in values for key in self.required)


def named(node: YamlNode, name: str) -> YamlNode:
    """Return the node's key itself as a text, at the same place."""
    return YamlNode(name, node.steps, node.line, node.column)
