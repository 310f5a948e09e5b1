"""The pipeline made ready to run: its steps, and values that turns need again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from prolocutor.contracts.connector import Connector
from prolocutor.dialog.rounds import FOLLOW_UP
from prolocutor.pipeline.calls import Strays
from prolocutor.pipeline.guard import BreakerState, Guard, RunningCell
from prolocutor.pipeline.variants import load_variants
from prolocutor.plan.formatters import (
    Widening,
    is_own,
    reply_formatter,
    request_formatter,
    takes_turn,
    wants_hypotheses,
)
from prolocutor.plan.graph import Graph, PlanNode, compile_graph
from prolocutor.plan.pipeline import (
    Annotator,
    CandidateAnnotator,
    Commit,
    Formatter,
    LastChance,
    Pipeline,
    ResponseSelector,
    SkillSelector,
    Stage,
    StageService,
)

MAX_RESERVE: Final = 1.0

_CONDITIONAL: Final = (Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR)


class StageDeadlines(msgspec.Struct, frozen=True):
    """The end of each stage, in seconds since the turn's start.

    The stages after the skills have a reserve at the end: at `deadline - reserve` running skills
    are cancelled. The last twentieth of the reserve is for storing the reply.
    """

    deadline: float
    reserve: float

    @classmethod
    def divide_deadline(cls, deadline: float, reserve: float | None) -> StageDeadlines:
        """Return deadlines; the default reserve is a quarter of `deadline`, up to `MAX_RESERVE`."""
        return cls(deadline, min(MAX_RESERVE, deadline / 4) if reserve is None else reserve)

    def stage_end(self, stage: Stage) -> float:
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
    """A service in its place in the graph, with its guard, its formatters and its properties.

    `before`, `requires` and `then` are the indices of its neighbours in the graph, `end` is the end
    of its stage in seconds since a turn's start. `conditional`: it may have to be skipped.
    `before_reply` and `before_candidates`: the reply or candidate annotators wait for it.
    `own_formatter`: its request formatter is ours, and does not change the state. `may_wait`: it
    may have to wait although no service is missing. `lingers_for`: the annotators of the previous
    reply for which it lingers. `may_skip`: its formatter may return None, if it has nothing to ask.
    `price`: the price of a call, by its card. `reads_replies`: the replies of its connector are
    checked or formatted first. `formats_by_turn`: its response formatter reads the turn's state.
    `annotates_previous`: its response formatter declares annotations of the previous reply. `off`
    is the reason why it is switched off, None while it is on; a `switch` takes effect the next time
    a turn reaches it.
    """

    __slots__ = (
        "annotates_previous",
        "before",
        "before_candidates",
        "before_confidence",
        "before_reply",
        "conditional",
        "counts",
        "empty_means_all",
        "end",
        "fan_out",
        "format_reply",
        "format_request",
        "formats_by_turn",
        "guard",
        "index",
        "is_last_chance",
        "is_skill_selector",
        "label",
        "lingers_for",
        "may_skip",
        "may_wait",
        "name",
        "off",
        "only",
        "own_formatter",
        "price",
        "reads_preferred",
        "reads_replies",
        "reads_skills",
        "requires",
        "rerun",
        "rewrites",
        "selecting",
        "service",
        "stage",
        "stage_name",
        "then",
        "timeout",
        "together",
        "wants_hypotheses",
        "widens",
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
        self.stage_name = node.stage.value
        self.name = node.name
        self.service = service
        self.guard = guard
        self.format_request = format_request and guard.watch_function(format_request)
        self.format_reply = format_reply and guard.watch_function(format_reply)
        self.formats_by_turn = takes_turn(format_reply)
        self.annotates_previous = getattr(format_reply, "annotates", "") == "previous"
        self.fan_out = service.fan_out or bool(getattr(format_request, "fan_out", False))
        self.own_formatter = is_own(format_request)
        self.wants_hypotheses = wants_hypotheses(format_request)
        self.may_skip = bool(getattr(format_request, "may_skip", False))
        self.widens: Widening | None = getattr(format_request, "widens", None) or None
        self.counts = bool(getattr(format_request, "counts", False))
        self.reads_skills = bool(getattr(format_request, "skills", False))
        price = service.card_members.get("price")
        self.price = float(price) if isinstance(price, int | float) else 0.0
        self.together = isinstance(service, CandidateAnnotator) and service.together
        self.timeout = service.timeout
        self.empty_means_all = isinstance(service, SkillSelector) and service.empty_means_all
        self.rerun = service.rerun
        self.rewrites = service.rewrites
        self.end = limits.stage_end(node.stage)
        self.label = service.label or node.name
        self.before = tuple(other.index for other in node.before)
        self.requires = tuple(other.index for other in node.requires)
        self.then = tuple(other.index for other in node.then)
        self.off: str | None = None
        self.switch(None)
        self.window = 1 if service.context == "none" else service.last
        self.only = service.name if service.context == "own" else None
        self.is_skill_selector = node.stage is Stage.SKILL_SELECTOR
        self.may_wait = node.stage is Stage.SKILL
        self.lingers_for: tuple[int, ...] = ()
        self.is_last_chance = node.stage is Stage.LAST_CHANCE
        self.before_confidence = not isinstance(service, LastChance) or service.before_confidence
        self.before_candidates = False
        self.before_reply = False
        self.selecting = node.stage is Stage.RESPONSE_SELECTOR
        self.reads_preferred = self.selecting
        self.reads_replies = guard.is_foreign or format_reply is not None

    def switch(self, off: str | None) -> None:
        """Switch the service off, for the reason `off`, or on again (None)."""
        self.off = off
        self.conditional = off is not None or bool(self.requires) or self.stage in _CONDITIONAL


class PreparedPipeline:
    """A pipeline with a guard for each service, read-only but for the guards and the strays.

    `everyone` are all steps, `missing` are the numbers of services they wait for, `roots` are the
    indices of the steps ready at the start, `after_reply` the indices of the steps in wait for the
    reply; `before_reply` is the number of services the reply waits for. `lingers`: a service
    lingers. `commit` is the commit of a selector or the pipeline, but `never` if postprocessors
    change the words. `rereader` is the annotator that is asked for `readings` more readings of the
    words, at most, if no skill answers.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        connect: Callable[[StageService], Connector],
        resolve: Callable[[str], Formatter],
        limits: StageDeadlines,
        fallback: str,
        max_attributes: int,
        breaker_changed: Callable[[str, BreakerState], None],
    ) -> None:
        self.graph: Graph = compile_graph(pipeline)
        self.user_snapshot = pipeline.user_snapshot
        self.commit = commit_time(pipeline)
        self.may_be_silent = not pipeline.own_words
        self.limits = limits
        self.fallback = fallback
        self.max_attributes = max_attributes
        self.strays = Strays()
        self.running = RunningCell()

        def step(node: PlanNode) -> ServiceStep:
            service = node.service
            guard = Guard(service, connect(service), breaker_changed, self.running)
            before = request_formatter(service, resolve)
            after = reply_formatter(service, resolve)
            return ServiceStep(node, guard, before, after, limits)

        self.steps = [step(node) for node in self.graph.nodes]
        self.last_chance = step(self.graph.last_chance) if self.graph.last_chance else None
        for one in self.steps:  # what waits for a later stage has as long as that
            one.end = max([one.end, *(self.steps[index].end for index in one.before)])
        self._plan_lingering()
        self._plan_selection(pipeline)
        self._plan_reply()
        self.variants = load_variants(pipeline, self)
        self.everyone = self.every()
        self.missing = [self._missing(one) for one in self.everyone]
        self.roots = [
            one.index
            for one, missing in zip(self.everyone, self.missing, strict=True)
            if missing == 0
        ]
        services = list(pipeline.services())
        self.skills_of_label: dict[str, list[str]] = {}
        for stage, skill in services:
            if stage is Stage.SKILL and skill.label is not None:
                self.skills_of_label.setdefault(skill.label, []).append(skill.name)
        self.declared = [f"{stage}.{one.label or one.name}" for stage, one in services]
        labels = [one.label or one.name for _, one in services]
        self.order = {name: place for place, name in reversed(list(enumerate(labels)))}

    @property
    def window(self) -> int | None:
        """The number of earlier utterances a turn needs; None: all.

        The last utterance is needed in any case: its time is the dialog's `date_finish`.
        """
        windows = [step.service.last for step in self.every()]
        sizes = [size for size in windows if size is not None]
        return None if len(sizes) < len(windows) else max(1, max(sizes) - 1)

    @property
    def hypotheses(self) -> int:
        """The number of earlier human utterances whose hypotheses a formatter reads."""
        asking = [step for step in self.every() if step.wants_hypotheses]
        return max((one.service.last or 1 << 30 for one in asking), default=0)

    @property
    def has_response_selector(self) -> bool:
        """Whether a response selector is switched on."""
        return any(selector.off is None for selector in self.response_selectors)

    @property
    def markdown(self) -> frozenset[str]:
        """The skills, and the last chance, whose texts are written in Markdown."""
        spoken = [*self.skill_steps.values(), *([self.last_chance] if self.last_chance else ())]
        return frozenset(
            one.name
            for one in spoken
            if (getattr(one.service, "format", None) or one.guard.format) == "markdown"
        )

    @property
    def reads_skills(self) -> bool:
        """Whether a formatter reads the skills that spoke in the whole dialog."""
        return any(step.reads_skills for step in self.every())

    def every(self) -> list[ServiceStep]:
        """Return every service, with the last chance at the end."""
        return [*self.steps, *([self.last_chance] if self.last_chance else ())]

    def stage_services(self, stage: Stage) -> list[ServiceStep]:
        """Return the services of a stage, in declared order."""
        return [self.steps[node.index] for node in self.graph.stages[stage]]

    def _plan_lingering(self) -> None:
        """Find the annotators of the previous reply for which services linger.

        A service lingers for all of them but its predecessors and its successors among the
        annotators.
        """
        before: list[set[int]] = []  # the steps are in an order in which each comes after these
        for step in self.steps:
            before.append(set(step.before).union(*(before[index] for index in step.before)))
        writers = [step.index for step in self.steps if step.annotates_previous]
        for one in (step for step in self.steps if step.service.lingers):
            one.lingers_for = tuple(
                at for at in writers if at not in before[one.index] and one.index not in before[at]
            )
            one.may_wait = one.may_wait or bool(one.lingers_for)
        self.lingers = any(step.lingers_for for step in self.steps)

    def _plan_selection(self, pipeline: Pipeline) -> None:
        self.skill_steps = {service.name: service for service in self.stage_services(Stage.SKILL)}
        self.skills = list(self.skill_steps)
        self.always = [
            service.name for service in pipeline.services_at(Stage.SKILL) if service.always
        ]
        self.selectors = len(self.stage_services(Stage.SKILL_SELECTOR))
        self.candidate_steps = sorted(
            self.stage_services(Stage.CANDIDATE_ANNOTATOR), key=lambda s: s.index
        )
        self.skill_indices = [step.index for step in self.skill_steps.values()]
        readers = [one for one in self.stage_services(Stage.ANNOTATOR) if one.label == FOLLOW_UP]
        reads_again = readers and any(one.rewrites for one in self.skill_steps.values())
        self.rereader = readers[0] if reads_again else None
        reader = self.rereader and self.rereader.service
        self.readings = reader.readings if isinstance(reader, Annotator) else 0
        self.candidate_indices = [step.index for step in self.candidate_steps]
        for step in self.candidate_steps:
            for other in (self.steps[index] for index in step.before):
                if other.stage not in (Stage.SKILL, Stage.CANDIDATE_ANNOTATOR):
                    other.before_candidates = True

    def _plan_reply(self) -> None:
        selectors = self.response_selectors = self.stage_services(Stage.RESPONSE_SELECTOR)
        before = selectors or [*self.skill_steps.values(), *self.candidate_steps]
        self.before_reply = len(before)
        for one in before:
            one.before_reply = True
        after = [
            *self.stage_services(Stage.POSTPROCESSOR),
            *self.stage_services(Stage.RESPONSE_ANNOTATOR),
        ]
        self.after_reply = [one.index for one in after]

    def _missing(self, step: ServiceStep) -> int:
        """Return the number of services a step waits for.

        It is -1 for candidate annotators, which wait for waves, and for the last chance.
        """
        if step.stage in (Stage.CANDIDATE_ANNOTATOR, Stage.LAST_CHANCE):
            return -1
        return len(step.before) + (step.index in self.after_reply)


def commit_time(pipeline: Pipeline) -> Commit:
    """Return when words may be shown: `commit` of a selector, else of the pipeline."""
    if pipeline.services_at(Stage.POSTPROCESSOR):
        return "never"
    selectors = [
        *pipeline.services_at(Stage.RESPONSE_SELECTOR),
        *pipeline.services_at(Stage.SKILL_SELECTOR),
    ]
    times = (
        selector.commit
        for selector in selectors
        if isinstance(selector, ResponseSelector | SkillSelector)
    )
    return next((commit for commit in times if commit is not None), pipeline.commit)
