"""Turns whose words come from a program."""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec.structs import replace

from prolocutor.assistant import phrases
from prolocutor.assistant.decision import Decision
from prolocutor.contracts.programs import ProgramRun, Programs, ProgramStart

SHOWN: Final = 200
"""Characters of a program that are repeated where nobody runs it."""


async def run_program(decision: Decision, programs: Programs | None, seconds: float) -> Decision:
    """Run the program that an input asks for, and let the turn say what it says."""
    start = decision.program
    assert start is not None, "the input asks for no program"
    if programs is None:
        run = _unable(start)
    else:
        try:
            async with asyncio.timeout(seconds):
                run = await programs.run(start)
        except TimeoutError:
            run = ProgramRun(words=phrases.says(phrases.TOO_LONG))
    return replace(decision, start=replace(decision.start, say=run.words), run=run)


def _unable(start: ProgramStart) -> ProgramRun:
    source = start.parsed.get("program") or " ".join(map(str, start.parsed.get("code") or ()))
    return ProgramRun(words=phrases.says(f"{phrases.NO_PROGRAMS} {source[:SHOWN]}"))
