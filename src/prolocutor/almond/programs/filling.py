"""Filling: asking for what a program lacks until it can be run, one thing in each turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from prolocutor.almond.programs import asking
from prolocutor.almond.programs.describing import described
from prolocutor.almond.programs.program_user import ProgramUser
from prolocutor.almond.programs.resolving import ValueResolver
from prolocutor.almond.thingtalk.checked import Checked, Slot
from prolocutor.almond.thingtalk.checking import check
from prolocutor.almond.thingtalk.manifests import Manifests
from prolocutor.almond.thingtalk.parsing import parse
from prolocutor.almond.thingtalk.printing import show
from prolocutor.almond.thingtalk.printing_tokens import show_tokens
from prolocutor.almond.thingtalk.slots import fill
from prolocutor.almond.thingtalk.tree import Program
from prolocutor.almond.thingtalk.values import ArrayValue
from prolocutor.asks.hints import NOT_UNDERSTOOD
from prolocutor.assistant.rounds import own_words
from prolocutor.contracts.programs import ProgramRun
from prolocutor.dialog.inputs import DirectReply
from prolocutor.errors import BadInput


class PartialProgram(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A program that waits for an answer: its source so far, and what the answer is for.

    `wants` is "slot" (its first), "place" (its first value that the person's attributes should
    tell), "more" (whether a list goes on) or "yes" (that it may run). `items` are the answers for a
    list so far.
    """

    code: str
    wants: str
    items: list[Any] = []


class SlotFilling:
    """Makes programs of one person ready to run: each step asks for something, or is the last."""

    def __init__(self, person: ProgramUser, manifests: Manifests) -> None:
        self._person = person
        self._manifests = manifests

    def begin(self, program: Program, *, confirmed: bool = False) -> Checked | ProgramRun:
        """Ask for the first thing that a program lacks; give it checked if there is none."""
        checked = check(program, self._manifests)
        if checked.slots:
            return self._ask(checked.program, checked.slots[0], "slot")
        place = asking.unknown_place(checked.program, self._person)
        if place is not None:
            return self._ask(checked.program, asking.slot_of(place), "place")
        if confirmed or not any(each.confirm and each.action for each in checked.statements):
            return checked
        surroundings = ValueResolver(self._person)
        what = " and ".join(described(each, surroundings) for each in checked.statements)
        question = asking.yes_or_no(f"Okay, so you want me to {what}. Is that right?")
        half = PartialProgram(code=show(checked.program), wants="yes")
        return _asked(question, half, checked.program)

    def go_on(self, context: Any, answer: Any) -> Checked | ProgramRun:
        """Take an answer, and ask for the next thing."""
        half = msgspec.convert(context, PartialProgram)
        program = program_in(half.code)
        if half.wants == "yes":
            if answer is True:
                return self.begin(program, confirmed=True)
            return ProgramRun(words=own_words.says(own_words.CANNOT_HELP))
        if half.wants == "place":
            return self._placed(program, answer)
        slots = check(program, self._manifests).slots
        return self._filled(program, slots[0], half, answer) if slots else self.begin(program)

    def _placed(self, program: Program, answer: Any) -> Checked | ProgramRun:
        place = asking.unknown_place(program, self._person)
        if place is None:
            return self.begin(program)
        slot = asking.slot_of(place)
        value = asking.value_of(slot.type, answer)
        if value is None:
            return self._ask(program, slot, "place", again=True)
        return self.begin(asking.put_for(program, place, value))

    def _filled(
        self, program: Program, slot: Slot, half: PartialProgram, answer: Any
    ) -> Checked | ProgramRun:
        """Put an answer into a slot; a list is asked for element by element."""
        is_list = slot.type.name == "Array"
        if is_list and half.wants == "more":
            if answer is True:
                return self._ask(program, slot, "slot", items=half.items)
            values = [asking.value_of(slot.type, one) for one in half.items]
            known = tuple(value for value in values if value is not None)
            return self.begin(fill(program, 0, ArrayValue(known)))
        value = asking.value_of(slot.type, answer)
        if value is None:
            return self._ask(program, slot, "slot", items=half.items, again=True)
        if is_list:
            more = PartialProgram(code=half.code, wants="more", items=[*half.items, answer])
            return _asked(asking.yes_or_no(asking.ANY_MORE), more, program)
        return self.begin(fill(program, 0, value))

    def _ask(
        self,
        program: Program,
        slot: Slot,
        wants: str,
        *,
        items: Sequence[Any] = (),
        again: bool = False,
    ) -> ProgramRun:
        hint = asking.hint_for(slot.type) if again else ""
        half = PartialProgram(code=show(program), wants=wants, items=list(items))
        return _asked(asking.for_slot(slot, hint), half, program)


def program_in(code: str) -> Program:
    """Read the source of a program; `BadInput` where there is nothing to run in it."""
    tree = parse(code)
    if not isinstance(tree, Program) or not tree.statements:
        raise BadInput(NOT_UNDERSTOOD, field="code")
    return tree


def _asked(words: DirectReply, half: PartialProgram, program: Program) -> ProgramRun:
    code, entities = show_tokens(program)
    context = msgspec.to_builtins(half)
    return ProgramRun(words=words, context=context, code=code, entities=entities)
