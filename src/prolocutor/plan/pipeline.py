"""The pipeline as data: which services there are at its stages, and what each is told."""

from __future__ import annotations

import re
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    Final,
    Generic,
    Literal,
    ParamSpec,
    Self,
    TypeVar,
    overload,
)

import msgspec
from msgspec import Meta

from prolocutor.bounds import Count, PositiveSeconds, Seconds, about
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

SERVICE_NAME: Final = r"\w[\w .:@+-]{0,98}\w|\w"
"""What names a service: it goes into headers, metrics and the ids of hypotheses."""

NAME_RULE: Final = "a name of up to 100 letters, digits, spaces within and . _ - : + @"


class PendingTarget(msgspec.Struct, frozen=True):
    """A target of a file that is known when the assistant is built, which puts it in its place."""


class Call(msgspec.Struct, frozen=True):
    """How a service is called: what its connector goes to, which that is, and its options.

    Without a `connector` the form of the target says which. Of the options the assistant knows
    nothing: they are the connector's.
    """

    target: Callable[..., Any] | str | Connector | PendingTarget
    connector: str | None = None
    options: JsonObject = {}


Target = Callable[..., Any] | str | Call | Connector | PendingTarget
"""A Python function, its dotted name `module:function`, a URL, a connector of one's own, or a
`Call` that says more."""

Commit = Literal["first_good", "only", "never"]
"""When a skill's words may be shown before the turn is over."""

TextFormat = Literal["plain", "markdown"]

Function = Callable[..., Any]
Formatter = Callable[..., Any]
SkillReply = Hypothesis | JsonObject | Sequence[Hypothesis | JsonObject]
"""What a skill may return: one hypothesis or several, typed or as plain data."""

SpokenReply = AsyncIterator[str | SkillReply] | Iterator[str | SkillReply]
"""What a skill may yield that streams: the words of its reply, and the reply itself."""


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """When to leave a failing service alone."""

    failures: Annotated[Count, about("Failed calls in a row that open it.", unit="failures")] = 5
    window: Annotated[PositiveSeconds, about("Seconds they may lie apart.")] = 30.0
    cooldown: Annotated[
        Seconds, about("Seconds without any call; then one tries whether it is back.")
    ] = 10.0


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    name: Annotated[str, about("Its name; by default the target's.")] = ""


class _Called(_Named, frozen=True):
    target: Target


class StageService(_Called, frozen=True, kw_only=True):
    """A service at some stage: what is called, with what, after whom, and for how long."""

    after: Annotated[
        Sequence[str] | None,
        about(
            "Services or stages to wait for, whatever becomes of them: by default the"
            " previous stage that is not empty; an empty list starts at once.",
            single=True,
            item="the name of a service or stage",
        ),
    ] = None
    requires: Annotated[
        Sequence[str],
        about(
            "Wait for these too, and skip this service unless they are done.",
            single=True,
            item="the name of a service or stage",
        ),
    ] = ()
    timeout: Annotated[PositiveSeconds, about("Seconds for one call, retries included.")] = 2.0
    window: Annotated[
        Count | Literal["all"] | None,
        about("How many of the last utterances it is shown, or all.", unit="utterances"),
    ] = 5
    context: Annotated[
        Literal["own", "all", "none"],
        about(
            "Of its window, the turns in which it spoke itself, all turns, or the"
            " present one alone."
        ),
    ] = "all"
    formatter: Annotated[
        Formatter | str | None,
        about(
            "Cuts the request out of the agent state: a function, module:function, or"
            " a built-in name.",
            what="a formatter's name or module:function",
        ),
    ] = None
    formatter_options: Annotated[
        JsonObject | None,
        about("Further arguments of the formatter, by name.", what="a map of arguments"),
    ] = None
    response_formatter: Annotated[
        Formatter | str | None,
        about(
            "Brings the reply into the stage's shape; it may return Effects.",
            what="a formatter's name or module:function",
        ),
    ] = None
    fan_out: Annotated[bool, about("The formatter gives a list: one call for each item.")] = False
    rewrites: Annotated[
        bool,
        about("Of a follow-up it is shown the whole question as text, the words as orig_text."),
    ] = False
    lingers: Annotated[
        Seconds,
        about(
            "Seconds that it waits, where it could start, for annotators of the reply"
            " before, so that it is shown what they say."
        ),
    ] = 0.0
    batch_size: Annotated[
        int,
        Meta(ge=1, le=10_000),
        about("Most requests in one call; above 1 it takes lists.", unit="requests"),
    ] = 1
    retries: Annotated[
        int,
        Meta(ge=0, le=1_000),
        about("Further attempts after an error, with growing pauses.", unit="attempts"),
    ] = 0
    max_in_flight: Annotated[
        int,
        Meta(ge=1, le=100_000),
        about("Calls running at once; as many more may wait.", unit="calls"),
    ] = 64
    rerun: Annotated[
        bool,
        about("Whether it may be called again when a turn is run again after a crash."),
    ] = True
    breaker: Annotated[Breaker, about("When to leave it alone.")] = Breaker()
    label: Annotated[
        str | None,
        about("The name of what it writes, and by which selectors name it; by default its own."),
    ] = None
    card: Annotated[
        Card | JsonObject | None,
        about("What it can do and what a call costs, for selectors and for people.", json=True),
    ] = None

    def __post_init__(self) -> None:
        if self.window == "all":
            msgspec.structs.force_setattr(self, "window", None)
        if not self.name:
            msgspec.structs.force_setattr(self, "name", name_of(self.target))

    @property
    def call(self) -> Call:
        """How it is called."""
        return self.target if isinstance(self.target, Call) else Call(self.target)

    @property
    def card_members(self) -> JsonObject:
        """What the card says, by key; empty without a card."""
        return self.card.members if isinstance(self.card, Card) else self.card or {}

    @property
    def last(self) -> int | None:
        """The number of last utterances that are shown; None: all."""
        return None if self.window == "all" else self.window

    def calling(self, target: Target) -> Self:
        """Return the same with another target, which is called in the same way."""
        if isinstance(self.target, Call) and not isinstance(target, Call):
            target = msgspec.structs.replace(self.target, target=target)
        return msgspec.structs.replace(self, target=target)


class Annotator(StageService, frozen=True, kw_only=True):
    """What says something about the human's words before the skills are asked."""

    writes: Annotated[
        Literal["annotation", "previous_reply", "attributes", "nothing"],
        about(
            "What becomes of its reply: a note on what the person said, a note on the"
            " reply before, changed attributes, or nothing."
        ),
    ] = "annotation"
    selects: Annotated[
        bool,
        about("Its reply names, by label, whom to ask of those whose after names it."),
    ] = False
    first_turn_attributes: Annotated[
        JsonObject | None,
        about(
            "Once it is through in a dialog's first turn, the person has these"
            " attributes only; the values are for those who had none."
        ),
    ] = None


class SkillSelector(StageService, frozen=True, kw_only=True):
    """What says which skills are asked."""

    empty: Annotated[Literal["nobody", "all"], about("Whom an empty list of names means.")] = (
        "nobody"
    )
    selects: Annotated[
        bool,
        about("Its reply names, by label, whom to ask of those whose after names it."),
    ] = False
    commit: Annotated[
        Commit | None,
        about("When words are shown as they come; by default as the pipeline says."),
    ] = None


class Skill(StageService, frozen=True, kw_only=True):
    """A way to an agent, which answers with hypotheses."""

    always: Annotated[bool, about("It is asked whatever the skill selectors say.")] = False
    icon: Annotated[str | None, about("Its picture: a file or a URL.")] = None
    format: Annotated[
        TextFormat | None,
        about("How its texts are written; by default as its connector says."),
    ] = None


class CandidateAnnotator(StageService, frozen=True, kw_only=True):
    """What says something about each hypothesis."""

    together: Annotated[
        bool,
        about("It is asked once a wave about all its hypotheses, and gives a list."),
    ] = False
    mismatch: Annotated[
        Literal["fails", "empty"],
        about(
            "A reply with another number of items fails, or is empty for each; empty"
            " with fan_out says that each reply is about all hypotheses."
        ),
    ] = "fails"


class ResponseSelector(StageService, frozen=True, kw_only=True):
    """What chooses the reply among the hypotheses, or composes it of them."""

    carries: Annotated[
        Literal["all", "nothing"],
        about(
            "With the reply go the chosen hypothesis' attributes, annotations and"
            " messages, or only what the response selector says itself."
        ),
    ] = "all"
    commit: Annotated[
        Commit | None,
        about("When words are shown as they come; by default as the pipeline says."),
    ] = None


class Postprocessor(StageService, frozen=True, kw_only=True):
    """What changes the text of the reply."""


class ResponseAnnotator(StageService, frozen=True, kw_only=True):
    """What says something about the reply before it is stored."""


class LastChance(StageService, frozen=True, kw_only=True):
    """What speaks where the ordinary way came to nothing."""

    before_confidence: Annotated[
        bool,
        about(
            "It is asked before the most confident hypothesis is taken, not only where"
            " there is none."
        ),
    ] = True
    icon: Annotated[str | None, about("Its picture: a file or a URL.")] = None
    format: Annotated[
        TextFormat | None,
        about("How its texts are written; by default as its connector says."),
    ] = None


STAGE_TYPES: Final[dict[Stage, type[StageService]]] = {
    Stage.ANNOTATOR: Annotator,
    Stage.SKILL_SELECTOR: SkillSelector,
    Stage.SKILL: Skill,
    Stage.CANDIDATE_ANNOTATOR: CandidateAnnotator,
    Stage.RESPONSE_SELECTOR: ResponseSelector,
    Stage.POSTPROCESSOR: Postprocessor,
    Stage.RESPONSE_ANNOTATOR: ResponseAnnotator,
    Stage.LAST_CHANCE: LastChance,
}


class CallOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a service's target is called, as `Service` and files say it beside the target."""

    connector: Annotated[
        str | None, about("The way to it; by default as the form of the target says.")
    ] = None
    wire: Annotated[Literal["native", "deeppavlov"], about("How an HTTP service is spoken to.")] = (
        "native"
    )
    inline: Annotated[
        bool,
        about("A plain function is quick: call it in the event loop, not in a thread."),
    ] = False
    process: Annotated[
        bool,
        about("Run the function in a child process, which is killed at its time-out."),
    ] = False
    instead: Annotated[
        str | None,
        about(
            "A URL or module:function that is asked in place of a nats:// target where"
            " NATS or all workers are away, or a request is too large for NATS."
        ),
    ] = None
    worker: Annotated[
        str | None,
        about("What prolocutor worker runs for a nats:// target."),
    ] = None


if TYPE_CHECKING:

    class _AnyService(
        Annotator,
        SkillSelector,
        Skill,
        CandidateAnnotator,
        ResponseSelector,
        Postprocessor,
        ResponseAnnotator,
        LastChance,
        CallOptions,
        frozen=True,
        kw_only=True,
    ): ...

    class Service(_AnyService, frozen=True):
        """A service whose place in a pipeline says its stage; it may have the options of all."""

        name: str
        target: Target

else:
    # One Struct cannot inherit from several, so the checker sees this and the interpreter makes it.
    class _NamedTarget(msgspec.Struct, frozen=True):
        name: str
        target: Target

        card_members = StageService.card_members
        last = StageService.last

        @property
        def call(self) -> Call:
            """How it is called."""
            options = CallOptions(**{key: getattr(self, key) for key in _CALLING})
            target = call_of(self.target, options)
            return target if isinstance(target, Call) else Call(target)

    Service = msgspec.defstruct(
        "Service",
        list(
            {
                field.name: (field.name, field.type, field.default)
                for kind in (*STAGE_TYPES.values(), CallOptions)
                for field in msgspec.structs.fields(kind)
                if field.name not in _NamedTarget.__struct_fields__
            }.values()
        ),
        bases=(_NamedTarget,),
        module=__name__,
        frozen=True,
        kw_only=True,
    )
    Service.__doc__ = "A service whose place in a pipeline says its stage; it may have all options."


def _at(service: Service, stage: Stage) -> StageService:
    """Return the service of a stage's type that a `Service` is there."""
    kind = STAGE_TYPES[stage]
    said = {
        field.name: value
        for field in msgspec.structs.fields(Service)
        if field.default is not msgspec.NODEFAULT
        and (value := getattr(service, field.name)) != field.default
    }
    if stage is Stage.SKILL_SELECTOR and said.get("wire") == "deeppavlov":
        said.setdefault("empty", "all")
    said = {key: value for key, value in said.items() if key not in _CALLING}
    for key in said.keys() - {*kind.__struct_fields__}:
        stages = [str(one) for one, other in STAGE_TYPES.items() if key in other.__struct_fields__]
        what = f"only for {' and '.join(stages)}"
        if key not in _HARMLESS:
            raise ConfigError(what, key=f"{stage}.{service.name}.{key}")
        warnings.warn(f"{stage}.{service.name}.{key}: {what}", DeprecationWarning, stacklevel=5)
        del said[key]
    call = service.call
    bare = call.connector is None and not call.options
    return kind(call.target if bare else call, name=service.name, **said)


_CALLING: Final = CallOptions.__struct_fields__
_HARMLESS: Final = ("icon", "format", "commit")
"""Options that services of other stages could have, too, where they changed nothing."""


def call_of(target: Target, options: CallOptions) -> Target:
    """Return a target with how it is called: itself where nothing else is said."""
    said = {key: getattr(options, key) for key in _CALLING}
    usual = CallOptions()
    given = {key: value for key, value in said.items() if value != getattr(usual, key)}
    connector = given.pop("connector", None)
    if given.pop("process", False) and connector is None:
        connector = "process"
    if connector not in (None, "nats"):  # these are for what the form of a target says
        given = {}
    if isinstance(target, Call):
        connector, given = connector or target.connector, {**given, **target.options}
        target = target.target
    return Call(target, connector, given) if connector is not None or given else target


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

    Raise `ConfigError` with the key for a service that cannot stand at its stage, two of a stage
    that have one name, and no skill at all.
    """

    annotators: Sequence[Annotator | Service | Function] = ()
    skill_selector: (
        SkillSelector | Service | Function | Sequence[SkillSelector | Service | Function] | None
    ) = None
    skills: Sequence[Skill | Service | Function] = ()
    candidate_annotators: Sequence[CandidateAnnotator | Service | Function] = ()
    response_selector: (
        ResponseSelector
        | Service
        | Function
        | Sequence[ResponseSelector | Service | Function]
        | None
    ) = None
    postprocessors: Sequence[Postprocessor | Service | Function] = ()
    response_annotators: Sequence[ResponseAnnotator | Service | Function] = ()
    last_chance: LastChance | Service | Function | None = None
    commit: Commit = "only"
    user_snapshot: Literal["before", "after", "current"] = "after"
    own_words: bool = True

    def __post_init__(self) -> None:
        """Give every service the type of its stage."""
        for stage in Stage:
            given = getattr(self, stage.value)
            if given is None:
                continue
            if isinstance(given, Sequence):
                placed: Any = tuple(_placed(one, stage) for one in given)
                _refuse_doubles(placed, stage)
            else:
                placed = _placed(given, stage)
                _refuse_doubles((placed,), stage)
            msgspec.structs.force_setattr(self, stage.value, placed)
        if not self.skills:
            raise ConfigError("a pipeline needs at least one skill", key=str(Stage.SKILL))

    @overload
    def of(self, stage: Literal[Stage.SKILL]) -> tuple[Skill, ...]: ...
    @overload
    def of(self, stage: Stage) -> tuple[StageService, ...]: ...
    def of(self, stage: Stage) -> tuple[StageService, ...]:
        """Return the services of one stage, in declared order."""
        placed: Any = getattr(self, stage.value)
        if placed is None:
            return ()
        return placed if isinstance(placed, tuple) else (placed,)

    def services(self) -> Iterator[tuple[Stage, StageService]]:
        """Return every service of the ordinary turn with its stage, in declared order."""
        for stage in ORDER:
            for service in self.of(stage):
                yield stage, service


def _placed(given: Any, stage: Stage) -> StageService:
    """Return the service of the stage's type that something stands for.

    Raise `ConfigError` for what stands for none.
    """
    if isinstance(given, STAGE_TYPES[stage]):
        return given
    if isinstance(given, Service):
        return _at(given, stage)
    if isinstance(given, StageService):
        what = f"{type(given).__name__} has no place here"
        raise ConfigError(what, key=f"{stage}.{given.name}")
    declared = getattr(given, _DECLARED, None)
    if isinstance(declared, Service):
        # not its own target: a bound method and a wrapper have the settings of what they wrap
        return _at(msgspec.structs.replace(declared, target=given), stage)
    name = name_of(given)
    if not name or isinstance(given, str):
        kind = type(given).__name__
        raise ConfigError(f"expected a Service or a function with a name, found {kind}", key=stage)
    return STAGE_TYPES[stage](given, name=name)


def _refuse_doubles(services: Sequence[StageService], stage: Stage) -> None:
    seen: set[str] = set()
    for one in services:
        path = f"{stage}.{one.name}"
        if one.name in seen:
            raise ConfigError(f"two services are called '{one.name}'", key=path)
        if not one.name:
            raise ConfigError("a service needs a name", key=str(stage))
        if not re.fullmatch(SERVICE_NAME, str(one.name)):
            raise ConfigError(f"expected {NAME_RULE}, found {one.name!r:.150}", key=path)
        seen.add(one.name)


Options = ParamSpec("Options")
F = TypeVar("F", bound=Function)
S = TypeVar("S", bound=Callable[..., SkillReply | Awaitable[SkillReply] | SpokenReply])


class ServiceDecorator(Generic[Options]):
    """Attaches to a function the settings that it has as a service, whatever its stage.

    The function stays as it is. Its name is that of the service unless `name` is given. A file
    that calls it by its dotted name says its settings itself. Without settings the parentheses
    may be left out. `ConfigError` for what has no name or takes no settings.
    """

    def __init__(self, settings: Callable[Concatenate[Any, Options], object]) -> None:
        """`settings` is what the type checker takes the options from."""

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, *args: Options.args, **options: Options.kwargs) -> Callable[[F], F]: ...
    def __call__(self, *functions: Any, **options: Any) -> Any:
        """Attach settings to the function, or to the one that follows."""
        return _decorated(functions, options)


class SkillDecorator(Generic[Options]):
    """Attaches to a function the settings that it has as a skill, as `service` does.

        @skill(name="parrot", timeout=1.0)
        async def parrot(turn: TurnRequest) -> Hypothesis:
            return Hypothesis(turn.text, 0.5)

    The type checker refuses a function that no skill can be.
    """

    def __init__(self, settings: Callable[Concatenate[Any, Options], object]) -> None:
        """`settings` is what the type checker takes the options from."""

    @overload
    def __call__(self, function: S, /) -> S: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *args: Options.args, **options: Options.kwargs) -> Callable[[S], S]: ...
    def __call__(self, *functions: Any, **options: Any) -> Any:
        """Attach settings to the function, or to the one that follows."""
        return _decorated(functions, options)


if TYPE_CHECKING:
    service = ServiceDecorator(_AnyService)
    skill = SkillDecorator(_AnyService)
else:
    service, skill = ServiceDecorator(Service), SkillDecorator(Service)


def _decorated(functions: tuple[Any, ...], options: JsonObject) -> Any:
    return _declare(options, functions[0]) if functions else partial(_declare, options)


def _declare(options: JsonObject, function: F) -> F:
    if "target" in options:
        raise ConfigError("the function is the target: give no other one", key="target")
    declared = msgspec.structs.replace(Service(name_of(function), function), **options)
    kind = type(function).__name__
    if not declared.name:
        raise ConfigError(f"a {kind} without a name: give it one, as name=...")
    try:
        setattr(function, _DECLARED, declared)
    except AttributeError:
        raise ConfigError(f"a {kind} takes no settings: make a Service of it") from None
    return function


def name_of(target: object) -> str:
    """Return the name that a target has: a function's, or what it says itself; "" without one."""
    if isinstance(target, Call):
        return name_of(target.target)
    if isinstance(target, str):
        name: object = target.rpartition(":")[2].rpartition(".")[2] if "//" not in target else ""
    else:
        name = getattr(target, "__name__", None) or getattr(target, "name", "")
    return name if isinstance(name, str) and name.isidentifier() else ""


_DECLARED: Final = "__prolocutor_service__"
