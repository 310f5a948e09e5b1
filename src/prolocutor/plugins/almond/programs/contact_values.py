"""Contact values: names of people where a program needs a phone number or an e-mail address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from prolocutor.asks.answers import Contact, Understood
from prolocutor.asks.known_contacts import of_contact
from prolocutor.plugins.almond.thingtalk.manifests import Manifests
from prolocutor.plugins.almond.thingtalk.nodes import SyntaxNode, transform
from prolocutor.plugins.almond.thingtalk.tree import Argument, Invocation, Program
from prolocutor.plugins.almond.thingtalk.values import EntityValue, UndefinedValue, Value
from prolocutor.reading.plain_text import bare

USERNAME: Final = "tt:username"
REACHED: Final = frozenset({"tt:phone_number", "tt:email_address", "tt:contact"})
"""Types of entities by which a person is reached."""


def put_contacts(program: Program, manifests: Manifests, contacts: Sequence[Contact]) -> Program:
    """Replace names of known people (`tt:username`) by their numbers and addresses.

    An unknown or ambiguous name becomes a missing value, to be asked for.
    """

    def put(node: SyntaxNode) -> SyntaxNode:
        if not isinstance(node, Invocation):
            return node
        function = manifests.function(node.device.kind, node.function)
        if function is None:
            return node
        arguments = []
        for argument in node.arguments:
            parameter = function.parameter(argument.name)
            kind = parameter.type.of if parameter is not None else ""
            arguments.append(
                _put_contact(argument, kind, contacts) if kind in REACHED else argument
            )
        return replace(node, arguments=tuple(arguments))

    return transform(program, put)


def _put_contact(argument: Argument, kind: str, contacts: Sequence[Contact]) -> Argument:
    given = argument.value
    if not isinstance(given, EntityValue) or given.kind != USERNAME:
        return argument
    name = given.value or given.display or ""
    known = [one for one in contacts if kind == "tt:contact" or ("@" in one.value) is _mail(kind)]
    found = of_contact(bare(name.removeprefix("@")), known)
    value: Value = UndefinedValue(position=given.position)
    if isinstance(found, Understood):
        value = EntityValue(found.value, kind, name, position=given.position)
    return replace(argument, value=value)


def _mail(kind: str) -> bool:
    return kind == "tt:email_address"
