"""The events of a running turn, for its listeners.

The order is: `TurnStarted` once the input is stored; then stages, services and provisional words as
they come; `ReplyGiven` last, once the reply is stored. A reply stored before is `ReplyGiven` alone.
Each `ServiceAsked` has its `ServiceSettled` and each `StageStarted` its `StageEnded` before
`ReplyGiven`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from prolocutor.dialog.dialog import BotUtterance
from prolocutor.dialog.rounds import PendingAsk


class _Event(msgspec.Struct, frozen=True, tag_field="type", tag=True):
    """One event; `type` is the name of its class."""


class TurnStarted(_Event, frozen=True, eq=False):
    """The input is stored and its turn runs; its reply will have the id `utt_id`.

    Events of the same turn and dialog are equal.
    """

    turn_id: str
    dialog_id: str
    utt_id: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TurnStarted) and (
            (self.turn_id, self.dialog_id) == (other.turn_id, other.dialog_id)
        )

    def __hash__(self) -> int:
        return hash((self.turn_id, self.dialog_id))


class StageStarted(_Event, frozen=True):
    """The first service of a stage is asked; the stage is named by its key in YAML."""

    stage: str


class StageEnded(_Event, frozen=True):
    """Every service of a stage has settled."""

    stage: str


class ServiceAsked(_Event, frozen=True):
    """A service is asked for the first time in this turn."""

    service: str
    stage: str


class ServiceSettled(_Event, frozen=True):
    """An asked service has settled; `seconds` since it was asked.

    `skipped`: its answer is not wanted any more.
    """

    service: str
    stage: str
    outcome: Literal["done", "failed", "late", "skipped"]
    seconds: float


class Delta(_Event, frozen=True):
    """Provisional words of the expected speaker, to be appended to the words before."""

    skill: str
    text: str


class Replaced(_Event, frozen=True):
    """All deltas so far are void: another answer wins, or the skill failed."""


class ReplyGiven(_Event, frozen=True):
    """The reply, which is stored. The joined deltas, void ones excepted, are its text.

    - `waiting` is the open ask from now on.
    - `n` is the number of the feed row of the person's words, the rows of the reply follow.
    - `repeated`: the reply was stored before.
    """

    utterance: BotUtterance
    turn_id: str = ""
    dialog_id: str = ""
    human_utt_id: str = ""
    waiting: PendingAsk | None = None
    n: int = 0
    repeated: bool = False


TurnEvent = (
    TurnStarted
    | StageStarted
    | StageEnded
    | ServiceAsked
    | ServiceSettled
    | Delta
    | Replaced
    | ReplyGiven
)

TurnListener = Callable[[TurnEvent], None]
"""Takes the events of one turn in their order; it must not block and must not raise."""
