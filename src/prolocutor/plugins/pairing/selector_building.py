"""Checks and makes the routers and rankers of an assistant's file."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from prolocutor.config.fields import Findings
from prolocutor.config.loading import Survey
from prolocutor.contracts.model_use import ModelInUse
from prolocutor.contracts.pairing import (
    Encoder,
    Ranker,
    Router,
    SelectorContext,
    TrainingData,
)
from prolocutor.errors import BadInput, ConfigError, NotFound
from prolocutor.names import did_you_mean
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.pairing import method_catalog
from prolocutor.plugins.pairing.abstention import CLARIFY, FALLBACK, PERSON, AbstentionRule
from prolocutor.plugins.pairing.encoders.meanings import EncoderWiring, Meanings
from prolocutor.plugins.pairing.encoders.vector_cache import EndpointEncoder
from prolocutor.plugins.pairing.endpoints import ChatEndpoint, ClosingSelector, make_connector
from prolocutor.plugins.pairing.lessons import Lessons
from prolocutor.plugins.pairing.method_catalog import find_method
from prolocutor.plugins.pairing.model_files import is_vacant, load_model
from prolocutor.plugins.pairing.model_reloading import MethodSource, ReloadedModel, VersionedMethod
from prolocutor.plugins.pairing.question_agent.loaded_router import load_router_model, since_model
from prolocutor.plugins.pairing.question_agent.meant_methods import MeantRouter, attach_encoder
from prolocutor.plugins.pairing.response_selector import RankedSelector
from prolocutor.plugins.pairing.risk_curve import stored_risk_curve
from prolocutor.plugins.pairing.selector_settings import (
    RankerSettings,
    RouterSettings,
    SelectorSettings,
    check_method,
    starts_without_model,
)
from prolocutor.plugins.pairing.skill_selector import RoutedSelector
from prolocutor.plugins.pairing.turn_routing import RoutingInUse, TurnRouting


def check_selectors(loaded: Survey, findings: Findings) -> Iterable[tuple[str, str]]:
    """Record invalid routers and rankers; there are no warnings."""
    targets: list[tuple[str, Any]] = [
        (written.path, written.service.target) for written in loaded.services
    ]
    names = {skill.name for skill in loaded.settings.pipeline.services_at(Stage.SKILL)}
    for path, target in targets:
        if isinstance(target, SelectorSettings):
            _check_method(path, target, loaded, findings)
        if isinstance(target, RankerSettings):
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
    path: str, target: RankerSettings, names: set[str], loaded: Survey, findings: Findings
) -> None:
    skill = target.rule.skill
    if skill is not None and skill not in names:
        hint = did_you_mean(skill, sorted({*names, FALLBACK, CLARIFY, PERSON}))
        findings.add(loaded.find(f"{path}.unsure.then"), f"no skill is called '{skill}'", hint)


Method = TypeVar("Method", Router, Ranker)


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
        routers = [one for one in context.others if isinstance(one, RouterSettings)]
        rankers = [one for one in context.others if isinstance(one, RankerSettings)]
        self._routings = {id(one): TurnRouting(self._router(one)) for one in routers}
        self._unsure = rankers[0].rule if rankers else AbstentionRule(below=0.0)
        self._rankers = {id(one): self._make_ranker(one) for one in rankers}
        self._ranker = self._rankers[id(rankers[0])] if rankers else None
        names = {card.name for card in self._cards}
        if (skill := self._unsure.skill) is not None and skill not in names:
            raise ConfigError(f"no skill is called {skill!r}", key="response_selector.unsure.then")

    def make(self, selecting: RouterSettings | RankerSettings, name: str) -> Any:
        """Return a selector for the service of this name."""
        selector = self._selector(selecting)
        ends, self._ends = self._ends, []  # the first selector to be made closes what both ask
        return ClosingSelector(selector, ends, name=name) if ends else selector

    def _selector(self, selecting: RouterSettings | RankerSettings) -> Callable[..., Any]:
        if isinstance(selecting, RouterSettings):
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

    def _router(self, selecting: RouterSettings) -> MethodSource[Router]:
        check_method(selecting)
        folder = selecting.model
        if folder is None:
            return self._make_untrained(selecting)
        return self._pupil(selecting, folder)

    def _pupil(self, selecting: RouterSettings, folder: Path) -> MethodSource[Router]:
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

    def _make_ranker(self, selecting: RankerSettings) -> MethodSource[Ranker]:
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


class RouterSelector(RouterSettings, frozen=True, kw_only=True):
    """Routes a question to the likely agents."""

    def build(self, context: SelectorContext) -> Any:
        """Return the skill selector."""
        return _maker(context).make(self, context.name)


class RankerSelector(RankerSettings, frozen=True, kw_only=True):
    """Ranks the answers of agents."""

    def build(self, context: SelectorContext) -> Any:
        """Return the response selector."""
        return _maker(context).make(self, context.name)


def _maker(context: SelectorContext) -> SelectorMaker:
    maker: SelectorMaker = context.share(SelectorMaker, lambda: SelectorMaker(context))
    return maker
