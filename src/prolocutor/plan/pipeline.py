"""The pipeline as data: which services there are and what waits for what."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Final, Literal, TypedDict, TypeVar, Unpack, overload

import msgspec
from msgspec import Meta

from prolocutor.bounds import Count, PositiveSeconds, Seconds
from prolocutor.contracts.connector import Connector
from prolocutor.contracts.pairing import Card
from prolocutor.dialog.plain import JsonObject
from prolocutor.dialog.utterances import Hypothesis
from prolocutor.errors import ConfigError


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
    options: JsonObject = {}


class PendingTarget(msgspec.Struct, frozen=True):
    """A target of a file that is known when the assistant is built, which puts it in its place."""


Target = Callable[..., Any] | str | Addressed | Connector | PendingTarget
"""A Python function, its dotted name `module:function`, a URL, or a connector of one's own; what
a connector named by the service needs."""

Commit = Literal["first_good", "only", "never"]
"""When a skill's words may be shown before the turn is over."""

TextFormat = Literal["plain", "markdown"]

Function = Callable[..., Any]
Formatter = Callable[..., Any]
SkillReply = Hypothesis | JsonObject | Sequence[Hypothesis | JsonObject]
"""What a skill may return: one hypothesis or several, typed or as plain data."""

F = TypeVar("F", bound=Function)
SpokenReply = AsyncIterator[str | SkillReply] | Iterator[str | SkillReply]
"""What a skill may yield that streams: the words of its reply, and the reply itself."""

S = TypeVar("S", bound=Callable[..., SkillReply | Awaitable[SkillReply] | SpokenReply])


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
    plain function is quick, run it in the event loop itself. `together`: a candidate annotator is
    asked once a wave, with all its hypotheses in `request["hypotheses"]`, and gives a list.
    `process`: run the function in a child process of its own.

    `formatter_options`: further arguments of the formatter, by name. `label`: the name of the
    annotation that it writes, and by which selectors name it (None: its own name). `writes`: what
    becomes of an annotator's reply: an `annotation` of what the person said, an annotation of the
    `previous_reply`, changed `attributes` (`{"human_attributes", "bot_attributes"}`, which later
    services of the turn see), or `nothing`. `selects`: the reply of this annotator or skill
    selector names, by label, those that are asked of the services whose own `after` names it; null
    or an empty list leaves nobody out. `always`: a skill that is asked whatever the skill
    selectors say. `first_turn_attributes`: once this annotator is through in the first turn of a
    dialog, the person has these attributes only; the value is the one for those who had none.
    `mismatch`: a `together` reply with another number of items `fails`, or is `empty` for each;
    `empty` with `fan_out`: each call's reply is about all hypotheses, and the last one counts. With
    `empty` no reply counts that comes after the turn's own.
    `carries`: of the chosen hypothesis `all` that it brings goes with the reply (attributes,
    annotations, messages), or `nothing`, only what the response selector says itself.
    `before_confidence`: the last chance is asked before the most confident hypothesis is taken;
    else only where there is none. `instead`: a URL or `module:function` that is asked in place of a
    `nats://` target where NATS or all workers are away, or a request is too large for NATS.
    `worker`: what `prolocutor worker` runs for a `nats://` target. `commit`: of a skill or response
    selector, in place of the pipeline's. `rewrites`: where the annotation `follow_up` says what the
    words of this turn mean, the requests are made with that as the `text` and the words as the
    `orig_text` of the last utterance. `format`: how a skill's texts are written, `plain` or in
    `markdown` (None: as its connector says, which is `markdown` for models). `lingers`: seconds
    that a service that could start gives annotators of the previous reply to settle, so that it is
    shown what they say.
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
    together: bool = False
    card: Card | JsonObject | None = None
    icon: str | None = None
    fan_out: bool = False
    process: bool = False
    connector: str | None = None
    breaker: Breaker = Breaker()
    context: Literal["own", "all", "none"] = "all"
    formatter_options: JsonObject | None = None
    label: str | None = None
    writes: Literal["annotation", "previous_reply", "attributes", "nothing"] = "annotation"
    selects: bool = False
    always: bool = False
    first_turn_attributes: JsonObject | None = None
    mismatch: Literal["fails", "empty"] = "fails"
    carries: Literal["all", "nothing"] = "all"
    before_confidence: bool = True
    instead: str | None = None
    worker: str | None = None
    commit: Commit | None = None
    rewrites: bool = False
    format: TextFormat | None = None
    lingers: Seconds = 0.0

    @property
    def card_members(self) -> JsonObject:
        """What the card says, by key; empty without a card."""
        return self.card.members if isinstance(self.card, Card) else self.card or {}

    @property
    def last(self) -> int | None:
        """The number of last utterances that are shown; None: all."""
        return None if self.window == "all" else self.window


class Pipeline(msgspec.Struct, frozen=True, kw_only=True):
    """Services by stage, in declared order. A single one may stand for a list of one.

    A function stands for a service of its name, with the settings of its `@service` if it has one.
    `commit`: when a skill's words may be shown before the turn is over: when it is the `only` one
    that can still speak; when it is the `first_good` one, though another may yet win; or `never`.
    `user_snapshot`: a human utterance's `user` is the person's profile `before` the turn changed
    it, or `after`; `current` shows in all utterances, of human and bot, the profile as it is
    now (but for the persona, and attributes where there were none). `own_words`: where nothing is
    asked, a bare yes, no, stop or help that no skill is sure of is answered by the assistant, and a
    skill that can go on is asked and preferred; else the pipeline alone decides.
    """

    annotators: Sequence[Service | Function] = ()
    skill_selector: Service | Function | Sequence[Service | Function] | None = None
    skills: Sequence[Service | Function] = ()
    candidate_annotators: Sequence[Service | Function] = ()
    response_selector: Service | Function | Sequence[Service | Function] | None = None
    postprocessors: Sequence[Service | Function] = ()
    response_annotators: Sequence[Service | Function] = ()
    last_chance: Service | Function | None = None
    commit: Commit = "only"
    user_snapshot: Literal["before", "after", "current"] = "after"
    own_words: bool = True

    def of(self, stage: Stage) -> tuple[Service, ...]:
        """Return the services of one stage, in declared order."""
        given = getattr(self, stage.value)
        if given is None:
            return ()
        several = isinstance(given, Sequence)
        return tuple(_service_of(each, stage) for each in (given if several else (given,)))

    def services(self) -> Iterator[tuple[Stage, Service]]:
        """Return every service of the ordinary turn with its stage, in declared order."""
        for stage in ORDER:
            for service in self.of(stage):
                yield stage, service


def _service_of(given: Service | Function, stage: Stage) -> Service:
    """Return the service that a function stands for; `ConfigError` for what stands for none."""
    if isinstance(given, Service):
        return given
    declared = getattr(given, _DECLARED, None)
    if isinstance(declared, Service):
        # not its own target: a bound method and a wrapper have the settings of what they wrap
        return msgspec.structs.replace(declared, target=given)
    name = _name_of(given)
    if not name:
        kind = type(given).__name__
        raise ConfigError(f"expected a Service or a function with a name, found {kind}", key=stage)
    return Service(name, given)


class ServiceOptions(TypedDict, total=False):
    """The settings of a `Service` beside its target."""

    name: str
    after: Sequence[str] | None
    requires: Sequence[str]
    timeout: float
    window: int | Literal["all"] | None
    formatter: Formatter | str | None
    response_formatter: Formatter | str | None
    batch_size: int
    retries: int
    max_in_flight: int
    rerun: bool
    inline: bool
    together: bool
    card: Card | JsonObject | None
    icon: str | None
    fan_out: bool
    breaker: Breaker
    context: Literal["own", "all", "none"]
    formatter_options: JsonObject | None
    label: str | None
    writes: Literal["annotation", "previous_reply", "attributes", "nothing"]
    selects: bool
    always: bool
    first_turn_attributes: JsonObject | None
    mismatch: Literal["fails", "empty"]
    carries: Literal["all", "nothing"]
    before_confidence: bool
    commit: Commit | None
    rewrites: bool
    format: TextFormat | None
    lingers: float


@overload
def service(function: F, /) -> F: ...
@overload
def service(**options: Unpack[ServiceOptions]) -> Callable[[F], F]: ...
def service(
    function: Callable[..., Any] | None = None, /, **options: Unpack[ServiceOptions]
) -> Callable[..., Any]:
    """Attach to a function the settings that it has as a service, whatever its stage.

    The function stays as it is. Its name is that of the service unless `name` is given. A file
    that calls it by its dotted name says its settings itself. Without settings the parentheses
    may be left out. `ConfigError` for what has no name or takes no settings.
    """

    declare = partial(_declare, options)
    return declare if function is None else declare(function)


@overload
def skill(function: S, /) -> S: ...
@overload
def skill(**options: Unpack[ServiceOptions]) -> Callable[[S], S]: ...
def skill(
    function: Callable[..., Any] | None = None, /, **options: Unpack[ServiceOptions]
) -> Callable[..., Any]:
    """Attach to a function the settings that it has as a skill, as `service` does.

        @skill(name="parrot", timeout=1.0)
        async def parrot(turn: TurnRequest) -> Hypothesis:
            return Hypothesis(turn.text, 0.5)

    The type checker refuses a function that no skill can be.
    """
    declare = partial(_declare, options)
    return declare if function is None else declare(function)


def _declare(options: ServiceOptions, function: F) -> F:
    if "target" in options:
        raise ConfigError("the function is the target: give no other one", key="target")
    declared = msgspec.structs.replace(Service(_name_of(function), function), **options)
    kind = type(function).__name__
    if not declared.name:
        raise ConfigError(f"a {kind} without a name: give it one, as name=...")
    try:
        setattr(function, _DECLARED, declared)
    except AttributeError:
        raise ConfigError(f"a {kind} takes no settings: make a Service of it") from None
    return function


def _name_of(function: Function) -> str:
    """Return the name that a function has; empty for a lambda and for an object without one."""
    name = getattr(function, "__name__", "")
    return name if isinstance(name, str) and name.isidentifier() else ""


_DECLARED: Final = "__prolocutor_service__"
