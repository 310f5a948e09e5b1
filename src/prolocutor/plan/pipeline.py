"""The pipeline as data: which services there are at its stages."""

from __future__ import annotations

import re
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Concatenate,
    Final,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    overload,
)

import msgspec

from prolocutor.bounds import about
from prolocutor.catalog import Catalog
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import ConfigError
from prolocutor.names import did_you_mean
from prolocutor.plan.stages import NAME_RULE as NAME_RULE
from prolocutor.plan.stages import ORDER as ORDER
from prolocutor.plan.stages import SERVICE_NAME as SERVICE_NAME
from prolocutor.plan.stages import SINGLE as SINGLE
from prolocutor.plan.stages import STAGE_TYPES as STAGE_TYPES
from prolocutor.plan.stages import Annotator as Annotator
from prolocutor.plan.stages import Breaker as Breaker
from prolocutor.plan.stages import Call as Call
from prolocutor.plan.stages import CallOptions as CallOptions
from prolocutor.plan.stages import Canary as Canary
from prolocutor.plan.stages import CandidateAnnotator as CandidateAnnotator
from prolocutor.plan.stages import Commit as Commit
from prolocutor.plan.stages import Formatter as Formatter
from prolocutor.plan.stages import Function as Function
from prolocutor.plan.stages import LastChance as LastChance
from prolocutor.plan.stages import PendingTarget as PendingTarget
from prolocutor.plan.stages import Postprocessor as Postprocessor
from prolocutor.plan.stages import ResponseAnnotator as ResponseAnnotator
from prolocutor.plan.stages import ResponseSelector as ResponseSelector
from prolocutor.plan.stages import Shadow as Shadow
from prolocutor.plan.stages import Skill as Skill
from prolocutor.plan.stages import SkillReturn as SkillReturn
from prolocutor.plan.stages import SkillSelector as SkillSelector
from prolocutor.plan.stages import SpokenReturn as SpokenReturn
from prolocutor.plan.stages import Stage as Stage
from prolocutor.plan.stages import StageService as StageService
from prolocutor.plan.stages import Target as Target
from prolocutor.plan.stages import TextFormat as TextFormat
from prolocutor.plan.stages import TriedService as TriedService
from prolocutor.plan.stages import target_name as target_name

_STRUCTS: Final[tuple[type[msgspec.Struct], ...]] = (*STAGE_TYPES.values(), CallOptions)
_USUAL: Final = {
    field.name: field.default
    for field in chain.from_iterable(map(msgspec.structs.fields, _STRUCTS))
    if field.name not in ("name", "target")
}
"""The options of services of all stages, with their defaults."""

_HARMLESS: Final = ("icon", "format", "commit")
"""Options allowed at other stages too, without effect."""

Options = ParamSpec("Options")
F = TypeVar("F", bound=Function)
S = TypeVar("S", bound=Callable[..., SkillReturn | Awaitable[SkillReturn] | SpokenReturn])

_DECLARED: Final = "__prolocutor_service__"


class ServiceKeys(Protocol):
    """Further keys of services, from a plug-in: a Struct with a field for each.

    Its entry point is of the group `prolocutor.service_keys`. `stages` lists the stages of each
    key; `apply_to_service` returns the service with the values of the keys.
    """

    stages: ClassVar[Mapping[str, Sequence[Stage]]]

    def __init__(self, **values: Any) -> None: ...

    def apply_to_service(self, service: StageService) -> StageService:
        """Return the service changed by the keys."""


SERVICE_KEYS: Final = Catalog[type[ServiceKeys]]("service key", "prolocutor.service_keys")


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
        """A service whose stage follows from its place in a pipeline, with the options of all
        stages.
        """

        name: str
        target: Target

        @property
        def options(self) -> JsonObject:
            """The given options."""

else:
    # A Struct cannot inherit from several Structs: the type checker sees the first class, the
    # runtime this one.
    class Service:
        """A service whose stage follows from its place in a pipeline, with the options of all
        stages.
        """

        __slots__ = ("name", "options", "target")

        def __init__(self, name: str, target: Target, **options: Any) -> None:
            for key in options.keys() - _USUAL.keys():
                find_keys(key)
            self.name, self.target, self.options = name, target, options

        def __getattr__(self, key: str) -> Any:
            if key.startswith("__") or key not in _USUAL:
                raise AttributeError(f"a Service has no option {key!r}")
            return self.options.get(key, _USUAL[key])

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Service) and _given_options(self) == _given_options(other)

        def __repr__(self) -> str:
            said = "".join(f", {key}={value!r}" for key, value in self.options.items())
            return f"Service({self.name!r}, {self.target!r}{said})"

        call = property(lambda self: _make_call(self))
        card_members, last = StageService.card_members, StageService.last


def find_keys(key: str) -> type[ServiceKeys]:
    """Return a plug-in's Struct with this key; raise `TypeError` if no plug-in has it."""
    for name in SERVICE_KEYS.names():
        found = SERVICE_KEYS.load(name)
        if key in found.stages:
            return found
    hint = did_you_mean(key, _USUAL)
    raise TypeError(f"a Service has no option {key!r}{f'; {hint}' if hint else ''}")


def _given_options(service: Service) -> tuple[str, object, JsonObject]:
    options = service.options.items()
    said = {key: value for key, value in options if key not in _USUAL or value != _USUAL[key]}
    return service.name, service.target, said


def _place_service(service: Service, stage: Stage) -> StageService:
    """Return a `Service` as a service of the stage's type."""
    kind, (name, _, said) = STAGE_TYPES[stage], _given_options(service)
    own: JsonObject = {}
    for key, value in said.items():
        if key in kind.__struct_fields__:
            own[key] = value
        elif key in CallOptions.__struct_fields__:
            continue
        elif key not in _USUAL:
            _check_place(find_keys(key).stages[key], stage, f"{stage}.{name}.{key}")
            own[key] = value
        else:
            stages = [
                stage_type
                for stage_type, other in STAGE_TYPES.items()
                if key in other.__struct_fields__
            ]
            if key not in _HARMLESS:
                _check_place(stages, stage, f"{stage}.{name}.{key}")
            warnings.warn(
                f"{stage}.{name}.{key}: only for {' and '.join(stages)}",
                DeprecationWarning,
                stacklevel=5,
            )
    call = service.call
    bare = call.connector is None and not call.options
    return make_service(stage, call.target if bare else call, name=name, **own)


def make_service(stage: Stage, target: Target, **options: Any) -> StageService:
    """Return a service of a stage's type; its `options` may be keys of plug-ins too."""
    kind = STAGE_TYPES[stage]
    beside: dict[type[ServiceKeys], JsonObject] = {}
    for key in options.keys() - {*kind.__struct_fields__}:
        beside.setdefault(find_keys(key), {})[key] = options.pop(key)
    service = kind(target, **options)
    for keys, values in beside.items():
        service = keys(**values).apply_to_service(service)
    return service


def find_stage_keys(stage: Stage) -> Iterator[tuple[type[ServiceKeys], list[str]]]:
    """Yield the plug-ins' Structs for services of a stage, with the names of their keys."""
    for name in SERVICE_KEYS.names():
        keys = SERVICE_KEYS.load(name)
        yield keys, [key for key, stages in keys.stages.items() if stage in stages]


def _check_place(stages: Sequence[Stage], stage: Stage, key: str) -> None:
    if stage not in stages:
        raise ConfigError(f"only for {' and '.join(stages)}", key=key)


def _make_call(service: Service) -> Call:
    """Return the call of a `Service`'s target."""
    given = {key: service.options[key] for key in _CALLING if key in service.options}
    given = {key: value for key, value in given.items() if value != _USUAL[key]}
    target, connector = service.target, given.pop("connector", None)
    if given.pop("process", False) and connector is None:
        connector = "process"
    if isinstance(target, Call):
        return Call(target.target, connector or target.connector, {**given, **target.options})
    return Call(target, connector, given)


_CALLING: Final = CallOptions.__struct_fields__


class Pipeline(msgspec.Struct, frozen=True, kw_only=True):
    """Services by stage, in declared order. A single service may stand for a list of one.

    A function stands for a service of its name, with the settings of its `@service`, if any.

    Raise `ConfigError` with the key for a service at the wrong stage, two services of a stage with
    the same name, and a pipeline without skills.
    """

    annotators: Annotated[
        Sequence[Annotator | Service | Function],
        about("The services that annotate the human utterance."),
    ] = ()
    skill_selector: Annotated[
        SkillSelector | Service | Function | Sequence[SkillSelector | Service | Function] | None,
        about("The service that selects the skills to ask; by default all skills are asked."),
    ] = None
    skills: Annotated[
        Sequence[Skill | Service | Function], about("The services that give hypotheses.")
    ] = ()
    candidate_annotators: Annotated[
        Sequence[CandidateAnnotator | Service | Function],
        about("The services that annotate each hypothesis."),
    ] = ()
    response_selector: Annotated[
        ResponseSelector
        | Service
        | Function
        | Sequence[ResponseSelector | Service | Function]
        | None,
        about(
            "The service that chooses or composes the reply; of several, the next is "
            "asked if one fails. By default the most confident hypothesis wins."
        ),
    ] = None
    postprocessors: Annotated[
        Sequence[Postprocessor | Service | Function],
        about("The services that rewrite the text of the reply, in declared order."),
    ] = ()
    response_annotators: Annotated[
        Sequence[ResponseAnnotator | Service | Function],
        about("The services that annotate the reply."),
    ] = ()
    last_chance: Annotated[
        LastChance | Service | Function | None,
        about("The service that is asked for a reply when there is no other."),
    ] = None
    commit: Annotated[
        Commit,
        about(
            "When a skill's words are shown before the turn is over. `only`: once no other skill"
            " can speak, now or later. `last`: once no other skill can speak now, though a selector"
            " may ask more. `first_good`: as `last`, or once its confidence is high and the highest"
            " so far. `never`: only in the reply."
        ),
    ] = "last"
    user_snapshot: Annotated[
        Literal["before", "after", "current"],
        about(
            "Whether a human utterance's `user` is the profile before the turn changed it, after,"
            " or in all utterances as it is now (but for the persona, and attributes where there"
            " were none)."
        ),
    ] = "after"
    own_words: Annotated[
        bool,
        about(
            "Where nothing is asked, a bare yes, no, stop or help that no skill is sure of is"
            " answered by the assistant itself, and a skill that can go on is asked and preferred;"
            " else the pipeline alone decides, and may choose a hypothesis without words."
        ),
    ] = True

    def __post_init__(self) -> None:
        """Give every service the type of its stage."""
        for stage in Stage:
            given = getattr(self, stage.value)
            if given is None:
                continue
            if isinstance(given, Sequence):
                placed: Any = tuple(_find_service(one, stage) for one in given)
                _refuse_doubles(placed, stage)
            else:
                placed = _find_service(given, stage)
                _refuse_doubles((placed,), stage)
            msgspec.structs.force_setattr(self, stage.value, placed)
        if not self.skills:
            raise ConfigError("a pipeline needs at least one skill", key=str(Stage.SKILL))

    @overload
    def services_at(self, stage: Literal[Stage.SKILL]) -> tuple[Skill, ...]: ...
    @overload
    def services_at(self, stage: Stage) -> tuple[StageService, ...]: ...
    def services_at(self, stage: Stage) -> tuple[StageService, ...]:
        """Return the services of one stage, in declared order."""
        placed: Any = getattr(self, stage.value)
        if placed is None:
            return ()
        return placed if isinstance(placed, tuple) else (placed,)

    def change_services(
        self, change: Callable[[StageService], StageService], *stages: Stage
    ) -> Pipeline:
        """Return the pipeline with each service changed by a function, at all stages or at some."""
        changed: dict[str, StageService | list[StageService]] = {}
        for stage in stages or Stage:
            if services := [change(service) for service in self.services_at(stage)]:
                changed[stage.value] = services[0] if stage is Stage.LAST_CHANCE else services
        pipeline: Pipeline = msgspec.structs.replace(self, **changed)
        return pipeline

    def services(self) -> Iterator[tuple[Stage, StageService]]:
        """Return every service of the ordinary turn with its stage, in declared order."""
        for stage in ORDER:
            for service in self.services_at(stage):
                yield stage, service


def _find_service(given: Any, stage: Stage) -> StageService:
    """Return a service, or the service declared for a function, in the stage's type.

    Raise `ConfigError` for anything else.
    """
    if isinstance(given, STAGE_TYPES[stage]):
        return given
    if isinstance(given, Service):
        return _place_service(given, stage)
    if isinstance(given, StageService):
        what = f"{type(given).__name__} has no place here"
        raise ConfigError(what, key=f"{stage}.{given.name}")
    declared = getattr(given, _DECLARED, None)
    if isinstance(declared, Service):
        # not its own target: a bound method and a wrapper have the settings of the wrapped function
        return _place_service(Service(declared.name, given, **declared.options), stage)
    name = target_name(given)
    if not name or isinstance(given, str):
        kind = type(given).__name__
        raise ConfigError(f"expected a Service or a function with a name, found {kind}", key=stage)
    return STAGE_TYPES[stage](given, name=name)


def _refuse_doubles(services: Sequence[StageService], stage: Stage) -> None:
    seen: set[str] = set()
    for service in services:
        path = f"{stage}.{service.name}"
        if service.name in seen:
            raise ConfigError(f"two services are called '{service.name}'", key=path)
        if not service.name:
            raise ConfigError("a service needs a name", key=str(stage))
        if not re.fullmatch(SERVICE_NAME, str(service.name)):
            raise ConfigError(f"expected {NAME_RULE}, found {service.name!r:.150}", key=path)
        seen.add(service.name)


class ServiceDecorator(Generic[Options]):
    """Attaches to a function its settings as a service, of any stage.

    The function itself is unchanged. The service has its name unless `name` is given. A file that
    calls it by its dotted name gives the settings itself. Without settings the parentheses may be
    left out. Raise `ConfigError` for an object without a name, or without room for settings.
    """

    def __init__(self, settings: Callable[Concatenate[Any, Options], object]) -> None:
        """`settings` gives the type checker the options."""

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, *args: Options.args, **options: Options.kwargs) -> Callable[[F], F]: ...
    def __call__(self, *functions: Any, **options: Any) -> Any:
        """Attach settings to the function, or to the following function."""
        return _decorate(functions, options)


class SkillDecorator(Generic[Options]):
    """Attaches to a function its settings as a skill, like `service`.

        @skill(name="parrot", timeout=1.0)
        async def parrot(turn: TurnRequest) -> Hypothesis:
            return Hypothesis(turn.text, 0.5)

    The type checker refuses a function that cannot be a skill.
    """

    def __init__(self, settings: Callable[Concatenate[Any, Options], object]) -> None:
        """`settings` gives the type checker the options."""

    @overload
    def __call__(self, function: S, /) -> S: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *args: Options.args, **options: Options.kwargs) -> Callable[[S], S]: ...
    def __call__(self, *functions: Any, **options: Any) -> Any:
        """Attach settings to the function, or to the following function."""
        return _decorate(functions, options)


if TYPE_CHECKING:
    service = ServiceDecorator(_AnyService)
    skill = SkillDecorator(_AnyService)
else:
    service, skill = ServiceDecorator(Service), SkillDecorator(Service)


def _decorate(functions: tuple[Any, ...], options: JsonObject) -> Any:
    return _declare(options, functions[0]) if functions else partial(_declare, options)


def _declare(options: JsonObject, function: F) -> F:
    if "target" in options:
        raise ConfigError("the function is the target: give no other one", key="target")
    declared = Service(**{"name": target_name(function), **options, "target": function})
    kind = type(function).__name__
    if not declared.name:
        raise ConfigError(f"a {kind} without a name: give it one, as name=...")
    try:
        setattr(function, _DECLARED, declared)
    except AttributeError:
        raise ConfigError(f"a {kind} takes no settings: make a Service of it") from None
    return function
