"""Manifests: the functions of a class of devices, as declared by its ThingTalk class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from prolocutor.plugins.almond.thingtalk.json_values import plain
from prolocutor.plugins.almond.thingtalk.nodes import SyntaxNode
from prolocutor.plugins.almond.thingtalk.types import Type
from prolocutor.plugins.almond.thingtalk.values import Value

OURS = "org.prolocutor."
"""The prefix of the class of a skill of this assistant; the skill's name follows."""

Direction = Literal["in req", "in opt", "out"]


class Annotation(SyntaxNode, frozen=True):
    """`#_[name=value]`, words for a person, where `is_text`; else `#[name=value]`, a setting."""

    name: str
    value: Value
    is_text: bool = False


class Annotated(SyntaxNode, frozen=True, kw_only=True):
    """Something with annotations."""

    annotations: tuple[Annotation, ...] = ()

    def text(self, name: str, default: Any = None) -> Any:
        """Return a text annotation (canonical, prompt, confirmation, formatted, result) as JSON."""
        return self._annotation(name, default, is_text=True)

    def setting(self, name: str, default: Any = None) -> Any:
        """Return a setting (poll_interval, confirm) as JSON; a measure is in its base unit."""
        return self._annotation(name, default, is_text=False)

    def _annotation(self, name: str, default: Any, *, is_text: bool) -> Any:
        for annotation in self.annotations:
            if annotation.name == name and annotation.is_text == is_text:
                return plain(annotation.value)
        return default


class Parameter(Annotated, frozen=True):
    """An input or output of a function."""

    name: str
    type: Type
    direction: Direction = "in req"

    @property
    def canonical(self) -> str:
        """Its name for people."""
        text = self.text("canonical")
        return text if isinstance(text, str) else self.name.replace("_", " ")


class Function(Annotated, frozen=True):
    """A query or an action of a class."""

    name: str
    kind: Literal["query", "action"]
    parameters: tuple[Parameter, ...] = ()
    is_list: bool = False
    is_monitorable: bool = False
    extends: tuple[str, ...] = ()

    def parameter(self, name: str) -> Parameter | None:
        """Return a parameter by its name."""
        return next((each for each in self.parameters if each.name == name), None)

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """Its input parameters."""
        return tuple(each for each in self.parameters if each.direction != "out")

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """Its output parameters."""
        return tuple(each for each in self.parameters if each.direction == "out")


class Import(SyntaxNode, frozen=True):
    """A mix-in of a class, such as its loader; accepted without effect."""

    facets: tuple[str, ...]
    module: str
    arguments: tuple[tuple[str, Value], ...] = ()


class EntityDeclaration(Annotated, frozen=True):
    """A kind of entities declared by a class."""

    name: str
    extends: tuple[str, ...] = ()


class Class(Annotated, frozen=True):
    """A class of devices: the manifest of a skill."""

    name: str
    functions: tuple[Function, ...] = ()
    extends: tuple[str, ...] = ()
    imports: tuple[Import, ...] = ()
    entities: tuple[EntityDeclaration, ...] = ()
    is_abstract: bool = False

    @property
    def skill(self) -> str | None:
        """The skill of this assistant behind the class."""
        return self.name.removeprefix(OURS) if self.name.startswith(OURS) else None

    @property
    def canonical(self) -> str:
        """Its name for people."""
        text = self.text("name") or self.text("canonical")
        return text if isinstance(text, str) else self.name.rpartition(".")[2]


class Manifests:
    """The classes that programs may call, by name."""

    def __init__(self, classes: Iterable[Class] = ()) -> None:
        self._classes = {each.name: each for each in classes}

    def __iter__(self) -> Iterator[Class]:
        return iter(self._classes.values())

    def find(self, name: str) -> Class | None:
        """Return a class by its name, without the `@`."""
        return self._classes.get(name)

    def function(self, kind: str, name: str) -> Function | None:
        """Return a function of a class or its ancestors."""
        for each in self._family(kind):
            for function in each.functions:
                if function.name == name:
                    return function
        return None

    def functions(self, kind: str) -> list[Function]:
        """Return all functions of a class and its ancestors, its own first."""
        found: dict[str, Function] = {}
        for each in self._family(kind):
            for function in each.functions:
                found.setdefault(function.name, function)
        return list(found.values())

    def _family(self, kind: str) -> Iterator[Class]:
        waiting, seen = [kind], set()
        while waiting:
            name = waiting.pop(0)
            found = self._classes.get(name)
            if found is None or name in seen:
                continue
            seen.add(name)
            yield found
            waiting.extend(found.extends)
