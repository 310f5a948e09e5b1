"""What an input means for the turn that it starts."""

from __future__ import annotations

import msgspec

from prolocutor.contracts.programs import ProgramRun, ProgramStart
from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import NOTHING, PendingAsk, Round


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn starts, and what becomes of the open ask.

    `state` is the round before the turn. `pending` is the ask that stays open if the assistant
    itself replies. `cancelled_skill` is the skill to tell that its ask is over, unless the ask
    stays open. `ends`: no ask is open after the turn, whatever the reply says. `releases`: no skill
    is preferred from now on. `program` is run for the words of the turn; `run` is its outcome.
    `learned` are attributes of the person that the input tells.
    """

    start: TurnStart
    state: Round = NOTHING
    pending: PendingAsk | None = None
    cancelled_skill: str | None = None
    ends: bool = False
    releases: bool = False
    program: ProgramStart | None = None
    run: ProgramRun | None = None
    learned: JsonObject = {}
