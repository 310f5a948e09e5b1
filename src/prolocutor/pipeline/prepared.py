"""The pipeline made ready to run: its steps, and what a turn would else work out each time."""

from __future__ import annotations

from collections.abc import Callable

from prolocutor.contracts.connector import Connector
from prolocutor.pipeline.calls import Strays
from prolocutor.pipeline.formatters import reply_formatter, resolve_formatter, wants_hypotheses
from prolocutor.pipeline.graph import Graph, Node, compile_graph
from prolocutor.pipeline.guard import BreakerState, Guard
from prolocutor.pipeline.interpreting import INTERPRETERS
from prolocutor.pipeline.plan import Formatter, Pipeline, Service
from prolocutor.pipeline.skills import CandidateCalls
from prolocutor.pipeline.stages import Stage
from prolocutor.pipeline.step import Limits, Step


class Prepared:
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
        limits: Limits,
        fallback: str,
        max_attributes: int,
        breaker_changed: Callable[[str, BreakerState], None],
    ) -> None:
        self.graph: Graph = compile_graph(pipeline)
        self.limits = limits
        self.fallback = fallback
        self.max_attributes = max_attributes
        self.strays = Strays()

        def step(node: Node) -> Step:
            service = node.service
            return Step(
                node,
                Guard(service, connect(service), breaker_changed),
                resolve_formatter(service.formatter, "in", resolve),
                reply_formatter(service, resolve),
                limits,
            )

        self.steps = [step(node) for node in self.graph.nodes]
        self.last_chance = step(self.graph.last_chance) if self.graph.last_chance else None
        self.interpreters = [INTERPRETERS[one.stage] for one in self.every()]
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

    def every(self) -> list[Step]:
        """Return every service, the last chance included and at the end."""
        return [*self.steps, *([self.last_chance] if self.last_chance else ())]

    def of(self, stage: Stage) -> list[Step]:
        """Return the services of a stage, in declared order."""
        return [self.steps[node.index] for node in self.graph.stages[stage]]

    def _plan_selection(self) -> None:
        self.skill_steps = {one.name: one for one in self.of(Stage.SKILL)}
        self.skills = list(self.skill_steps)
        self.selectors = len(self.of(Stage.SKILL_SELECTOR))
        self.candidate_steps = sorted(self.of(Stage.CANDIDATE_ANNOTATOR), key=lambda s: s.index)
        self.candidate_calls = CandidateCalls(self.steps, self.candidate_steps)
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

    def _missing(self, step: Step) -> int:
        """Count what a step waits for: candidate annotators wait for waves, which are not here."""
        if step.stage is Stage.CANDIDATE_ANNOTATOR:
            return -1
        return len(step.before) + (step in self.after_reply)
