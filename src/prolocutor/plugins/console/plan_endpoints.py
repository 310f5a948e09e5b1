"""The endpoint of the plan: the order and states of services, and the hints of `check`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterator
from typing import Literal

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.clocks import DAY
from prolocutor.contracts.channel import Route
from prolocutor.pipeline.prepared import ServiceStep
from prolocutor.plugins.console.agent_states import AgentState, AgentStates
from prolocutor.plugins.console.recent_figures import RecentFigures
from prolocutor.plugins.console.resources import BASE
from prolocutor.web.door_context import ServedFile
from prolocutor.web.operations import Operation, TypedRequest

log = logging.getLogger(__name__)


class PlanHint(msgspec.Struct, frozen=True):
    """A hint about the file: its text and its place (`FILE:LINE`, then the key)."""

    what: str
    where: str


class PlanService(msgspec.Struct, frozen=True, kw_only=True):
    """One service in the plan.

    `id` is its name, with its stage before it if another service has the same name. `level`, from
    1: it can start once all earlier levels have settled, at the latest. `p50` and `p99` are the
    seconds within which half of its answers came today, and 99 of 100.
    """

    id: str
    name: str
    stage: str
    level: int
    p50: float | None
    p99: float | None
    timeout: float
    asked: int
    state: AgentState


class AssistantPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a turn.

    `file` is the assistant's file, `read` the time of reading (UNIX seconds). `edges` are
    [from, to, kind] by `id`: `after` waits, `requires` is skipped unless the other is done.
    `critical` is the chain with the greatest sum of time-outs, `longest` the chain with the
    greatest sum of `p50`.
    """

    file: str | None
    read: float
    deadline: float
    reserve: float
    nodes: list[PlanService]
    edges: list[tuple[str, str, Literal["after", "requires"]]]
    critical: list[str]
    longest: list[str]
    hints: list[PlanHint]


class PlanEndpoint:
    """Shows the plan of an assistant."""

    def __init__(
        self,
        assistant: Assistant,
        figures: RecentFigures,
        states: AgentStates,
        file: ServedFile | None,
    ) -> None:
        self._prepared = assistant.engine.prepared
        self._figures = figures
        self._states = states
        self._file = file
        self._read = time.time()
        self._hints: list[PlanHint] | None = None
        self._lock = asyncio.Lock()
        names = Counter(one.name for one in self._prepared.every())
        self._ids = [
            one.name if names[one.name] == 1 else f"{one.stage_name}.{one.name}"
            for one in self._prepared.every()
        ]
        self.routes = [Route("GET", f"{BASE}/plan", Operation(self.show_plan), "operators")]

    async def show_plan(self, request: TypedRequest[None, None]) -> AssistantPlan:
        """Show the order of the services, their states, and the hints about the file."""
        limits, graph = self._prepared.limits, self._prepared.graph
        levels = {
            node.index: level for level, nodes in enumerate(graph.levels(), 1) for node in nodes
        }
        nodes = [
            self._node(one, levels.get(one.index, len(graph.levels()) + 1))
            for one in self._prepared.every()
        ]
        halves = {node.id: node.p50 or 0.0 for node in nodes}
        return AssistantPlan(
            file=None if self._file is None else self._file.path.name,
            read=self._read,
            deadline=limits.deadline,
            reserve=limits.reserve,
            nodes=nodes,
            edges=list(self._edges()),
            critical=[self._ids[node.index] for node in graph.critical_path()],
            longest=self._longest(halves),
            hints=[*self._check_unchanged(), *await self._found()],
        )

    def _node(self, step: ServiceStep, level: int) -> PlanService:
        tally = self._figures.tally((step.stage_name, step.name), time.time() - DAY)
        return PlanService(
            id=self._ids[step.index],
            name=step.name,
            stage=step.stage_name,
            level=level,
            p50=tally.answer_quantile(0.5),
            p99=tally.answer_quantile(0.99),
            timeout=step.timeout,
            asked=tally.asked,
            state=self._states.find_state(step),
        )

    def _edges(self) -> Iterator[tuple[str, str, Literal["after", "requires"]]]:
        for step in self._prepared.steps:
            for index in step.before:
                kind: Literal["after", "requires"] = "after"
                if index in step.requires:
                    kind = "requires"
                yield self._ids[index], self._ids[step.index], kind

    def _longest(self, halves: dict[str, float]) -> list[str]:
        """Return the chain of services with the greatest sum of usual times, if any."""
        best: dict[int, tuple[float, int | None]] = {}
        for step in self._prepared.steps:  # each comes after what it waits for
            before = max(step.before, key=lambda index: best[index][0], default=None)
            start = 0.0 if before is None else best[before][0]
            best[step.index] = (start + halves[self._ids[step.index]], before)
        at = max(best, key=lambda index: best[index][0], default=None)
        if at is None or not best[at][0]:
            return []
        path: list[str] = []
        while at is not None:
            path.append(self._ids[at])
            at = best[at][1]
        return path[::-1]

    def _check_unchanged(self) -> Iterator[PlanHint]:
        """Warn of a file that has changed since it was read."""
        if self._file is None:
            return
        path = self._file.path
        try:
            changed = path.stat().st_mtime > self._read
        except OSError:
            yield PlanHint("the file cannot be read any more", path.name)
            return
        if changed:
            yield PlanHint("it was changed since it was read: a restart takes it", path.name)

    async def _found(self) -> list[PlanHint]:
        """Return the hints about the file, which are computed once."""
        if self._file is None:
            return []
        async with self._lock:
            if self._hints is None:
                try:
                    found = await asyncio.to_thread(self._file.hints)
                    self._hints = [PlanHint(what, where) for what, where in found]
                except Exception:
                    log.exception("the hints about %s cannot be found", self._file.path)
                    self._hints = []
            return self._hints
