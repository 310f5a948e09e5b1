"""Decision: what an input means for the turn that it begins."""

from __future__ import annotations

import msgspec

from prolocutor.contracts.programs import ProgramRun, ProgramStart
from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.rounds import NOTHING, PendingAsk, Round


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn starts, and what becomes of the open ask.

    `state` is the round that it goes on with. `kept` is what is waited for if the assistant itself
    has the last word. `told` is the skill that is to know that its ask is over, unless it is kept.
    `ends`: whoever speaks, nothing is asked any more. `releases`: nobody is preferred from now on.
    `program` is to be run for the words of the turn; `run` is what came of it.
    """

    start: TurnStart
    state: Round = NOTHING
    kept: PendingAsk | None = None
    told: str | None = None
    ends: bool = False
    releases: bool = False
    program: ProgramStart | None = None
    run: ProgramRun | None = None
