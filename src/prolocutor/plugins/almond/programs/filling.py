"""Slot filling: asks for a program's missing values, turn by turn, and inserts the answers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from prolocutor.asks.answers import Contact, Understood
from prolocutor.asks.known_contacts import find_contact
from prolocutor.assistant.rounds import own_words
from prolocutor.contracts.programs import ProgramRun
from prolocutor.dialog.inputs import DirectReply
from prolocutor.errors import Forbidden, ThingTalkError
from prolocutor.plugins.almond.programs.configured_devices import (
    ConfiguredDevices,
    OpenChoice,
    choose_device,
    device_titles,
)
from prolocutor.plugins.almond.programs.describing import describe
from prolocutor.plugins.almond.programs.program_user import ProgramUser
from prolocutor.plugins.almond.programs.resolving import ValueResolver, personal_value
from prolocutor.plugins.almond.programs.sources import parse_program
from prolocutor.plugins.almond.thingtalk import units
from prolocutor.plugins.almond.thingtalk.checked import Checked, Slot, fill, find_ask
from prolocutor.plugins.almond.thingtalk.checking import check
from prolocutor.plugins.almond.thingtalk.json_values import read_json_value
from prolocutor.plugins.almond.thingtalk.manifests import Manifests
from prolocutor.plugins.almond.thingtalk.nodes import SyntaxNode, transform
from prolocutor.plugins.almond.thingtalk.printing import show, show_tokens
from prolocutor.plugins.almond.thingtalk.tree import Argument, Invocation, Program, TimerStream
from prolocutor.plugins.almond.thingtalk.types import LOCATION, TIME, Type
from prolocutor.plugins.almond.thingtalk.values import (
    ArrayValue,
    ContextRef,
    EntityValue,
    Instant,
    NamedTime,
    Now,
    RelativeLocation,
    UndefinedValue,
    Value,
)
from prolocutor.reading.plain_text import bare

Wants: TypeAlias = Literal["device", "slot", "place", "more", "yes"]

PersonalValue = RelativeLocation | NamedTime | ContextRef

MUST_LOG_IN: Final = "Sorry, to execute this command you must log in to your personal account."

ANY_MORE: Final = "Would you like to add more elements to the list?"

USERNAME: Final = "tt:username"
REACHED: Final = frozenset({"tt:phone_number", "tt:email_address", "tt:contact"})
"""Types of entities by which a person is reached."""


class PartialProgram(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A program waiting for an answer: its source so far, and the purpose of the answer.

    `wants` is "device" (the device of the first open call, out of `items`), "slot" (the first
    slot's value), "place" (the first value missing in the person's attributes), "more" (whether a
    list goes on) or "yes" (a confirmation). Unless `wants` is "device", `items` are the answers for
    a list so far.
    """

    code: str
    wants: Wants
    items: list[Any] = []


class SlotFilling:
    """Completes the programs of a person: each step asks for a value, or returns the program.

    `learned` are the person's attributes learned from their answers.
    """

    def __init__(
        self, person: ProgramUser, manifests: Manifests, devices: ConfiguredDevices
    ) -> None:
        self.learned: dict[str, Any] = {}
        self._person = person
        self._manifests = manifests
        self._devices = devices

    def begin(self, program: Program, *, confirmed: bool = False) -> Checked | ProgramRun:
        """Ask for the first missing value of a program; return the checked program if it is
        complete.

        Raise `Forbidden` for actions of anonymous persons.
        """
        program = put_contacts(program, self._manifests, self._person.contacts)
        checked = check(program, self._manifests)
        if self._person.is_anonymous and acts(checked):
            raise Forbidden(MUST_LOG_IN)
        settled = self._devices.settle_devices(checked.program)
        if isinstance(settled, OpenChoice):
            return self._ask_device(checked.program, settled)
        checked = check(settled, self._manifests)
        if checked.slots:
            return self._ask(checked.program, checked.slots[0], "slot")
        personal = unknown_personal_value(checked.program, self._person)
        if personal is not None:
            return self._ask(checked.program, personal_slot(personal), "place")
        if confirmed or not any(each.confirm for each in checked.statements):
            return checked
        resolver = ValueResolver(self._person)
        what = " and ".join(describe(each, resolver) for each in checked.statements)
        question = yes_or_no(f"Okay, so you want me to {what}. Is that right?")
        partial = PartialProgram(code=show(checked.program), wants="yes")
        return _ask_run(question, partial, checked.program)

    def go_on(self, context: Any, answer: Any) -> Checked | ProgramRun:
        """Put in an answer and ask for the next value."""
        partial = msgspec.convert(context, PartialProgram)
        program = parse_program(partial.code)
        if partial.wants == "yes":
            if answer is True:
                return self.begin(program, confirmed=True)
            return ProgramRun(words=own_words.says(own_words.CANNOT_HELP))
        if partial.wants == "place":
            return self._take_place(program, answer)
        if partial.wants == "device":
            return self._take_device(program, partial, answer)
        slots = check(program, self._manifests).slots
        return (
            self._take_value(program, slots[0], partial, answer) if slots else self.begin(program)
        )

    def _take_place(self, program: Program, answer: Any) -> Checked | ProgramRun:
        personal = unknown_personal_value(program, self._person)
        if personal is None:
            return self.begin(program)
        slot = personal_slot(personal)
        if read_value(slot.type, answer) is None:
            return self._ask(program, slot, "place", again=True)
        if learned := remember(personal, answer, self._person):
            self.learned |= learned
            self._person.attributes.update(learned)
            return self.begin(program)
        value = read_value(slot.type, answer)
        return self.begin(program if value is None else replace_node(program, personal, value))

    def _ask_device(self, program: Program, open_: OpenChoice) -> ProgramRun:
        kind = self._manifests.find(open_.call.device.kind)
        name = kind.canonical if kind is not None else open_.call.device.kind
        text = f"You have multiple {name} devices. Which one do you want to use?"
        messages: list[dict[str, Any]] = [{"type": "text", "text": text}]
        messages += [
            {"type": "choice", "idx": index, "title": title}
            for index, title in enumerate(device_titles(open_.devices))
        ]
        ids = [device.id for device in open_.devices]
        partial = PartialProgram(code=show(program), wants="device", items=ids)
        return _ask_run(DirectReply(messages=messages, ask="choice"), partial, program)

    def _take_device(
        self, program: Program, partial: PartialProgram, answer: Any
    ) -> Checked | ProgramRun:
        open_ = self._devices.settle_devices(program)
        index = answer.get("idx") if isinstance(answer, dict) else None
        if isinstance(open_, Program) or not isinstance(index, int) or index >= len(partial.items):
            return self.begin(program)
        call = choose_device(open_.call, partial.items[index])
        return self.begin(replace_node(program, open_.call, call))

    def _take_value(
        self, program: Program, slot: Slot, partial: PartialProgram, answer: Any
    ) -> Checked | ProgramRun:
        """Put an answer into a slot; a list is filled element by element."""
        is_list = slot.type.name == "Array"
        if is_list and partial.wants == "more":
            if answer is True:
                return self._ask(program, slot, "slot", items=partial.items)
            values = [read_value(slot.type, item) for item in partial.items]
            known = tuple(value for value in values if value is not None)
            return self.begin(fill(program, 0, ArrayValue(known)))
        value = read_value(slot.type, answer)
        if value is None:
            return self._ask(program, slot, "slot", items=partial.items, again=True)
        if is_list:
            more = PartialProgram(code=partial.code, wants="more", items=[*partial.items, answer])
            return _ask_run(yes_or_no(ANY_MORE), more, program)
        return self.begin(fill(program, 0, value))

    def _ask(
        self,
        program: Program,
        slot: Slot,
        wants: Wants,
        *,
        items: Sequence[Any] = (),
        again: bool = False,
    ) -> ProgramRun:
        hint = type_hint(slot.type) if again else ""
        partial = PartialProgram(code=show(program), wants=wants, items=list(items))
        return _ask_run(make_question(slot, hint), partial, program)


def _ask_run(words: DirectReply, partial: PartialProgram, program: Program) -> ProgramRun:
    code, entities = show_tokens(program)
    context = msgspec.to_builtins(partial)
    return ProgramRun(words=words, context=context, code=code, entities=entities)


def acts(checked: Checked) -> bool:
    """Return whether a program acts, or goes on running."""
    return checked.kind == "stream" or any(each.action for each in checked.statements)


def make_question(slot: Slot, hint: str = "") -> DirectReply:
    """Return the question for a slot, after a hint if the last answer was not understood."""
    kind = slot.type.element if slot.type.name == "Array" and slot.type.element else slot.type
    prompt = slot.prompt
    if kind.name == "Measure" and not hint:
        known = ", ".join(units.convertible_units(kind.of))
        prompt = f"{prompt} (in {known})" if known else prompt
    messages: list[dict[str, Any]] = [
        {"type": "text", "text": one} for one in (hint, prompt) if one
    ]
    messages += [
        {"type": "choice", "idx": index, "title": choice.replace("_", " ")}
        for index, choice in enumerate(kind.choices)
    ]
    return DirectReply(messages=messages, ask=find_ask(slot.type))


def yes_or_no(question: str) -> DirectReply:
    """Return a question to be answered by yes or no."""
    return DirectReply(messages=[{"type": "text", "text": question}], ask="yesno")


def read_value(kind: Type, answer: Any) -> Value | None:
    """Return an answer (`asks/`) as a value of a type; None if it does not fit."""
    if kind.name == "Array" and kind.element is not None:
        kind = kind.element
    match kind.name, answer:
        case "Enum", {"idx": int(index)} if 0 <= index < len(kind.choices):
            answer = kind.choices[index]
        case (("String" | "Any"), int() | float()):
            answer = str(answer)
        case "Currency", {"unit": str(unit)} if len(unit) != 3 or units.base_unit(unit):
            return None
    try:
        return read_json_value(answer, kind)
    except ThingTalkError:
        return None


def type_hint(kind: Type) -> str:
    """Return a sentence on the expected form of an answer."""
    if kind.name == "Array" and kind.element is not None:
        kind = kind.element
    if kind.name == "Measure":
        known = ", ".join(units.convertible_units(kind.of))
        return f"I am looking for a number with a unit: {known}."
    if kind.name == "Currency":
        return "I am looking for an amount of money, such as 5 usd."
    return f"Sorry, that is no {kind.name.lower()} that I can use."


def unknown_personal_value(program: Program, person: ProgramUser) -> PersonalValue | None:
    """Return the first personal value of a program that the person's attributes do not hold."""
    found: list[PersonalValue] = []

    def see(node: SyntaxNode) -> SyntaxNode:
        if isinstance(node, PersonalValue) and personal_value(node, person) is None:
            found.append(node)
        return node

    transform(program, see)
    return found[0] if found else None


def personal_slot(value: PersonalValue) -> Slot:
    """Return the slot for a personal value."""
    match value:
        case RelativeLocation("current_location"):
            return Slot(value.name, LOCATION, "Where are you now?", "")
        case RelativeLocation(name):
            return Slot(name, LOCATION, f"What is your {name} location?", "")
        case NamedTime(name):
            return Slot(name, TIME, f"At what time is your {name}?", "")
        case ContextRef(name, kind):
            return Slot(name, kind, f"What is the {name.replace('_', ' ')}?", "")


def remember(value: PersonalValue, answer: Any, person: ProgramUser) -> dict[str, Any]:
    """Return the attributes that keep a personal value; empty for changing values."""
    match value:
        case RelativeLocation(name) if name != "current_location":
            key = "locations"
        case NamedTime(name):
            key = "times"
        case _:
            return {}
    known = person.attributes.get(key)
    return {key: {**(known if isinstance(known, dict) else {}), name: answer}}


def put_constants(program: Program, person: ProgramUser) -> Program:
    """Replace personal values and the base of timers by constants."""

    def put(node: SyntaxNode) -> SyntaxNode:
        if isinstance(node, TimerStream) and isinstance(node.base, Now):
            return replace(node, base=Instant(dt.datetime.fromtimestamp(person.at, dt.UTC)))
        if isinstance(node, PersonalValue):
            value = read_value(personal_slot(node).type, personal_value(node, person))
            return node if value is None else value
        return node

    return transform(program, put)


def replace_node(program: Program, old: SyntaxNode, new: SyntaxNode) -> Program:
    """Replace a node by another wherever it occurs."""
    return transform(program, lambda node: new if node == old else node)


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
    known = [
        contact
        for contact in contacts
        if kind == "tt:contact" or ("@" in contact.value) is _mail(kind)
    ]
    contact = find_contact(bare(name.removeprefix("@")), known)
    value: Value = UndefinedValue(position=given.position)
    if isinstance(contact, Understood):
        value = EntityValue(contact.value, kind, name, position=given.position)
    return replace(argument, value=value)


def _mail(kind: str) -> bool:
    return kind == "tt:email_address"
