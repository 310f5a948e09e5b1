"""Checked programs: resolved calls, types of outputs, and slots, which can be filled."""

from __future__ import annotations

from typing import Literal

import msgspec

from prolocutor.dialog.rounds import Ask
from prolocutor.plugins.almond.thingtalk.manifests import Class, Function
from prolocutor.plugins.almond.thingtalk.nodes import SyntaxNode, Tree, transform
from prolocutor.plugins.almond.thingtalk.tree import Expression, Invocation, Program, Statement
from prolocutor.plugins.almond.thingtalk.types import Type
from prolocutor.plugins.almond.thingtalk.values import UndefinedValue, Value

_ASKS: dict[str, Ask] = {
    "String": "raw_string",
    "Number": "number",
    "Boolean": "yesno",
    "Enum": "choice",
    "Date": "date",
    "Time": "time",
    "Location": "location",
}

_ENTITIES: dict[str, Ask] = {
    "tt:picture": "picture",
    "tt:phone_number": "phone_number",
    "tt:email_address": "email_address",
    "tt:contact": "contact",
    "tt:password": "password",
}


class Slot(msgspec.Struct, frozen=True):
    """A missing value to ask for.

    `name` is the parameter's or field's, `prompt` the question (the manifest's, else derived from
    the name), `function` the full name of the function that needs it.
    """

    name: str
    type: Type
    prompt: str
    function: str

    @property
    def ask(self) -> Ask:
        """The kind of ask; for a list its elements' kind, as elements are asked for one by one."""
        return find_ask(self.type)


class ResolvedCall(msgspec.Struct, frozen=True):
    """A call with its class and function."""

    call: Invocation
    owner: Class
    function: Function


class CheckedStatement(msgspec.Struct, frozen=True):
    """A statement divided into stream, queries and action.

    Each of `queries` is run for each preceding result; `action` is run for each last result;
    without an action the results are shown.

    - `calls` are all calls in source order.
    - `outputs` are the names and types of the fields known at the end of the chain.
    - `confirm`: the person has to confirm the statement.
    """

    statement: Statement
    stream: Expression | None
    queries: tuple[Expression, ...]
    action: ResolvedCall | None
    calls: tuple[ResolvedCall, ...]
    outputs: dict[str, Type]
    confirm: bool


class Checked(msgspec.Struct, frozen=True):
    """A program ready to run, once its slots are filled.

    `program` is the program with `$?` for each missing required parameter; `slots` describe these
    `$?`, in source order. `fill` puts a value in.
    """

    program: Program
    statements: tuple[CheckedStatement, ...]
    slots: tuple[Slot, ...]

    @property
    def kind(self) -> Literal["stream", "now"]:
        """ "stream" if the program goes on running, as monitors and timers do."""
        return "stream" if any(each.stream for each in self.statements) else "now"


def find_ask(kind: Type) -> Ask:
    """Return the kind of ask for a value of a type."""
    if kind.name == "Array" and kind.element is not None:
        return find_ask(kind.element)
    if kind.name == "Entity":
        return _ENTITIES.get(kind.of, "raw_string")
    return _ASKS.get(kind.name, "generic")


def count_slots(tree: SyntaxNode) -> int:
    """Count the missing values in a tree."""
    count = 0

    def see(node: SyntaxNode) -> SyntaxNode:
        nonlocal count
        count += isinstance(node, UndefinedValue)
        return node

    transform(tree, see, leave=Class)
    return count


def fill(tree: Tree, slot: int, value: Value) -> Tree:
    """Put a value into a slot of a tree; slots are counted from 0 in source order.

    Raise `IndexError` for a missing slot.
    """
    seen = 0

    def put(node: SyntaxNode) -> SyntaxNode:
        nonlocal seen
        if not isinstance(node, UndefinedValue):
            return node
        seen += 1
        return value if seen == slot + 1 else node

    filled = transform(tree, put, leave=Class)
    if not 0 <= slot < seen:
        raise IndexError(f"there is no slot {slot} among {seen}")
    return filled
