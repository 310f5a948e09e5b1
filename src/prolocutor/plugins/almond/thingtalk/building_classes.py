"""Builds the tree of a class: a method for each rule of the grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from lark import Token, v_args

from prolocutor.plugins.almond.thingtalk import units
from prolocutor.plugins.almond.thingtalk.building_values import ValueBuilder
from prolocutor.plugins.almond.thingtalk.lexer import token_position
from prolocutor.plugins.almond.thingtalk.manifests import (
    Annotation,
    Class,
    Direction,
    EntityDeclaration,
    Function,
    Import,
    Parameter,
)
from prolocutor.plugins.almond.thingtalk.nodes import SourcePosition, fault
from prolocutor.plugins.almond.thingtalk.types import OLD_NAMES, PLAIN, Type
from prolocutor.plugins.almond.thingtalk.values import Value


@v_args(inline=True)
class ClassBuilder(ValueBuilder):
    """Builds classes and types."""

    def setting(self, name: Token, value: Value) -> Annotation:
        return Annotation(str(name), value, position=token_position(name))

    def text(self, name: Token, value: Value) -> Annotation:
        return Annotation(str(name), value, is_text=True, position=token_position(name))

    def plain_type(self, name: Token) -> Type:
        if name in OLD_NAMES:
            return Type("Entity", of=OLD_NAMES[name])
        if name not in PLAIN:
            raise fault(
                f"{name!s:.40} is not a type", token_position(name), "types begin as in String"
            )
        return Type(str(name))

    def array_type(self, element: Type) -> Type:
        return Type("Array", element=element)

    def entity_type(self, kind: Token) -> Type:
        return Type("Entity", of=kind.value)

    def measure_type(self, unit: Token | None = None) -> Type:
        base = units.base_unit(str(unit)) if unit is not None else ""
        if base is None:
            raise fault(f"{unit!s:.40} is not a unit", token_position(cast(Token, unit)))
        return Type("Measure", of=base)

    def enum_type(self, *choices: Token) -> Type:
        return Type("Enum", choices=tuple(map(str, choices)))

    def field(self, name: Token, kind: Type, *_: Annotation) -> tuple[str, Type]:
        return str(name), kind

    def compound_type(self, *fields: tuple[str, Type]) -> Type:
        return Type("Compound", fields=fields)

    def in_req(self) -> Direction:
        return "in req"

    def in_opt(self) -> Direction:
        return "in opt"

    def out(self) -> Direction:
        return "out"

    def parameter(self, *parts: Any) -> Parameter:
        way: Direction = "in req"
        if not isinstance(parts[0], Token):
            way, parts = parts[0], parts[1:]
        name, kind, *annotations = parts
        return Parameter(
            str(name), kind, way, annotations=tuple(annotations), position=token_position(name)
        )

    def modifier(self, token: Token) -> Token:
        return token

    function_kind = modifier

    def extends(self, *names: Token) -> tuple[str, ...]:
        return tuple(str(name.value) for name in names)

    function_extends = entity_extends = extends

    def function(self, *parts: Any) -> Function:
        words = [part for part in parts if isinstance(part, Token)]
        *modifiers, kind, name = words
        parameters = tuple(part for part in parts if isinstance(part, Parameter))
        unique([(each.name, each.position) for each in parameters], "parameter")
        return Function(
            str(name),
            cast(Literal["query", "action"], str(kind)),
            parameters,
            is_list="list" in modifiers,
            is_monitorable="monitorable" in modifiers,
            extends=next((part for part in parts if type(part) is tuple), ()),
            annotations=tuple(part for part in parts if isinstance(part, Annotation)),
            position=token_position(name),
        )

    def import_(self, *parts: Any) -> Import:
        *facets, module, arguments = parts
        given = tuple((each.name, each.value) for each in arguments)
        return Import(
            tuple(map(str, facets)), module.value, given, position=token_position(facets[0])
        )

    def entity_declaration(self, name: Token, *parts: Any) -> EntityDeclaration:
        return EntityDeclaration(
            str(name),
            next((part for part in parts if type(part) is tuple), ()),
            annotations=tuple(part for part in parts if isinstance(part, Annotation)),
            position=token_position(name),
        )

    def class_(self, name: Token, *parts: Any) -> Class:
        return self._class(name, parts, is_abstract=False)

    def abstract_class(self, name: Token, *parts: Any) -> Class:
        return self._class(name, parts, is_abstract=True)

    def _class(self, name: Token, parts: Sequence[Any], *, is_abstract: bool) -> Class:
        functions = tuple(part for part in parts if isinstance(part, Function))
        unique([(each.name, each.position) for each in functions], "function")
        return Class(
            str(name.value),
            functions,
            next((part for part in parts if type(part) is tuple), ()),
            tuple(part for part in parts if isinstance(part, Import)),
            tuple(part for part in parts if isinstance(part, EntityDeclaration)),
            is_abstract,
            annotations=tuple(part for part in parts if isinstance(part, Annotation)),
            position=token_position(name),
        )


setattr(ClassBuilder, "class", ClassBuilder.class_)
setattr(ClassBuilder, "import", ClassBuilder.import_)


def unique(names: Sequence[tuple[str, SourcePosition]], what: str) -> None:
    """Raise `ThingTalkError` if a name is given twice."""
    seen = set()
    for name, position in names:
        if name in seen:
            raise fault(f"the {what} {name!s:.60} is given twice", position, "leave one out")
        seen.add(name)
