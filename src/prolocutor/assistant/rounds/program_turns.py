"""Turns that run a program: how an input asks for a program, and how the program is run."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec.structs import replace

from prolocutor.assistant.rounds import own_words
from prolocutor.assistant.rounds.decision import Decision
from prolocutor.contracts.programs import ProgramRun, ProgramRunner, ProgramSource
from prolocutor.pipeline.turn import Turn


def program_source(parsed: dict[str, Any]) -> ProgramSource:
    """Return the program of a parsed command (`asks.intents.read_parsed`)."""
    return ProgramSource(
        text=parsed.get("program"),
        code=[str(token) for token in parsed.get("code") or ()],
        entities=parsed.get("entities") or {},
        slots=parsed.get("slots") or [],
        slot_types=parsed.get("slotTypes") or {},
    )


async def run_program(decision: Decision, programs: ProgramRunner, seconds: float) -> Decision:
    """Run the program of an input, within `seconds`, and make its words the reply of the turn.

    If the input turns out to be no program, an open ask is repeated. If its words are not about
    programs after all, the turn goes on without a program.
    """
    start = decision.program
    assert start is not None, "the input asks for no program"
    try:
        async with asyncio.timeout(seconds):
            run = await programs.run(start)
    except TimeoutError:
        run = ProgramRun(words=own_words.says(own_words.TOO_LONG))
    if run.declined:
        return replace(decision, program=None)
    waiting = decision.state.waiting
    if run.refused and waiting is not None:
        again = own_words.asks_again(waiting)
        words = replace(again, messages=[*run.words.messages, *again.messages])
        spoken_start = replace(decision.start, say=words)
        return replace(decision, start=spoken_start, run=run, cancelled_skill=None, pending=waiting)
    return replace(decision, start=replace(decision.start, say=run.words), run=run)


def learn(turn: Turn, decision: Decision) -> None:
    """Store the person's attributes that their answer told, or skills called by the program."""
    attributes = decision.run.human_attributes if decision.run is not None else {}
    if decision.learned or attributes:
        learned = {"human_attributes": {**decision.learned, **attributes}}
        turn.draft.learn(learned, turn.max_attributes, turn.slots.fault_recorder("program"))
