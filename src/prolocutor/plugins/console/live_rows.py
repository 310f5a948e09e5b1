"""The messages to operators who watch turns: a message for each event."""

from __future__ import annotations

from typing import Literal

import msgspec

from prolocutor.contracts.observer import Outcome, OwnFlag, TurnRecord
from prolocutor.contracts.turn_record_store import SHOWN
from prolocutor.plugins.console.agent_states import AgentState

TurnKind = Literal["all", "trouble", "waits", "down", "none", "failed", "slow"]
"""Which turns are wanted: all, those with any flag or with one; of `waits` and `down` no turn."""


class LiveMessage(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A message, whose kind is its `type`. Times are UNIX seconds."""


class Begun(LiveMessage, frozen=True, kw_only=True, tag="begun"):
    """A turn has begun."""

    turn_id: str
    dialog_id: str
    user: str
    channel: str
    said: str
    at: float


class AskedNow(LiveMessage, frozen=True, kw_only=True, tag="asked"):
    """Services are asked, since `at`."""

    turn_id: str
    agents: list[str]
    stage: str
    at: float


class SettledNow(LiveMessage, frozen=True, kw_only=True, tag="settled"):
    """The outcome of a service that was asked, and its seconds."""

    turn_id: str
    agent: str
    stage: str
    outcome: Outcome
    seconds: float


class Ended(LiveMessage, frozen=True, kw_only=True, tag="ended"):
    """A turn has ended; its reply has the id `utt_id`.

    `by` is the origin of the reply, `spoke` its speaker. `failed` counts services. `flags`: no
    agent answered (`none`), a service `failed`, it was `slow`.
    """

    turn_id: str
    dialog_id: str
    utt_id: str
    user: str
    channel: str
    at: float
    said: str
    reply: str
    spoke: list[str]
    by: str
    seconds: float
    cost: float
    failed: int
    flags: list[OwnFlag]


class BreakerChange(LiveMessage, frozen=True, kw_only=True, tag="breaker"):
    """The state of a service has changed."""

    agent: str
    stage: str
    state: AgentState


class PersonWanted(LiveMessage, frozen=True, kw_only=True, tag="waits"):
    """A person is wanted in a dialog."""

    dialog_id: str


class LeftOut(LiveMessage, frozen=True, kw_only=True, tag="left_out"):
    """The number of matching turns that were not sent, since there were more than 10 a second."""

    n: int


def row_of(record: TurnRecord, slow: float) -> Ended:
    """Return the row of a turn that has ended; a turn of more than `slow` seconds is slow."""
    flags = record.flags(slow)
    speakers = dict.fromkeys(one.rpartition(".")[0] for one in record.chosen)
    return Ended(
        turn_id=record.turn_id,
        dialog_id=record.dialog_id,
        utt_id=record.utt_id,
        user=record.user,
        channel=record.channel,
        at=record.started + record.seconds,
        said=record.text[:SHOWN],
        reply=record.response[:SHOWN],
        spoke=[*speakers] or ([record.active_skill] if record.active_skill else []),
        by=record.by,
        seconds=record.seconds,
        cost=record.cost,
        failed=record.failures,
        flags=flags,
    )


def fits(row: Ended, kind: TurnKind) -> bool:
    """Return whether an ended turn is of the requested kind."""
    if kind == "all":
        return True
    return bool(row.flags) if kind == "trouble" else kind in row.flags
