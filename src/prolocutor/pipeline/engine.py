"""The pipeline made ready to run: its graph, a guard for each service, its time, its strays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from prolocutor.contracts.connector import Connector
from prolocutor.contracts.store import Begun
from prolocutor.dialog import plain
from prolocutor.dialog.ids import new_id
from prolocutor.dialog.inputs import TurnStart
from prolocutor.errors import NotFound, ServiceLate
from prolocutor.pipeline.calls import Calls, Strays
from prolocutor.pipeline.formatters import resolve_formatter, wants_hypotheses
from prolocutor.pipeline.graph import Graph, Node, compile_graph
from prolocutor.pipeline.guard import BreakerState, Guard
from prolocutor.pipeline.plan import Formatter, Pipeline, Service
from prolocutor.pipeline.requests import PayloadRequest
from prolocutor.pipeline.stages import Stage
from prolocutor.pipeline.turn import Turn

MAX_RESERVE: Final = 1.0


class Limits(msgspec.Struct, frozen=True):
    """Until when each stage may take, in seconds since the turn's start.

    What follows the skills has a reserve at the end: at `deadline - reserve` running skills are
    cancelled. The last twentieth of the reserve is for storing the reply.
    """

    deadline: float
    reserve: float

    def ends(self) -> dict[Stage, float]:
        """Give the end of each stage."""
        cut = self.deadline - self.reserve
        return {
            Stage.ANNOTATOR: cut / 2,
            Stage.SKILL_SELECTOR: cut * 3 / 4,
            Stage.SKILL: cut,
            Stage.CANDIDATE_ANNOTATOR: cut + self.reserve * 0.25,
            Stage.RESPONSE_SELECTOR: cut + self.reserve * 0.75,
            Stage.LAST_CHANCE: cut + self.reserve * 0.85,
            Stage.POSTPROCESSOR: cut + self.reserve * 0.95,
            Stage.RESPONSE_ANNOTATOR: cut + self.reserve * 0.95,
        }


class Step:
    """A service ready to be called: its node in the graph, its guard, its formatters."""

    __slots__ = (
        "before",
        "fan_out",
        "guard",
        "index",
        "name",
        "node",
        "read",
        "requires",
        "service",
        "show",
        "stage",
        "tail",
        "then",
    )

    def __init__(self, node: Node, guard: Guard, show: Formatter | None, read: Formatter | None) -> None:
        self.node = node
        self.index = node.index
        self.stage = node.stage
        self.name = node.name
        self.service = node.service
        self.guard = guard
        self.show = show
        self.read = read
        self.fan_out = node.service.fan_out or bool(getattr(show, "fan_out", False))
        self.before = tuple(other.index for other in node.before)
        self.requires = tuple(other.index for other in node.requires)
        self.then = tuple(other.index for other in node.then)
        self.tail = b',"service":%b' % plain.encode(node.name)


class Engine:
    """Runs turns through one pipeline, many at once.

    `connect` makes the connector of a service, `resolve` finds the function of a dotted name.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        connect: Callable[[Service], Connector],
        resolve: Callable[[str], Formatter],
        deadline: float = 5.0,
        reserve: float | None = None,
        fallback: str = "Sorry, I have no answer to that.",
        max_attributes: int = 1000,
        breaker_changed: Callable[[str, BreakerState], None] = lambda service, state: None,
    ) -> None:
        self.graph: Graph = compile_graph(pipeline)
        self.limits = Limits(deadline, min(MAX_RESERVE, deadline / 4) if reserve is None else reserve)
        self.ends = self.limits.ends()
        self.fallback = fallback
        self.max_attributes = max_attributes
        self.strays = Strays()
        self.faults_seen = 0

        def step(node: Node) -> Step:
            service = node.service
            return Step(
                node,
                Guard(service, connect(service), breaker_changed),
                resolve_formatter(service.formatter, "in", resolve),
                resolve_formatter(service.response_formatter, "out", resolve),
            )

        self.steps = [step(node) for node in self.graph.nodes]
        self.last_chance = step(self.graph.last_chance) if self.graph.last_chance else None
        self._by_stage = {
            stage: [self.steps[node.index] for node in nodes]
            for stage, nodes in self.graph.stages.items()
        }
        self.skills = [one.name for one in self._by_stage[Stage.SKILL]]
        self.skill_steps = {one.name: one for one in self._by_stage[Stage.SKILL]}
        self.selectors = len(self._by_stage[Stage.SKILL_SELECTOR])
        self.candidate_steps = sorted(
            self._by_stage[Stage.CANDIDATE_ANNOTATOR], key=lambda one: one.index
        )
        self.missing = [self._missing(one) for one in self.steps]
        self.roots = [one for one in self.steps if self.missing[one.index] == 0]
        before_reply = self._by_stage[Stage.RESPONSE_SELECTOR] or [
            *self._by_stage[Stage.SKILL],
            *self.candidate_steps,
        ]
        self.before_reply = frozenset(one.index for one in before_reply)
        self.after_reply = [
            *self._by_stage[Stage.POSTPROCESSOR],
            *self._by_stage[Stage.RESPONSE_ANNOTATOR],
        ]
        declared = [service.name for _, service in pipeline.services()]
        self.order = {name: place for place, name in reversed(list(enumerate(declared)))}

    @property
    def window(self) -> int | None:
        """The number of earlier utterances that some service is shown; None: all."""
        windows = [one.service.window for one in self.every()]
        sizes = [size for size in windows if size is not None]
        return None if len(sizes) < len(windows) else max(sizes) - 1

    @property
    def hypotheses(self) -> int:
        """Of how many earlier human utterances some formatter wants the hypotheses."""
        asking = [one.service.window for one in self.every() if wants_hypotheses(one.show)]
        return max((size or 1 << 30 for size in asking), default=0)

    def every(self) -> list[Step]:
        """Give every service, the last chance included."""
        return [*self.steps, *([self.last_chance] if self.last_chance else ())]

    async def run(self, begun: Begun, start: TurnStart, started: float) -> Turn:
        """Run one turn that started at `started` (the loop's clock); its reply is in its draft."""
        turn = Turn(self, begun, start, started)
        await turn.run()
        return turn

    def closed(self, begun: Begun, start: TurnStart, attributes: dict[str, Any]) -> Turn:
        """Give a turn that was ended by the fallback text without asking anybody."""
        turn = Turn(self, begun, start, 0.0)
        turn.draft.say("fallback", "", self.fallback, {}, attributes)
        return turn

    async def call(self, service: str, request: dict[str, Any], *, timeout: float) -> Any:
        """Ask one service under its guard, outside of any turn (`contracts/caller.py`)."""
        step = next((one for one in self.every() if one.name == service), None)
        if step is None:
            raise NotFound(f"no service is called '{service}'", field="service")
        loop = asyncio.get_running_loop()
        body = plain.check(request).encoded
        turn_id = new_id()
        asked = PayloadRequest(service, turn_id, f"{turn_id}/{service}", timeout, body)
        calls: Calls[None] = Calls(loop, self.strays)
        try:
            calls.start(step.guard.call(asked), None, timeout, loop.time())
            while not calls.settled:
                await calls.wait(loop.time() + timeout)
        finally:
            calls.close()
        ((_, outcome),) = calls.settled
        error = outcome if isinstance(outcome, Exception) else None
        step.guard.note(error if error is None or isinstance(error, ServiceLate) else error)
        if error is not None:
            raise error
        return outcome.value

    async def aclose(self) -> None:
        """Let go of every service."""
        for step in self.every():
            await step.guard.aclose()

    def _missing(self, step: Step) -> int:
        if step.stage is Stage.CANDIDATE_ANNOTATOR:
            return -1
        late = step.stage in (Stage.POSTPROCESSOR, Stage.RESPONSE_ANNOTATOR)
        return len(step.before) + late
