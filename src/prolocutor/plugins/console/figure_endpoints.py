"""Figures over time: of turns and of agents, shares of turns by day, and models put live."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from prolocutor.clocks import DAY, HOUR
from prolocutor.contracts.channel import Route
from prolocutor.contracts.turn_record_store import AgentSpan, TurnHour, TurnRecordStore
from prolocutor.errors import BadInput
from prolocutor.plugins.console.model_desk import ModelDesk, PutLive
from prolocutor.plugins.console.resources import BASE
from prolocutor.stores.agent_figures import new_span
from prolocutor.stores.turn_records import COUNTS
from prolocutor.web.operations import Operation, TypedRequest

MOST_STEPS: Final = 400

Days: TypeAlias = Annotated[int, Meta(ge=1, le=366, extra={"error": "days are 1 to 366"})]


class ShareParams(msgspec.Struct, frozen=True):
    """The parameters of a request for shares."""

    days: Days = 30


class FigureParams(msgspec.Struct, frozen=True):
    """The parameters of a request for figures over time."""

    days: Days = 7
    step: Annotated[
        int,
        Meta(ge=HOUR, le=DAY, description="Seconds of one step; hours are not divided."),
    ] = DAY


class AgentColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Outcomes of an agent in each step; `p50` and `p99` are seconds, null without an answer."""

    agent: str
    asked: list[int]
    won: list[int]
    failed: list[int]
    cost: list[float]
    p50: list[float | None]
    p99: list[float | None]


class FigureColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Columns by step (UTC, from `at` on): turns of each kind, and the outcomes of each agent.

    Agents stand in the order of how often they were asked.
    """

    step: int
    at: list[int]
    turns: list[int]
    none: list[int]
    failed: list[int]
    slow: list[int]
    down: list[int]
    agents: list[AgentColumns]


class DailyShares(msgspec.Struct, frozen=True, kw_only=True):
    """Columns by day (UTC, from `at` on): the number of turns, and shares of them.

    `none` had no answer, `down` a thumb down; null for a day without turns. `live` are the models
    put in use.
    """

    at: list[int]
    turns: list[int]
    none: list[float | None]
    down: list[float | None]
    live: list[PutLive]


class FigureEndpoints:
    """Shows figures of turns and agents over time."""

    def __init__(
        self,
        records: TurnRecordStore | None,
        desk: ModelDesk,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._records, self._desk, self._clock = records, desk, clock
        figures, shares = Operation(self.show_figures), Operation(self.daily_shares)
        self.routes = [
            Route("GET", f"{BASE}/figures", figures, "operators"),
            Route("GET", f"{BASE}/shares", shares, "operators"),
        ]

    async def show_figures(self, request: TypedRequest[FigureParams, None]) -> FigureColumns:
        """Return the figures of turns and agents, step by step until now."""
        step = request.params.step // HOUR * HOUR
        if request.params.days * DAY // step > MOST_STEPS:
            raise BadInput(f"at most {MOST_STEPS} steps: choose longer ones", field="step")
        last = int(self._clock()) // step * step
        first = last - (request.params.days * DAY // step - 1) * step
        steps = await self._turns(first, last, step)
        agents: dict[str, dict[int, AgentSpan]] = {}
        if self._records is not None:
            for one in await self._records.totals(first, last + step, step):
                agents.setdefault(one.agent, {})[one.at] = one
        columns = [
            _agent_columns(name, [spans.get(at) or new_span() for at in steps])
            for name, spans in agents.items()
        ]
        return FigureColumns(
            step=step,
            at=[*steps],
            turns=[one.turns for one in steps.values()],
            none=[one.none for one in steps.values()],
            failed=[one.failed for one in steps.values()],
            slow=[one.slow for one in steps.values()],
            down=[one.down for one in steps.values()],
            agents=sorted(columns, key=lambda one: (-sum(one.asked), one.agent)),
        )

    async def daily_shares(self, request: TypedRequest[ShareParams, None]) -> DailyShares:
        """Return the shares of turns without an answer and with a thumb down, by day."""
        today = int(self._clock()) // DAY * DAY
        first = today - (request.params.days - 1) * DAY
        days = await self._turns(first, today, DAY)
        return DailyShares(
            at=[*days],
            turns=[one.turns for one in days.values()],
            none=[one.none / one.turns if one.turns else None for one in days.values()],
            down=[one.down / one.turns if one.turns else None for one in days.values()],
            live=[one for one in await self._desk.history() if one.at >= first],
        )

    async def _turns(self, first: int, last: int, step: int) -> dict[int, TurnHour]:
        """Return the turns of each step from the first to the last, by its start."""
        steps = {at: TurnHour(at=at) for at in range(first, last + step, step)}
        hours = [] if self._records is None else await self._records.hours(first, last + step)
        for hour in hours:
            one = steps[hour.at // step * step]
            for name in COUNTS:
                setattr(one, name, getattr(one, name) + getattr(hour, name))
        return steps


def _agent_columns(name: str, spans: Sequence[AgentSpan]) -> AgentColumns:
    return AgentColumns(
        agent=name,
        asked=[one.asked for one in spans],
        won=[one.won for one in spans],
        failed=[one.failed for one in spans],
        cost=[one.cost for one in spans],
        p50=[one.answer_quantile(0.5) for one in spans],
        p99=[one.answer_quantile(0.99) for one in spans],
    )
