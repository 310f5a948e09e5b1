"""A YAML file as a tree of nodes that know their line; scalars with `${ENV}` filled in.

Words have their meaning in YAML 1.2: only true and false are booleans, so a skill may be called
`no`. Anchors and merge keys (`<<`) work. Duplicate keys, tags, several documents and trees of more
than `MAX_NODES` nodes or `MAX_DEPTH` levels are refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from prolocutor.errors import ConfigError, printable

_VARIABLE: Final = re.compile(
    r"\$\$\{|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<or>:-(?P<default>[^}]*))?\}|\$\{"
)

MAX_BYTES: Final = 1_000_000
MAX_NODES: Final = 20_000
MAX_DEPTH: Final = 32
MAX_DIGITS: Final = 300

Steps = tuple[str | int, ...]
Scalar = str | int | float | bool | None

_TAG: Final = "tag:yaml.org,2002:"
_FLOAT: Final = (
    r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_COLLECTIONS: Final = (f"{_TAG}map", f"{_TAG}seq")
_CORE: Final = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9][0-9_]*|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    "float": (_FLOAT, list("-+.0123456789")),
    "merge": (r"<<", ["<"]),
}

_QUESTION: Final = "text with a question mark between brackets; put it in quotes"
_BRACE: Final = 'text with a brace between brackets; put it in quotes, as in "${NAME}"'

_PLAINER: Final = {
    "found character '\\t' that cannot start any token": "a tab cannot indent here; use spaces",
    "mapping values are not allowed here": "a second `: ` in one line, or the line is indented too"
    " far; put text with a colon in quotes",
    "expected ',' or ']', but got '?'": _QUESTION,
    "expected ',' or '}', but got '?'": _QUESTION,
    "expected ',' or '}', but got ':'": "a second `: ` between two commas; put text with a colon in"
    " quotes",
    "expected ',' or ']', but got '{'": _BRACE,
    "expected ',' or '}', but got '{'": _BRACE,
    "expected <block end>, but found '<block mapping start>'": "this line is indented otherwise"
    " than its neighbours",
    "expected <block end>, but found '<scalar>'": "text goes on after the closing quote or"
    " bracket; put all of it in quotes",
    "could not find expected ':'": "a key without its `: `",
    "found unexpected end of stream": "a quote is opened and never closed",
    "but found another document": "one file holds one document, here a second one starts",
}

_SEPARATORS: Final = {
    "mapping values are not allowed here": "\n",
    "expected ',' or '}', but got ':'": "[{},]",
}
"""What stands around a text with a colon that is in no quotes, by the error that it causes."""


class Fault(msgspec.Struct, frozen=True):
    """One fault: file, line and column (from 1), key, description and suggestion.

    `key` is dotted: `skills.weather.after`, `skill_selector[0].call`.
    """

    file: str
    line: int | None
    key: str | None
    what: str
    suggestion: str | None = None
    column: int | None = None

    def __str__(self) -> str:
        return str(self.error())

    def error(self) -> ConfigError:
        """Return the fault as an exception of one line, including the suggestion."""
        what = f"{self.what}; {self.suggestion}" if self.suggestion else self.what
        key = self.key and printable(self.key)
        return ConfigError(printable(what), file=printable(self.file), line=self.line, key=key)


class ConfigFaults(ConfigError):
    """All faults of a file, in the order of its lines.

    Its own `what`, `file`, `line` and `key` are the first fault's; `str()` gives a line for each
    fault.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = sort_faults(faults)
        first = self.faults[0]
        super().__init__(first.what, file=first.file, line=first.line, key=first.key)

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


def sort_faults(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return each fault once, sorted by line; faults without a line come first."""
    return tuple(
        sorted(dict.fromkeys(faults), key=lambda fault: (fault.line or 0, fault.column or 0))
    )


class UnsetVariable(Exception):
    """A variable is not set and has no default, or `${` does not open a variable at all."""


def substitute(text: str, environ: Mapping[str, str]) -> str:
    """Fill in the variables of a text once; their values are not searched for variables.

    The default replaces an unset or empty variable, as in a shell.
    """
    if "${" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        name = match["name"]
        if name is None:
            raise UnsetVariable("`${` opens no variable name; write `$${` for a plain `${`")
        variable = environ.get(name)
        if match["or"] is not None:
            return variable or match["default"]
        if variable is None:
            raise UnsetVariable(
                f"the environment variable {name} is not set; set it,"
                f" or give a default: ${{{name}:-...}}"
            )
        return variable

    return _VARIABLE.sub(value, text)


def escape_value(value: Any) -> Any:
    """Return a value of a file with `${` written so that nothing is substituted."""
    if isinstance(value, dict):
        return {escape_value(key): escape_value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [escape_value(one) for one in value]
    return value.replace("${", "$${") if isinstance(value, str) else value


class Unread:
    """The type of `UNREAD`."""

    def __repr__(self) -> str:
        return "UNREAD"


UNREAD: Final = Unread()
"""The value of a node with a fault that is on record already: nobody need complain again."""


class YamlNode(msgspec.Struct, frozen=True):
    """A value and its place: the line of its key, if any, else its own line.

    `plain`: the scalar stands without quotes.
    """

    value: Scalar | dict[str, YamlNode] | list[YamlNode] | Unread
    steps: Steps
    line: int
    column: int
    plain: bool = False

    @property
    def key(self) -> str:
        """The way from the top to here: `skills.weather.after`, `skill_selector[0].call`."""
        return dotted_key(self.steps)


class YamlDocument(msgspec.Struct):
    """The tree of a read file, and its faults."""

    file: str
    root: YamlNode
    faults: list[Fault]

    def find(self, key: str) -> YamlNode:
        """Return the node with this dotted key, or its nearest existing parent."""
        nodes = {node.key: node for node in _walk(self.root)}
        while key and key not in nodes:
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return nodes.get(key, self.root)


def dotted_key(steps: Steps) -> str:
    """Return the dotted key of a node."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")


def read(path: str | Path, environ: Mapping[str, str] | None = os.environ) -> YamlDocument:
    """Read a file; `ConfigFaults` when it is not YAML at all, lesser faults are in the document.

    Without `environ` no variable is substituted.
    """
    file = str(path)
    return read_text(_text(Path(path), file), file, environ)


def read_text(text: str, file: str, environ: Mapping[str, str] | None) -> YamlDocument:
    """Read the text of a file as `read` does."""
    loader: _Loader | None = None
    try:
        loader = _Loader(text)
        tree = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise ConfigFaults([_syntax_fault(error, text, file)]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        what = f"the character U+{ord(text[error.position]):04X} is not allowed in YAML"
        raise ConfigFaults([Fault(file, line, None, what)]) from None
    except (ValueError, RecursionError):
        raise ConfigFaults([Fault(file, None, None, "not valid YAML")]) from None
    finally:
        if loader is not None:
            loader.dispose()
    return _TreeReader(file, environ).document(tree)


class _TooDeep(yaml.MarkedYAMLError):
    """Nested deeper than anybody writes by hand."""


class _Loader(yaml.SafeLoader):
    """PyYAML's composer with the scalars of YAML 1.2 and a bound on depth."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012
    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise _TooDeep(None, None, f"nested deeper than {MAX_DEPTH} levels", mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


for _name, (_pattern, _first) in _CORE.items():
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_pattern})\Z"), _first)


def _number(text: str, tag: str) -> int | float | str:
    digits = text.replace("_", "")
    if len(digits) > MAX_DIGITS:
        return text
    if tag == "float":
        return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return int(digits, 0 if digits[:2] in ("0x", "0o") else 10)


class _TreeReader:
    """Turns PyYAML's nodes into ours, once for every place where an anchor is used."""

    def __init__(self, file: str, environ: Mapping[str, str] | None) -> None:
        self._file = file
        self._environ = environ
        self._faults: list[Fault] = []
        self._left = MAX_NODES
        self._resolver = _Loader("")

    def document(self, tree: yaml.Node | None) -> YamlDocument:
        root = YamlNode({}, (), 1, 1) if tree is None else self._node(tree, (), tree)
        return YamlDocument(self._file, root, self._faults)

    def _node(self, node: yaml.Node, steps: Steps, mark: yaml.Node) -> YamlNode:
        self._left -= 1
        if self._left < 0 or len(steps) > MAX_DEPTH:
            self._stop(mark)
        value: Any = UNREAD
        plain = False
        if not isinstance(node, yaml.ScalarNode) and node.tag not in _COLLECTIONS:
            self._misfit(node, steps, mark)
        elif isinstance(node, yaml.MappingNode):
            value = {
                key: self._node(child, (*steps, key), key_node)
                for key, (key_node, child) in self._entries(node, steps).items()
            }
        elif isinstance(node, yaml.SequenceNode):
            value = [
                self._node(child, (*steps, index), child) for index, child in enumerate(node.value)
            ]
        elif isinstance(node, yaml.ScalarNode):
            plain = node.style is None
            value = self._scalar(node, steps, mark)
        return YamlNode(value, steps, _line(mark), mark.start_mark.column + 1, plain)

    def _entries(
        self, node: yaml.MappingNode, steps: Steps, within: int = 0
    ) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """Return the entries of a mapping, its own before merged entries."""
        self._left -= 1
        if self._left < 0 or within > MAX_DEPTH:
            self._stop(node)
        merged: list[yaml.Node] = []
        own: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key_node, child in node.value:
            if key_node.tag == f"{_TAG}merge":
                merged += child.value if isinstance(child, yaml.SequenceNode) else [child]
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self._fault(key_node, steps, "a key must be a word, not a list or a map")
                continue
            key = self._key(key_node, steps)
            if key in own:
                what = f"this key is here twice, first in line {_line(own[key][0])}"
                self._fault(key_node, (*steps, key), what)
                continue
            own[key] = (key_node, child)
        for source in merged:
            if not isinstance(source, yaml.MappingNode):
                self._fault(source, (*steps, "<<"), "only a map can be merged")
                continue
            for key, entry in self._entries(source, steps, within + 1).items():
                own.setdefault(key, entry)
        return own

    def _key(self, node: yaml.ScalarNode, steps: Steps) -> str:
        text = self._text(node, steps, node)
        return str(node.value) if text is None else text

    def _text(self, node: yaml.ScalarNode, steps: Steps, mark: yaml.Node) -> str | None:
        try:
            text = node.value if self._environ is None else substitute(node.value, self._environ)
            text.encode()
        except UnsetVariable as error:
            self._fault(mark, steps, str(error))
        except UnicodeEncodeError:
            self._fault(mark, steps, "half of a character: a lone surrogate is not text")
        else:
            return text
        return None

    def _scalar(self, node: yaml.ScalarNode, steps: Steps, mark: yaml.Node) -> Scalar | Unread:
        text, tag = self._text(node, steps, mark), node.tag
        if text is None:
            return UNREAD
        if text != node.value and node.style is None:
            tag = self._resolver.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
        kind = tag.removeprefix(_TAG)
        if kind in ("str", "merge"):
            return text
        if not re.fullmatch(_CORE.get(kind, ("(?!)",))[0], text):
            return self._misfit(node, steps, mark)
        if kind == "null":
            return None
        return text.lower() == "true" if kind == "bool" else _number(text, kind)

    def _fault(self, mark: yaml.Node, steps: Steps, what: str) -> None:
        place = mark.start_mark
        key = dotted_key(steps) or None
        self._faults.append(Fault(self._file, place.line + 1, key, what, column=place.column + 1))

    def _misfit(self, node: yaml.Node, steps: Steps, mark: yaml.Node) -> Unread:
        tag = node.tag.replace(_TAG, "!!")
        self._fault(mark, steps, f"the tag {tag} does not fit here")
        return UNREAD

    def _stop(self, mark: yaml.Node) -> None:
        what = f"more than {MAX_NODES:,} values or {MAX_DEPTH} levels, its anchors filled in"
        raise ConfigFaults([Fault(self._file, _line(mark), None, what)])


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _walk(node: YamlNode) -> Iterator[YamlNode]:
    yield node
    if isinstance(node.value, dict):
        for child in node.value.values():
            yield from _walk(child)
    elif isinstance(node.value, list):
        for child in node.value:
            yield from _walk(child)


def _text(path: Path, file: str) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise ConfigFaults([Fault(file, None, None, what)]) from None
    if len(data) > MAX_BYTES:
        what = f"{len(data):,} bytes, more than the {MAX_BYTES:,} allowed"
        raise ConfigFaults([Fault(file, None, None, what)])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigFaults([Fault(file, line, None, "this is not UTF-8")]) from None


def _syntax_fault(error: yaml.MarkedYAMLError, text: str, file: str) -> Fault:
    problem = error.problem or error.context or "not valid YAML"
    mark = error.problem_mark or error.context_mark
    what = _PLAINER.get(problem) or f"not valid YAML: {problem}"
    if mark is None:
        return Fault(file, None, None, what)
    parts: list[str] = []
    if text and problem in _SEPARATORS:
        parts = re.split(_SEPARATORS[problem], text.splitlines()[mark.line])
    hint = next((hint for part in parts if (hint := _guess_quoted(part))), None)
    line = min(mark.line, max(text.count("\n") - text.endswith("\n"), 0)) + 1
    return Fault(file, line, None, what, hint, column=mark.column + 1)


_TWO_COLONS: Final = re.compile(
    r"\s*(?P<key>[\w-]+): +(?P<text>[^'\"#{\[\n]+?: +[^#\n]+?)\s*(#.*)?"
)


def _guess_quoted(line: str) -> str | None:
    """Return a line with two colons as it was probably meant."""
    match = _TWO_COLONS.fullmatch(line)
    if match is None:
        return None
    text = match["text"]
    if re.fullmatch(r"[\w.]+: +[\w.]+", text):  # a function with a space in it
        text = re.sub(r": +", ":", text)
    return f'write {match["key"]}: "{text}"'
