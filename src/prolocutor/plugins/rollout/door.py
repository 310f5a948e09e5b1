"""The door of rollouts: operators see the states of trials, and decide on them."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

import msgspec

from prolocutor.contracts.channel import Channel, Route
from prolocutor.errors import BadInput, NotFound
from prolocutor.plugins.rollout.rollout_desk import RolloutDesk, TrialStatus
from prolocutor.plugins.rollout.turn_trials import TurnTrials
from prolocutor.web.door_context import DoorContext
from prolocutor.web.operations import Operation, OperatorWrite, TypedRequest

PATH: Final = "/api/console/rollout"


class RolloutCommand(msgspec.Struct, frozen=True):
    """A command for the trial `name`; `status` needs no name."""

    do: Literal["status", "promote", "stop"]
    name: str = ""


class TrialLine(msgspec.Struct, frozen=True):
    """A trial, and the verdict of its figures in a sentence."""

    trial: TrialStatus
    verdict: str


class TrialList(msgspec.Struct, frozen=True):
    """The trials of an assistant."""

    items: list[TrialLine]


class RolloutDoor(msgspec.Struct, frozen=True, kw_only=True):
    """What is tried out, for operators, at `/api/console/rollout`."""

    is_usual: ClassVar[bool] = True
    operators_data: ClassVar[str] = PATH

    def build(self, context: DoorContext) -> Channel:
        """Return the door."""
        return Rollouts(context)


class Rollouts:
    """The trials of an assistant; without trials the list is empty."""

    name: Final = "rollout"
    prefix: Final = "rollout:"

    def __init__(self, context: DoorContext) -> None:
        assistant = context.assistant
        trials = assistant.engine.prepared.variants
        watch = trials.watch if isinstance(trials, TurnTrials) else None
        self._desk = RolloutDesk(assistant.store, []) if watch is None else watch.desk
        decide = OperatorWrite(self.decide_trial, errors=[NotFound, BadInput])
        self.routes = [
            Route("GET", PATH, Operation(self.list_trials), "operators"),
            Route("POST", PATH, decide, "operators"),
        ]

    async def list_trials(self, request: TypedRequest[None, None]) -> TrialList:
        """List the trials, with their estimates from the logs."""
        return trial_list(await self._desk.status())

    async def decide_trial(self, request: TypedRequest[None, RolloutCommand]) -> TrialList:
        """Promote or stop a trial, and list all."""
        body, visitor = request.body, request.visitor
        if body.do != "status":
            await self._desk.decide(body.name, body.do, visitor.name)
        return trial_list(await self._desk.status())


def trial_list(found: list[TrialStatus]) -> TrialList:
    """Return trials with their verdicts."""
    return TrialList([TrialLine(one, one.verdict) for one in found])
