"""Asking: what a program still needs to know, and the values that answers are."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final, TypeVar, cast

from msgspec.structs import replace

from prolocutor.almond.programs.program_user import ProgramUser
from prolocutor.almond.programs.resolving import known_of
from prolocutor.almond.thingtalk.checked import Slot, ask_of
from prolocutor.almond.thingtalk.nodes import SyntaxNode
from prolocutor.almond.thingtalk.tree import Program, TimerStream
from prolocutor.almond.thingtalk.typed_values import typed
from prolocutor.almond.thingtalk.types import LOCATION, TIME, Type
from prolocutor.almond.thingtalk.values import (
    ContextRef,
    Instant,
    NamedTime,
    Now,
    RelativeLocation,
    Value,
)
from prolocutor.dialog.inputs import DirectReply
from prolocutor.errors import ThingTalkError
from prolocutor.reading import units

Tree = TypeVar("Tree", bound=SyntaxNode)
PersonalValue = RelativeLocation | NamedTime | ContextRef

ANY_MORE: Final = "Would you like to add more elements to the list?"


def for_slot(slot: Slot, hint: str = "") -> DirectReply:
    """Ask for the value of a slot by its type, after a hint if the last answer was none."""
    kind = slot.type.element if slot.type.name == "Array" and slot.type.element else slot.type
    prompt = slot.prompt
    if kind.name == "Measure" and not hint:
        known = ", ".join(units.units_of(kind.of))
        prompt = f"{prompt} (in {known})" if known else prompt
    messages: list[dict[str, Any]] = [
        {"type": "text", "text": one} for one in (hint, prompt) if one
    ]
    messages += [
        {"type": "choice", "idx": place, "title": choice.replace("_", " ")}
        for place, choice in enumerate(kind.choices)
    ]
    return DirectReply(messages=messages, ask=ask_of(slot.type))


def yes_or_no(question: str) -> DirectReply:
    """Ask a question of yes or no."""
    return DirectReply(messages=[{"type": "text", "text": question}], ask="yesno")


def value_of(kind: Type, answer: Any) -> Value | None:
    """Make a value of a type out of an answer (`asks/`); None where it is none of that type."""
    if kind.name == "Array" and kind.element is not None:
        kind = kind.element
    match kind.name, answer:
        case "Enum", {"idx": int(place)} if 0 <= place < len(kind.choices):
            answer = kind.choices[place]
        case (("String" | "Any"), int() | float()):
            answer = str(answer)
        case "Currency", {"unit": str(unit)} if len(unit) != 3 or units.base_of(unit):
            return None
    try:
        return typed(answer, kind)
    except ThingTalkError:
        return None


def hint_for(kind: Type) -> str:
    """Say what an answer of a type looks like."""
    if kind.name == "Array" and kind.element is not None:
        kind = kind.element
    if kind.name == "Measure":
        known = ", ".join(units.units_of(kind.of))
        return f"I am looking for a number with a unit: {known}."
    if kind.name == "Currency":
        return "I am looking for an amount of money, such as 5 usd."
    return f"Sorry, that is no {kind.name.lower()} that I can use."


def unknown_place(program: Program, person: ProgramUser) -> PersonalValue | None:
    """Return the first value of a program that the person's attributes should tell and do not."""
    found: list[PersonalValue] = []

    def see(node: Any) -> Any:
        if isinstance(node, PersonalValue) and known_of(node, person) is None:
            found.append(node)
        return node

    changed(program, see)
    return found[0] if found else None


def slot_of(place: PersonalValue) -> Slot:
    """Return what is asked for where the person's attributes do not tell a value."""
    match place:
        case RelativeLocation("current_location"):
            return Slot(place.name, LOCATION, "Where are you now?", "")
        case RelativeLocation(name):
            return Slot(name, LOCATION, f"What is your {name} location?", "")
        case NamedTime(name):
            return Slot(name, TIME, f"At what time is your {name}?", "")
        case ContextRef(name, kind):
            return Slot(name, kind, f"What is the {name.replace('_', ' ')}?", "")


def settled(program: Program, person: ProgramUser) -> Program:
    """Put constants in the place of what only now is known: the person's places, a timer's base."""

    def put(node: Any) -> Any:
        if isinstance(node, TimerStream) and isinstance(node.base, Now):
            return replace(node, base=Instant(dt.datetime.fromtimestamp(person.at, dt.UTC)))
        if isinstance(node, PersonalValue):
            value = value_of(slot_of(node).type, known_of(node, person))
            return node if value is None else value
        return node

    return changed(program, put)


def put_for(program: Program, old: Value, new: Value) -> Program:
    """Put one value in the place of another, wherever it stands."""
    return changed(program, lambda node: new if node == old else node)


def changed(tree: Tree, change: Any) -> Tree:
    """Return a tree in which each node is what `change` makes of it, from the leaves up."""

    def inside(node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(inside(each) for each in node)
        if not isinstance(node, SyntaxNode):
            return node
        inner = {name: inside(getattr(node, name)) for name in node.__struct_fields__}
        return change(replace(node, **inner))

    return cast(Tree, inside(tree))
