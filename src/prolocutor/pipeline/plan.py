"""The pipeline as data: which services there are and what waits for what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from prolocutor.bounds import Count, PositiveSeconds, Seconds
from prolocutor.contracts.connector import Connector


class Stage(StrEnum):
    """A stage; its value is its key in YAML and the name by which `after` may call it."""

    ANNOTATOR = "annotators"
    SKILL_SELECTOR = "skill_selector"
    SKILL = "skills"
    CANDIDATE_ANNOTATOR = "candidate_annotators"
    RESPONSE_SELECTOR = "response_selector"
    POSTPROCESSOR = "postprocessors"
    RESPONSE_ANNOTATOR = "response_annotators"
    LAST_CHANCE = "last_chance"
    """Not a stage of the ordinary turn: the first way out when the ordinary one fails."""


ORDER: tuple[Stage, ...] = tuple(stage for stage in Stage if stage is not Stage.LAST_CHANCE)
SINGLE: frozenset[Stage] = frozenset(
    {Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR, Stage.LAST_CHANCE}
)
"""Stages that mostly have one service: YAML gives it without a map of names."""


class Addressed(msgspec.Struct, frozen=True):
    """Where the connector that a service names goes to, and its options."""

    address: str
    options: dict[str, Any] = {}


Target = Callable[..., Any] | str | Addressed | Connector
"""A Python function, its dotted name `module:function`, a URL, or a connector of one's own; what
a connector named by the service needs."""

Formatter = Callable[..., Any]


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """When to leave a failing service alone.

    After `failures` failed calls in a row, within `window` seconds, no call is made for `cooldown`
    seconds; then one call tries whether it is back.
    """

    failures: Count = 5
    window: PositiveSeconds = 30.0
    cooldown: Seconds = 10.0


class Service(msgspec.Struct, frozen=True):
    """A named step of the pipeline: who is asked, with what, after whom, and for how long.

    `after`: names of services or stages to wait for, whatever their outcome; None means the
    previous stage that is not empty, `[]` start at once. `requires`: skip this service unless they
    are done. `timeout`: seconds for one call, retries included. `window`: the number of last
    utterances shown (None: all), never starting with a bot utterance. `formatter` cuts the request
    out of the agent state, `response_formatter` turns the reply into the stage's shape: functions,
    `module:function`, or built-in names. `fan_out`: the formatter gives a list, one call each.
    `wire`: how an HTTP service is spoken to. `batch_size`: most requests in one call. `retries`:
    further attempts after an error. `max_in_flight`: calls running at once. `rerun`: whether it may
    be called again when a turn is run again after a crash. `context`: of the window, show `all`
    turns, the skill's `own` ones (in which it spoke), or `none` but the present one. `inline`: a
    plain function is quick, run it in the event loop itself. `process`: run the function in a child
    process of its own.
    """

    name: str
    target: Target
    after: Sequence[str] | None = None
    requires: Sequence[str] = ()
    timeout: PositiveSeconds = 2.0
    window: Count | Literal["all"] | None = 5
    formatter: Formatter | str | None = None
    response_formatter: Formatter | str | None = None
    wire: Literal["native", "deeppavlov"] = "native"
    batch_size: Annotated[int, Meta(ge=1, le=10_000)] = 1
    retries: Annotated[int, Meta(ge=0, le=1_000)] = 0
    max_in_flight: Annotated[int, Meta(ge=1, le=100_000)] = 64
    rerun: bool = True
    inline: bool = False
    card: dict[str, Any] | None = None
    icon: str | None = None
    fan_out: bool = False
    process: bool = False
    connector: str | None = None
    breaker: Breaker = Breaker()
    context: Literal["own", "all", "none"] = "all"

    @property
    def last(self) -> int | None:
        """The number of last utterances that are shown; None: all."""
        return None if self.window == "all" else self.window


class Pipeline(msgspec.Struct, frozen=True, kw_only=True):
    """Services by stage, in declared order. A single service may stand for a list of one."""

    annotators: Sequence[Service] = ()
    skill_selector: Service | Sequence[Service] | None = None
    skills: Sequence[Service] = ()
    candidate_annotators: Sequence[Service] = ()
    response_selector: Service | Sequence[Service] | None = None
    postprocessors: Sequence[Service] = ()
    response_annotators: Sequence[Service] = ()
    last_chance: Service | None = None

    def of(self, stage: Stage) -> tuple[Service, ...]:
        """Return the services of one stage, in declared order."""
        services = getattr(self, stage.value)
        if services is None:
            return ()
        return (services,) if isinstance(services, Service) else tuple(services)

    def services(self) -> Iterator[tuple[Stage, Service]]:
        """Return every service of the ordinary turn with its stage, in declared order."""
        for stage in ORDER:
            for service in self.of(stage):
                yield stage, service
