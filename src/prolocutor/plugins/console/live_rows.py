"""The rows of turns in lists, and the messages to operators who watch turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from prolocutor.contracts.observer import FAILURES, Outcome, TurnRecord
from prolocutor.contracts.turn_record_store import (
    SUMMARY_CHARACTERS,
    TURN_FLAGS,
    TurnFlag,
    TurnQuery,
)
from prolocutor.dialog.inputs import STOPPED
from prolocutor.plugins.console.agent_states import AgentState
from prolocutor.plugins.console.turn_views import ServiceFailure, list_failures

TurnKind = Literal["all", "trouble", "waits", "down", "none", "failed", "slow"]
"""A kind of turns: all, with any flag, or with a certain flag; no turn is of the kind `waits`."""


class TurnChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The turns that an operator wants to see: of a kind, in which the service `failed` failed."""

    kind: TurnKind = "all"
    failed: str | None = None
    code: str | None = None

    @property
    def takes_all(self) -> bool:
        """Whether every turn is wanted, so that a turn can be shown from its start."""
        return self.kind == "all" and self.failed is None

    def query(self) -> TurnQuery:
        """Return the query of a store."""
        flags = (
            TURN_FLAGS
            if self.kind == "trouble"
            else [one for one in TURN_FLAGS if one == self.kind]
        )
        return TurnQuery(flags=flags, failed=self.failed, code=self.code)

    def fits(self, row: Ended) -> bool:
        """Return whether an ended turn is wanted."""
        if self.failed is not None and not any(
            one.service == self.failed and self.code in (None, one.code or one.outcome)
            for one in row.failures
        ):
            return False
        if self.kind == "all":
            return True
        return bool(row.flags) if self.kind == "trouble" else self.kind in row.flags


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
    """The outcome of an asked service, and its seconds."""

    turn_id: str
    agent: str
    stage: str
    outcome: Outcome
    seconds: float


class Ended(LiveMessage, frozen=True, kw_only=True, tag="ended"):
    """A turn has ended; its reply has the id `utt_id`.

    `by` is the origin of the reply, `spoke` its speaker. `failed` counts services, `failures` are
    their errors. `flags`: no agent answered (`none`), a service `failed`, it was `slow`; also, of a
    turn of before, it got a thumb `down`. `stopped`: its person stopped it.
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
    failures: list[ServiceFailure]
    flags: list[TurnFlag]
    stopped: bool


class BreakerChange(LiveMessage, frozen=True, kw_only=True, tag="breaker"):
    """The state of a service has changed."""

    agent: str
    stage: str
    state: AgentState


class PersonWanted(LiveMessage, frozen=True, kw_only=True, tag="waits"):
    """A person is wanted in a dialog."""

    dialog_id: str


class LeftOut(LiveMessage, frozen=True, kw_only=True, tag="left_out"):
    """The number of matching turns not sent, beyond 10 a second."""

    n: int


def make_row(record: TurnRecord, flags: Sequence[TurnFlag]) -> Ended:
    """Return the row of an ended turn."""
    return Ended(
        turn_id=record.turn_id,
        dialog_id=record.dialog_id,
        utt_id=record.utt_id,
        user=record.user,
        channel=record.channel,
        at=record.started + record.seconds,
        said=record.text[:SUMMARY_CHARACTERS],
        reply=record.response[:SUMMARY_CHARACTERS],
        spoke=record.speakers,
        by=record.by,
        seconds=record.seconds,
        cost=record.cost,
        failed=record.failures,
        failures=[
            msgspec.structs.replace(
                one, error=one.error[:SUMMARY_CHARACTERS] if one.error else one.error
            )
            for one in list_failures(record)
            if one.outcome in FAILURES
        ],
        flags=[*flags],
        stopped=record.by == STOPPED,
    )
