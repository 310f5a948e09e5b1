"""The pipeline made ready to run: its steps, and what a turn would else work out each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from prolocutor.contracts.connector import Connector
from prolocutor.dialog import plain
from prolocutor.pipeline.calls import Strays
from prolocutor.pipeline.formatters import reply_formatter, resolve_formatter, wants_hypotheses
from prolocutor.pipeline.graph import Graph, PlanNode, compile_graph
from prolocutor.pipeline.guard import BreakerState, Guard
from prolocutor.pipeline.plan import Formatter, Pipeline, Service, Stage

MAX_RESERVE: Final = 1.0

_CONDITIONAL: Final = (Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR)


class StageDeadlines(msgspec.Struct, frozen=True):
    """Until when each stage may take, in seconds since the turn's start.

    What follows the skills has a reserve at the end: at `deadline - reserve` running skills are
    cancelled. The last twentieth of the reserve is for storing the reply.
    """

    deadline: float
    reserve: float

    @classmethod
    def within(cls, deadline: float, reserve: float | None) -> StageDeadlines:
        """Take the usual reserve, a quarter of the deadline up to a second, where none is given."""
        return cls(deadline, min(MAX_RESERVE, deadline / 4) if reserve is None else reserve)

    def end_of(self, stage: Stage) -> float:
        """Return the end of a stage."""
        cut = self.deadline - self.reserve
        match stage:
            case Stage.ANNOTATOR:
                return cut / 2
            case Stage.SKILL_SELECTOR:
                return cut * 3 / 4
            case Stage.SKILL:
                return cut
            case Stage.CANDIDATE_ANNOTATOR:
                return cut + self.reserve * 0.25
            case Stage.RESPONSE_SELECTOR:
                return cut + self.reserve * 0.75
            case Stage.LAST_CHANCE:
                return cut + self.reserve * 0.85
            case Stage.POSTPROCESSOR | Stage.RESPONSE_ANNOTATOR:
                return cut + self.reserve * 0.95


class ServiceStep:
    """A service in its place in the graph, with its guard and its formatters.

    `before`, `requires` and `then` are the indices of its neighbours in the graph, `end` the
    seconds after a turn's start when its stage is over. `conditional`: it may have to be skipped.
    """

    __slots__ = (
        "_tail",
        "before",
        "conditional",
        "end",
        "fan_out",
        "format_reply",
        "format_request",
        "guard",
        "index",
        "name",
        "only",
        "requires",
        "selecting",
        "service",
        "stage",
        "then",
        "timeout",
        "window",
    )

    def __init__(
        self,
        node: PlanNode,
        guard: Guard,
        format_request: Formatter | None,
        format_reply: Formatter | None,
        limits: StageDeadlines,
    ) -> None:
        service = node.service
        self.index = node.index
        self.stage = node.stage
        self.name = node.name
        self.service = service
        self.guard = guard
        self.format_request = format_request
        self.format_reply = format_reply
        self.fan_out = service.fan_out or bool(getattr(format_request, "fan_out", False))
        self.timeout = service.timeout
        self.end = limits.end_of(node.stage)
        self.before = tuple(other.index for other in node.before)
        self.requires = tuple(other.index for other in node.requires)
        self.then = tuple(other.index for other in node.then)
        self.conditional = bool(node.requires) or node.stage in _CONDITIONAL
        self.window = 1 if service.context == "none" else service.last
        self.only = service.name if service.context == "own" else None
        self.selecting = node.stage is Stage.RESPONSE_SELECTOR
        self._tail = b'","service":%b' % plain.encode(node.name)

    def tail_of(self, turn_id: str) -> bytes:
        """Return what every request of a turn to this service ends with, but for the bracket."""
        return b"".join((b',"turn_id":"', turn_id.encode(), self._tail))


class PreparedPipeline:
    """A pipeline with a guard for each service, read-only but for the guards and the strays.

    `missing` is how many services each step waits for, by index; `roots` the steps that wait for
    none; `before_reply` and `before_candidates` the steps that the reply and the candidate
    annotators wait for, `after_reply` those that wait for the reply.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        connect: Callable[[Service], Connector],
        resolve: Callable[[str], Formatter],
        limits: StageDeadlines,
        fallback: str,
        max_attributes: int,
        breaker_changed: Callable[[str, BreakerState], None],
    ) -> None:
        self.graph: Graph = compile_graph(pipeline)
        self.limits = limits
        self.fallback = fallback
        self.max_attributes = max_attributes
        self.strays = Strays()

        def step(node: PlanNode) -> ServiceStep:
            service = node.service
            return ServiceStep(
                node,
                Guard(service, connect(service), breaker_changed),
                resolve_formatter(service.formatter, "in", resolve),
                reply_formatter(service, resolve),
                limits,
            )

        self.steps = [step(node) for node in self.graph.nodes]
        self.last_chance = step(self.graph.last_chance) if self.graph.last_chance else None
        self._plan_selection()
        self._plan_reply()
        self.missing = [self._missing(one) for one in self.steps]
        self.roots = [one for one in self.steps if self.missing[one.index] == 0]
        declared = [service.name for _, service in pipeline.services()]
        self.order = {name: place for place, name in reversed(list(enumerate(declared)))}

    @property
    def window(self) -> int | None:
        """The number of earlier utterances that a turn needs; None: all.

        The last one is needed in any case: its time is the dialog's `date_finish`.
        """
        windows = [one.service.last for one in self.every()]
        sizes = [size for size in windows if size is not None]
        return None if len(sizes) < len(windows) else max(1, max(sizes) - 1)

    @property
    def hypotheses(self) -> int:
        """Of how many earlier human utterances some formatter wants the hypotheses."""
        asking = [one for one in self.every() if wants_hypotheses(one.format_request)]
        return max((one.service.last or 1 << 30 for one in asking), default=0)

    def every(self) -> list[ServiceStep]:
        """Return every service, the last chance included and at the end."""
        return [*self.steps, *([self.last_chance] if self.last_chance else ())]

    def of(self, stage: Stage) -> list[ServiceStep]:
        """Return the services of a stage, in declared order."""
        return [self.steps[node.index] for node in self.graph.stages[stage]]

    def _plan_selection(self) -> None:
        self.skill_steps = {one.name: one for one in self.of(Stage.SKILL)}
        self.skills = list(self.skill_steps)
        self.selectors = len(self.of(Stage.SKILL_SELECTOR))
        self.candidate_steps = sorted(self.of(Stage.CANDIDATE_ANNOTATOR), key=lambda s: s.index)
        self.before_candidates = frozenset(
            index
            for one in self.candidate_steps
            for index in one.before
            if self.steps[index].stage not in (Stage.SKILL, Stage.CANDIDATE_ANNOTATOR)
        )

    def _plan_reply(self) -> None:
        selectors = self.of(Stage.RESPONSE_SELECTOR)
        self.has_response_selector = bool(selectors)
        before = selectors or [*self.skill_steps.values(), *self.candidate_steps]
        self.before_reply = frozenset(one.index for one in before)
        self.after_reply = [*self.of(Stage.POSTPROCESSOR), *self.of(Stage.RESPONSE_ANNOTATOR)]

    def _missing(self, step: ServiceStep) -> int:
        """Count what a step waits for: candidate annotators wait for waves, which are not here."""
        if step.stage is Stage.CANDIDATE_ANNOTATOR:
            return -1
        return len(step.before) + (step in self.after_reply)
