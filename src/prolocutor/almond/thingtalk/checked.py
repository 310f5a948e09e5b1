"""What the checker makes of a program: resolved functions, slots, types of what comes out."""

from __future__ import annotations

from typing import Literal

import msgspec

from prolocutor.almond.thingtalk.manifests import Class, Function
from prolocutor.almond.thingtalk.tree import Expression, Invocation, Program, Statement
from prolocutor.almond.thingtalk.types import Type
from prolocutor.dialog.rounds import Ask


class Slot(msgspec.Struct, frozen=True):
    """A value that is still missing and has to be asked for.

    `name` is that of the parameter or the field, `prompt` the question (the manifest's, else one
    made of the name), `function` the full name of the function it is for.
    """

    name: str
    type: Type
    prompt: str
    function: str

    @property
    def ask(self) -> Ask:
        """The kind of question; for a list that of its elements, asked for one by one."""
        return ask_of(self.type)


class ResolvedCall(msgspec.Struct, frozen=True):
    """A call with the class and the function that it means."""

    call: Invocation
    owner: Class
    function: Function


class CheckedStatement(msgspec.Struct, frozen=True):
    """A statement whose parts are told apart.

    `stream` begins it, if any; each of `queries` is run for each result of what stands before;
    `action` is done for each last result, and None means that the results are shown. `calls` are
    all calls in the order in which they are written. `outputs` are the names and types of what is
    known at the end of the chain. `confirm` says that the action has to be confirmed by the
    person.
    """

    statement: Statement
    stream: Expression | None
    queries: tuple[Expression, ...]
    action: ResolvedCall | None
    calls: tuple[ResolvedCall, ...]
    outputs: dict[str, Type]
    confirm: bool


class Checked(msgspec.Struct, frozen=True):
    """A program that can be run, once its slots are filled.

    `program` is the program with `$?` for each missing required parameter; `slots` are what its
    `$?` stand for, in the order in which they are written. `slots.fill` puts a value in.
    """

    program: Program
    statements: tuple[CheckedStatement, ...]
    slots: tuple[Slot, ...]

    @property
    def kind(self) -> Literal["stream", "now"]:
        """Whether it goes on running: a monitor or a timer does."""
        return "stream" if any(each.stream for each in self.statements) else "now"


def ask_of(kind: Type) -> Ask:
    """Return the kind of question by which a value of a type is asked for."""
    if kind.name == "Array" and kind.element is not None:
        return ask_of(kind.element)
    if kind.name == "Entity":
        return _ENTITIES.get(kind.of, "raw_string")
    return _ASKS.get(kind.name, "generic")


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
