"""Selectors: the settings of routers and rankers in a file, their checks, and their making."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar

import msgspec

from prolocutor.bounds import about
from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.contracts.model_use import ModelInUse
from prolocutor.contracts.pairing import (
    Encoder,
    Ranker,
    Role,
    Router,
    SelectorContext,
    TrainingData,
)
from prolocutor.errors import BadInput, ConfigError, NotFound
from prolocutor.names import did_you_mean
from prolocutor.plan.pipeline import Call, PendingTarget, Service, Stage
from prolocutor.plugins.pairing import method_catalog
from prolocutor.plugins.pairing.abstention import (
    CLARIFY,
    FALLBACK,
    PERSON,
    AbstentionRule,
    stored_risk_curve,
)
from prolocutor.plugins.pairing.budget import Budget
from prolocutor.plugins.pairing.encoders.meanings import EncoderWiring, Meanings, check_encoder
from prolocutor.plugins.pairing.encoders.vector_cache import EndpointEncoder
from prolocutor.plugins.pairing.endpoints import ChatEndpoint, ClosingSelector, make_connector
from prolocutor.plugins.pairing.lessons import Lessons
from prolocutor.plugins.pairing.method_catalog import Need, find_method
from prolocutor.plugins.pairing.model_files import is_vacant, load_model
from prolocutor.plugins.pairing.model_reloading import MethodSource, ReloadedModel, VersionedMethod
from prolocutor.plugins.pairing.question_agent.loaded_router import (
    MeantRouter,
    attach_encoder,
    load_router_model,
    since_model,
)
from prolocutor.plugins.pairing.response_selector import RankedSelector
from prolocutor.plugins.pairing.skill_selector import RoutedSelector, RoutingInUse, TurnRouting

_ASKING: Final = 0.75
"""The share of its time-out that a selector may spend on an external model."""

_USUAL: Final = _ASKING * Service("", "").timeout

Method = TypeVar("Method", Router, Ranker)


class SelectorSettings(PendingTarget, frozen=True, kw_only=True):
    """The common settings of routers and rankers.

    They stand in for the `target` of their service until they are made.
    """

    role: ClassVar[Role]

    model: Annotated[
        Path | None,
        about(
            "A model that `prolocutor train` wrote. It may be replaced while the assistant runs;"
            " ratings and labels are in the store.",
            what="the folder of a model",
        ),
    ] = None
    encoder: Annotated[
        Path | None,
        about(
            "A local ONNX sentence encoder, in place of an endpoint. It has to be the encoder that"
            " the model was trained with.",
            what="the folder of an encoder",
        ),
    ] = None
    connector: Annotated[
        str | None, about("The connector of the model that the method asks.", hidden=True)
    ] = None
    endpoint: Annotated[
        Call | None, about("The way to the model that the method asks.", hidden=True)
    ] = None
    options: Annotated[Any, about("The options of a method that has its own.", hidden=True)] = None
    seconds: Annotated[float | None, about("How long a call of a model may take.", hidden=True)] = (
        None
    )

    @property
    def method(self) -> str:
        """The name of the method."""
        name: str = getattr(self, self.role)
        return name

    def within(self, timeout: float) -> Self:
        """Return the same with the time of an endpoint that this time-out of the service leaves."""
        return msgspec.structs.replace(self, seconds=_ASKING * timeout)

    @property
    def encoding_seconds(self) -> float:
        """How long an encoder may take; methods that chat have their own."""
        return _USUAL if self.seconds is None else self.seconds


class RouterSelector(SelectorSettings, frozen=True, kw_only=True):
    """Routes a question to the likely agents."""

    role: ClassVar[Role] = "router"
    stage: ClassVar[str] = "skill_selector"

    router: Annotated[
        str,
        about(
            "The method that chooses the agents to ask.",
            what="the name of a router",
            group="prolocutor.routers",
        ),
    ]
    budget: Annotated[Budget, about("How many agents are asked.")] = Budget()

    def build(self, context: SelectorContext) -> Any:
        """Return the skill selector."""
        return _maker(context).make(self, context.name)


class RankerSelector(SelectorSettings, frozen=True, kw_only=True):
    """Ranks the answers of agents."""

    role: ClassVar[Role] = "ranker"
    stage: ClassVar[str] = "response_selector"

    ranker: Annotated[
        str,
        about(
            "The method that chooses the best answer.",
            what="the name of a ranker",
            group="prolocutor.rankers",
        ),
    ]
    unsure: Annotated[
        AbstentionRule | None, about("The rule for turns without a likely answer.")
    ] = None

    @property
    def rule(self) -> AbstentionRule:
        """The rule for turns without a likely answer; by default every answer is spoken."""
        return AbstentionRule(below=0.0) if self.unsure is None else self.unsure

    def build(self, context: SelectorContext) -> Any:
        """Return the response selector."""
        return _maker(context).make(self, context.name)


def check_method(selecting: SelectorSettings) -> None:
    """Raise `ConfigError` or `BadInput` if the name, model or encoder of a method is wrong."""
    role, method = selecting.role, selecting.method
    named = method_catalog.find_method(method, role)
    needs = named.needs
    if "chat" in needs and selecting.endpoint is None:
        what = "connector: openai_chat, call: {url: ..., model: ...}"
        raise ConfigError(f"the {role} {method!r} asks a chat endpoint: give {what}")
    has_encoder = selecting.endpoint is not None or selecting.encoder is not None
    if "encoder" in needs and not has_encoder and selecting.model is None:
        what = "encoder: FOLDER, or connector: openai_embeddings, call: {url: ..., model: ...}"
        raise ConfigError(f"the {role} {method!r} needs an encoder: give {what}")
    may = needs | named.uses
    if selecting.endpoint is not None and not may & {"chat", "encoder"}:
        raise ConfigError(f"the {role} {method!r} asks no endpoint; leave out call")
    if selecting.encoder is not None and "encoder" not in may:
        raise ConfigError(f"the {role} {method!r} needs no encoder; leave it out", key="encoder")
    if isinstance(selecting, RankerSelector) and selecting.rule.error is not None:
        _check_error(selecting)
    _check_model(selecting, needs)


def _check_error(ranker: RankerSelector) -> None:
    """Raise `ConfigError` if the ranker's model cannot keep within a wanted error."""
    if ranker.model is None:
        what = "unsure: {error: ...} needs a ranker with a model, in which errors were counted"
        raise ConfigError(what, key="unsure")
    if not is_vacant(ranker.model) and stored_risk_curve(load_model(ranker.model)) is None:
        what = "was trained without what unsure: {error: ...} needs; train it again"
        raise ConfigError(what, file=str(ranker.model))


def _check_model(selecting: SelectorSettings, needs: frozenset[Need]) -> None:
    """Raise `ConfigError` if the model is not there, or needs another encoder."""
    role, method = selecting.role, selecting.method
    encoder = None
    if selecting.encoder is not None:
        encoder = method_catalog.load_encoder(selecting.encoder)
    if selecting.model is None:
        if "labels" in needs and not method_catalog.starts_unlearned(method, role):
            raise ConfigError(
                f"the {role} {method!r} needs a model: prolocutor train {role} "
                f"--method {method} --data KIND:PATH --out FOLDER"
            )
        return
    if starts_without_model(selecting) and is_vacant(selecting.model):
        return
    model = load_model(selecting.model)
    if (model.role, model.method) != (role, method):
        what = f"is the model of a {model.role} {model.method!r}, not of the {role} {method!r}"
        raise ConfigError(what, file=str(selecting.model))
    check_encoder(model, encoder, has_endpoint=selecting.endpoint is not None)


def starts_without_model(selecting: SelectorSettings) -> bool:
    """Return whether a router learns all agents label by label: it can start without a model."""
    if selecting.role != "router" or selecting.model is None:
        return False
    return hasattr(method_catalog.find_method(selecting.method, "router").reader, "learn_all")


def check_selectors(loaded: Survey, findings: Findings) -> Iterable[tuple[str, str]]:
    """Record invalid routers and rankers; there are no warnings."""
    targets: list[tuple[str, Any]] = [
        (written.path, written.service.target) for written in loaded.services
    ]
    names = {skill.name for skill in loaded.settings.pipeline.services_at(Stage.SKILL)}
    for path, target in targets:
        if isinstance(target, SelectorSettings):
            _check_method(path, target, loaded, findings)
        if isinstance(target, RankerSelector):
            _check_rule(path, target, names, loaded, findings)
    return ()


def _check_method(path: str, target: SelectorSettings, loaded: Survey, findings: Findings) -> None:
    try:
        check_method(target)
        if target.connector is not None and target.endpoint is not None:
            asks = "chat" in find_method(target.method, target.role).needs
            verb = "complete" if asks else "embed"
            make_connector(target.connector, target.endpoint, name=target.role, verb=verb)
    except (ConfigError, BadInput, NotFound) as error:
        about = error.key if isinstance(error, ConfigError) else error.field
        key = "encoder" if about == "encoder" and target.encoder is not None else target.role
        what = error.what if isinstance(error, ConfigError) and error.file is None else str(error)
        findings.add(loaded.find(f"{path}.{key}"), what)


def _check_rule(
    path: str, target: RankerSelector, names: set[str], loaded: Survey, findings: Findings
) -> None:
    skill = target.rule.skill
    if skill is not None and skill not in names:
        hint = did_you_mean(skill, sorted({*names, FALLBACK, CLARIFY, PERSON}))
        findings.add(loaded.find(f"{path}.unsure.then"), f"no skill is called '{skill}'", hint)


class SelectorMaker:
    """Makes the selectors of one pipeline.

    They share the first router and the first ranker; further ones are shadows or canaries of these.
    """

    def __init__(self, context: SelectorContext) -> None:
        self._context = context
        self._cards = list(context.cards)
        self._ends: list[Callable[[], Awaitable[None]]] = []
        self._encoders: dict[Path, Encoder] = {}
        self._offered: list[SelectorSettings] = []
        routers = [one for one in context.others if isinstance(one, RouterSelector)]
        rankers = [one for one in context.others if isinstance(one, RankerSelector)]
        self._routings = {id(one): TurnRouting(self._router(one)) for one in routers}
        self._unsure = rankers[0].rule if rankers else AbstentionRule(below=0.0)
        self._rankers = {id(one): self._make_ranker(one) for one in rankers}
        self._ranker = self._rankers[id(rankers[0])] if rankers else None
        names = {card.name for card in self._cards}
        if (skill := self._unsure.skill) is not None and skill not in names:
            raise ConfigError(f"no skill is called {skill!r}", key="response_selector.unsure.then")

    def make(self, selecting: RouterSelector | RankerSelector, name: str) -> Any:
        """Return a selector for the service of this name."""
        selector = self._selector(selecting)
        ends, self._ends = self._ends, []  # the first selector to be made closes what both ask
        return ClosingSelector(selector, ends, name=name) if ends else selector

    def _selector(self, selecting: RouterSelector | RankerSelector) -> Callable[..., Any]:
        if isinstance(selecting, RouterSelector):
            return RoutedSelector(
                self._routings[id(selecting)],
                self._cards,
                selecting.budget,
                ranker=self._ranker,
                unsure=self._unsure,
                seconds=self._context.skill_seconds,
            )
        return RankedSelector(
            self._rankers[id(selecting)],
            self._cards,
            routing=RoutingInUse([*self._routings.values()]) if self._routings else None,
            unsure=selecting.rule,
        )

    def _router(self, selecting: RouterSelector) -> MethodSource[Router]:
        check_method(selecting)
        folder = selecting.model
        if folder is None:
            return self._make_untrained(selecting)
        return self._pupil(selecting, folder)

    def _pupil(self, selecting: RouterSelector, folder: Path) -> MethodSource[Router]:
        """Return a router of a model that also learns the lessons since the model was made.

        A router that learns only in training still learns about new agents.
        """
        lessons = Lessons([card.name for card in self._cards])
        wired = self._find_encoder(selecting)
        is_pupil = starts_without_model(selecting)

        def load() -> VersionedMethod[Router]:
            if not is_pupil or not is_vacant(folder):
                loaded = load_router_model(folder, self._cards, wired)
                loaded.router.learn_all(since_model(lessons.standing(), loaded.model))
                return VersionedMethod(loaded.router, loaded.model.id)
            router = self._make_card_router(selecting, wired)
            router.learn_all(lessons.standing())
            return VersionedMethod(router, selecting.method)

        kept: ReloadedModel[Router] = ReloadedModel(folder, load)
        lessons.pupil = kept
        self._context.observe(lessons)
        return self._reloaded(selecting, kept, lessons if is_pupil else None)

    def _reloaded(
        self,
        selecting: SelectorSettings,
        source: ReloadedModel[Method],
        learner: Lessons | None = None,
    ) -> ReloadedModel[Method]:
        if any(one is not selecting and one.role == selecting.role for one in self._offered):
            return source  # a shadow or canary: only the router of most people is trained anew
        self._offered.append(selecting)
        self._context.offer(
            ModelInUse(
                role=selecting.role,
                method=selecting.method,
                source=source,
                cards=self._cards,
                learner=learner,
                encoder=selecting.encoder,
            )
        )
        return source

    def _make_ranker(self, selecting: RankerSelector) -> MethodSource[Ranker]:
        check_method(selecting)
        folder, cards = selecting.model, self._cards
        if folder is None:
            return self._make_untrained(selecting)
        wired = self._find_encoder(selecting)

        def load() -> VersionedMethod[Ranker]:
            model = load_model(folder)
            ranker = method_catalog.read_method(model, "ranker", cards, folder)
            risks = stored_risk_curve(model)
            if risks is None and self._unsure.error is not None:
                what = "has no risk curve, which unsure: {error: ...} needs; train it again"
                raise ConfigError(what, file=str(folder))
            return VersionedMethod(attach_encoder(ranker, model, wired), model.id, risks)

        return self._reloaded(selecting, ReloadedModel(folder, load))

    def _make_untrained(self, selecting: SelectorSettings) -> VersionedMethod[Any]:
        """Make a method without a folder, of cards and its external model."""
        role, method = selecting.role, selecting.method
        training = TrainingData(cards=self._cards, seconds=selecting.seconds)
        wired = self._find_encoder(selecting)
        if method_catalog.starts_unlearned(method, role):
            return VersionedMethod(self._make_card_router(selecting, wired), method)
        if wired is not None:
            training = msgspec.structs.replace(
                training, encoder=wired.encoder, seconds=wired.seconds
            )
        elif selecting.endpoint is not None:
            assert selecting.connector is not None
            chat = ChatEndpoint(selecting.connector, selecting.endpoint, name=role)
            self._ends.append(chat.connector.aclose)
            training = msgspec.structs.replace(training, complete=chat.complete)
        made = _require_sync(method_catalog.load_fit(method, role, selecting.options)(training))
        return VersionedMethod(made, method)

    def _make_card_router(self, selecting: SelectorSettings, wired: EncoderWiring | None) -> Any:
        """Make a router by cards, until it learns."""
        if not method_catalog.starts_unlearned(selecting.method, "router"):
            fit = method_catalog.load_fit(selecting.method, "router", selecting.options)
            return _require_sync(fit(TrainingData(cards=self._cards)))
        scorer = method_catalog.load_reader(selecting.method, "router").of_cards(self._cards)
        if wired is None:
            return scorer
        texts = scorer.fixed_texts
        return MeantRouter(
            scorer, Meanings(wired.encoder, None, fixed=texts, seconds=wired.seconds)
        )

    def _find_encoder(self, selecting: SelectorSettings) -> EncoderWiring | None:
        """Return a selector's encoder, or None; selectors share the encoder of a folder."""
        seconds = selecting.encoding_seconds
        if selecting.encoder is not None:
            place = selecting.encoder.resolve()
            if place not in self._encoders:
                made = method_catalog.load_encoder(place)
                self._ends.append(made.aclose)
                self._encoders[place] = made
            return EncoderWiring(self._encoders[place], seconds)
        if selecting.endpoint is None or _is_chat(selecting):
            return None
        assert selecting.connector is not None
        way = make_connector(
            selecting.connector, selecting.endpoint, name=selecting.role, verb="embed"
        )
        self._ends.append(way.aclose)
        name = str(getattr(way, "model", selecting.connector))
        return EncoderWiring(EndpointEncoder(way.embed, name=name), seconds)


def _is_chat(selecting: SelectorSettings) -> bool:
    return "chat" in method_catalog.method_needs(selecting.method, selecting.role)


def _require_sync(method: Method | Awaitable[Method]) -> Method:
    if inspect.isawaitable(method):
        raise ConfigError(
            "this method learns from a running service: train it, then name the folder of its model"
        )
    return method


def _maker(context: SelectorContext) -> SelectorMaker:
    maker: SelectorMaker = context.share(SelectorMaker, lambda: SelectorMaker(context))
    return maker
