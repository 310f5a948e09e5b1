"""Endpoints of agents: show their states, talk to an agent alone, switch it off, try it again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.clocks import DAY
from prolocutor.contracts.channel import Route
from prolocutor.contracts.pairing import Card
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import NotFound, StoreError
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.console.agent_states import AgentStates
from prolocutor.plugins.console.agent_views import AgentDetail, AgentList, AgentViews
from prolocutor.plugins.console.recent_figures import SLOT_SECONDS, RecentFigures
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.operations import EmptyBody, Operation, OperatorWrite, TypedRequest

ONE: Final = f"{BASE}/agents/{{name}}"


Since: TypeAlias = Annotated[
    Annotated[float, Meta(ge=0)] | None,
    Meta(description="From when on turns count (UNIX seconds); none for the last 24 hours."),
]


class AgentsPeriod(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a request for figures."""

    since: Since = None


class AgentPath(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a request about one service."""

    name: str
    stage: Annotated[
        Stage | None,
        Meta(description="Its stage, where services of several stages have the same name."),
    ] = None


class AgentDetailPath(AgentPath, frozen=True, kw_only=True):
    """The parameters of a request for the figures of one service."""

    since: Since = None
    step: Annotated[
        int,
        Meta(ge=1, le=DAY, description="Seconds of one step of the series, a multiple of 900."),
    ] = SLOT_SECONDS


class LoneWords(msgspec.Struct, frozen=True):
    """Words for an agent alone, at the end of a dialog if `dialog` names a dialog."""

    text: Annotated[str, Meta(min_length=1)]
    dialog_id: str | None = None


class LoneReply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of an agent alone. `error` and `code` describe the failure, if the call failed.

    `faults` are the errors of rejected hypotheses.
    """

    hypotheses: list[JsonObject]
    seconds: float
    error: str | None
    code: str | None
    faults: list[str]


class SwitchPosition(msgspec.Struct, frozen=True):
    """Whether a service is asked."""

    on: bool


class AgentEndpoints:
    """Shows the services of an assistant, and switches, tries and asks them one by one."""

    def __init__(
        self,
        assistant: Assistant,
        figures: RecentFigures,
        states: AgentStates,
        cards: Mapping[str, Card],
    ) -> None:
        self._assistant = assistant
        self._views = AgentViews(assistant, figures, assistant.records.recorder, states, cards)
        listed = Operation(self.list_agents)
        shown = Operation(self.show_agent, errors=[NotFound])
        alone = OperatorWrite(self.talk_alone, errors=[NotFound])
        switch = OperatorWrite(self.switch_agent, errors=[NotFound, StoreError])
        let_try = OperatorWrite(self.try_agent, errors=[NotFound])
        self.routes: list[Route] = [
            Route("GET", f"{BASE}/agents", listed, "operators"),
            Route("GET", ONE, shown, "operators"),
            Route("POST", f"{ONE}/alone", alone, "operators"),
            Route("POST", f"{ONE}/switch", switch, "operators"),
            Route("POST", f"{ONE}/try", let_try, "operators"),
        ]

    async def list_agents(self, request: TypedRequest[AgentsPeriod, None]) -> AgentList:
        """List all services, with their outcomes since a time."""
        return await self._views.list_agents(_began(request.params.since))

    async def show_agent(self, request: TypedRequest[AgentDetailPath, None]) -> AgentDetail:
        """Show one service in full."""
        params = request.params
        seconds = -(-params.step // SLOT_SECONDS) * SLOT_SECONDS
        return await self._views.detail(self._step(params), _began(params.since), seconds)

    async def talk_alone(self, request: TypedRequest[AgentPath, LoneWords]) -> LoneReply:
        """Ask an agent alone: nothing is stored, and its breaker does not count the call."""
        step, body = self._step(request.params), request.body
        answer = await self._assistant.alone.ask(
            body.text, step.name, stage=step.stage, dialog_id=body.dialog_id
        )
        error = answer.error
        return LoneReply(
            hypotheses=answer.hypotheses,
            seconds=answer.seconds,
            error=None if error is None else str(error),
            code=None if error is None else error.code,
            faults=answer.faults,
        )

    async def switch_agent(self, request: TypedRequest[AgentPath, SwitchPosition]) -> AgentDetail:
        """Switch a service off, or on again: a service that is off is skipped."""
        step = self._step(request.params)
        await self._assistant.switches.switch(step, on=request.body.on, by=request.visitor.name)
        return await self._show_detail(step)

    async def try_agent(self, request: TypedRequest[AgentPath, EmptyBody]) -> AgentDetail:
        """Let the open breaker of a service admit its next call."""
        step = self._step(request.params)
        step.guard.breaker.let_try()
        return await self._show_detail(step)

    def _step(self, path: AgentPath) -> ServiceStep:
        return self._assistant.engine.find_step(path.name, path.stage)

    async def _show_detail(self, step: ServiceStep) -> AgentDetail:
        return await self._views.detail(step, _began(None), SLOT_SECONDS)


def _began(since: float | None) -> float:
    """Return the time from which turns count."""
    return time.time() - DAY if since is None else since
