"""The decision on an input: how its turn starts, and the effects stored with the reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from prolocutor.contracts.programs import ProgramRun, ProgramStart
from prolocutor.contracts.store import NO_ASK_CLOSING, AgendaEntry
from prolocutor.dialog.inputs import TurnStart
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.rounds import NOTHING, PendingAsk, Round


class HandoverChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of who has the dialog, or words to a person who has it.

    `waits`: a person is wanted from now on, for the reason in `text`. `heard`: the person spoke.
    """

    state: Literal["waits", "taken", "said", "heard", "given"]
    by: str = ""
    text: str = ""
    note: str = ""


class TurnEffects(msgspec.Struct, frozen=True, kw_only=True):
    """The effects stored together with a reply; `round` is None if it has not changed.

    `stores`: whether both utterances are stored, the person's alone (`heard`), or the reply alone
    (`said`).
    """

    waiting: PendingAsk | None = None
    round: bytes | None = None
    closing: bytes = NO_ASK_CLOSING
    entries: Sequence[AgendaEntry] = ()
    struck: Sequence[tuple[str, str]] = ()
    stores: Literal["both", "heard", "said"] = "both"
    handover: HandoverChange | None = None


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn starts, and the fate of the open ask.

    `state` is the round before the turn. `pending` is the ask that stays open if the assistant
    itself replies. `cancelled_skill` is the skill to tell that its ask is over, unless the ask
    stays open. `kept` is the ask that stays open if another skill replies, asked again in that
    reply where it `returns`. `ends`: no ask is open after the turn, whatever the reply says.
    `releases`: no skill is preferred from now on. `program` is run for the words of the turn; `run`
    is its outcome. `learned` are attributes of the person that the input tells. `instead` is the
    decision where no other skill answers the input.
    """

    start: TurnStart
    state: Round = NOTHING
    pending: PendingAsk | None = None
    cancelled_skill: str | None = None
    kept: PendingAsk | None = None
    returns: bool = False
    ends: bool = False
    releases: bool = False
    program: ProgramStart | None = None
    run: ProgramRun | None = None
    learned: JsonObject = {}
    instead: Decision | None = None
