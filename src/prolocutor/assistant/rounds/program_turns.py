"""Turns that are about programs: what asks for one, how it is run."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Final

from msgspec.structs import replace

from prolocutor.assistant.rounds import own_words
from prolocutor.assistant.rounds.decision import Decision
from prolocutor.contracts.programs import ProgramRun, ProgramRunner, ProgramSource, ProgramWish
from prolocutor.pipeline.turn import Turn
from prolocutor.reading.plain_text import plain

LONGEST: Final = 120
_FIRST: Final = frozenset(
    "what what's whats which list show please stop cancel end delete remove kill do are can".split()
)
_ASKING: Final = frozenset("what what's whats which list show".split())
"""With these no wish to stop something begins."""
_PROGRAMS: Final = r"(?:programs?|rules?|monitors?|automations?|apps|notifications)"
_LIST: Final = re.compile(
    rf"(?:what(?:'s| is|s)|which (?:{_PROGRAMS} )?(?:is|are)) (?:currently |still )?"
    r"(?:running|active)"
    rf"|(?:what|which) {_PROGRAMS} (?:are|do i have|is)(?: currently| still)?(?: running| active)?"
    rf"|what are you (?:running|doing|watching|monitoring) for me"
    rf"|(?:list|show|show me|tell me)(?: all)?(?: of)? (?:my|the)(?: running| active)? {_PROGRAMS}"
    r"|(?:what(?:'s| is|s)) running(?: right)? now"
)
_STOP: Final = r"(?:please )?(?:can you )?(?:stop|cancel|end|delete|remove|kill)"
_EVERYTHING: Final = re.compile(
    rf"{_STOP} (?:everything|all(?: of)?(?: my| the| your)?(?: running| active)? {_PROGRAMS}"
    r"|all of (?:them|it)|them all|all that(?:'s| is) running)"
)
_ONE: Final = re.compile(
    rf"{_STOP} (?:the |my |that |this )?"
    r"(?P<kind>timer|monitor|program|rule|automation|app|notification)s?"
    r"(?:,? (?:about|for|of|on|with|that|which|from|named|called))?(?: (?P<about>\S.*))?"
)
_ABOUT: Final = re.compile(
    rf"{_STOP} (?:the |my )?(?P<about>\S.*?) (?P<kind>timer|monitor|program|rule|notification)s?"
)
_TELLING: Final = re.compile(
    rf"{_STOP} (?:notifying|telling|informing|alerting) (?:me|us) (?:about|of|on|when) "
    r"(?P<about>\S.*)"
    rf"|{_STOP} (?:watching|monitoring) (?P<watched>\S.*)"
)
_WORDS: Final = re.compile(
    r"program|rule|monitor|automation|app|notif|timer|running|active|doing|watching|telling"
    r"|informing|alerting|everything|all"
)
"""Each phrase has one of these: to look for them takes a third of what reading a text takes."""


def program_wish_of(text: str) -> ProgramWish | None:
    """Return what a text wants of running programs; None for any other text.

    >>> program_wish_of("Stop the timer about the comic!")
    ProgramWish(what='stop', about='the comic', kind='timer')
    """
    if len(text) > LONGEST:
        return None
    first = text.lstrip().partition(" ")[0].lower()
    if first not in _FIRST:
        return None
    if text.isascii() and not _WORDS.search(text.lower()):
        return None
    said = plain(text).strip(" .!?")
    said = said.removesuffix(" please").rstrip(" ,")
    if _LIST.fullmatch(said):
        return ProgramWish(what="list")
    if first in _ASKING:
        return None
    if _EVERYTHING.fullmatch(said):
        return ProgramWish(what="stop")
    if found := _TELLING.fullmatch(said):
        about = found["about"] or found["watched"]
        return ProgramWish(what="stop", about=about, kind="notification")
    for pattern in (_ONE, _ABOUT):
        if found := pattern.fullmatch(said):
            return ProgramWish(what="stop", about=found["about"] or "", kind=found["kind"])
    return None


def program_source(parsed: dict[str, Any]) -> ProgramSource:
    """Return the program of a parsed command (`asks.parsed_commands.read_parsed`)."""
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
    programs after all, the turn goes on without one.
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
        said = replace(decision.start, say=words)
        return replace(decision, start=said, run=run, cancelled_skill=None, pending=waiting)
    return replace(decision, start=replace(decision.start, say=run.words), run=run)


def learn(turn: Turn, decision: Decision) -> None:
    """Store the person's attributes that their answer told, or skills called by the program."""
    told = decision.run.human_attributes if decision.run is not None else {}
    if decision.learned or told:
        learned = {"human_attributes": {**decision.learned, **told}}
        turn.draft.learn(learned, turn.max_attributes, turn.slots.fault_of("program"))
