"""Make the services that select by pairing of what a file says of them."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from prolocutor.config.agent_cards import cards_of
from prolocutor.config.endpoints import ChatEndpoint, ClosingSelector, connector_of
from prolocutor.contracts.observer import Observer
from prolocutor.contracts.pairing import (
    Card,
    Encoder,
    ModelInUse,
    Ranker,
    Router,
    TrainingData,
)
from prolocutor.errors import ConfigError
from prolocutor.pipeline.prepared import StageDeadlines
from prolocutor.plan.pipeline import Pipeline, Service, Stage
from prolocutor.plugins.pairing import method_catalog
from prolocutor.plugins.pairing.abstention import AbstentionRule
from prolocutor.plugins.pairing.encoders.encoder_wiring import EncoderWiring
from prolocutor.plugins.pairing.encoders.endpoint import EndpointEncoder
from prolocutor.plugins.pairing.encoders.meanings import Meanings
from prolocutor.plugins.pairing.hints.hint_lessons import standing
from prolocutor.plugins.pairing.lessons import Lessons
from prolocutor.plugins.pairing.loss_curve import loss_curve_of
from prolocutor.plugins.pairing.method_catalog import Role
from prolocutor.plugins.pairing.model_files import load_model
from prolocutor.plugins.pairing.model_reloading import MethodSource, ReloadedModel, VersionedMethod
from prolocutor.plugins.pairing.new_agent_learner import NewAgentLearner
from prolocutor.plugins.pairing.question_agent.label_journal import (
    LabelJournal,
    LabelMemory,
    since_model,
)
from prolocutor.plugins.pairing.question_agent.loaded_router import load_router_model
from prolocutor.plugins.pairing.question_agent.meant_methods import MeantRouter, with_encoder
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from prolocutor.plugins.pairing.rating_learner import RatingLearner
from prolocutor.plugins.pairing.response_selector import RankedSelector
from prolocutor.plugins.pairing.selector_settings import (
    SelectorSettings,
    check_loss,
    check_method,
    starts_without_model,
)
from prolocutor.plugins.pairing.skill_selector import RoutedSelector
from prolocutor.plugins.pairing.turn_routing import TurnRouting

Method = TypeVar("Method", Router, Ranker)

JOURNAL = ".lessons"
"""What is added to a model's name for the file of what its router learned since."""


def with_selectors(
    pipeline: Pipeline,
    folder: Path,
    limits: StageDeadlines,
    *,
    shared: bool = False,
    hinted: bool = True,
) -> tuple[Pipeline, list[Observer], list[ModelInUse]]:
    """Return the pipeline with its selectors by pairing made, the observers that learn, and the
    models that can be trained anew.

    `shared`: what they learn from is in the store of several replicas, not in files beside models.
    Without `hinted` no hints are taken: the turns are no person's.
    """
    targets = [service.target for _, service in pipeline.services()]
    wanted = [target for target in targets if isinstance(target, SelectorSettings)]
    if not wanted:
        return pipeline, [], []
    maker = _Maker(cards_of(pipeline.of(Stage.SKILL), folder), wanted, limits, shared, hinted)
    changes = {
        stage: [maker.made(service) for service in services]
        for stage, services in (
            ("skill_selector", pipeline.of(Stage.SKILL_SELECTOR)),
            ("response_selector", pipeline.of(Stage.RESPONSE_SELECTOR)),
        )
        if services
    }
    return msgspec.structs.replace(pipeline, **changes), maker.learners, maker.models


class _Maker:
    """Makes the selectors of one pipeline; they share one router and one ranker."""

    def __init__(
        self,
        cards: list[Card],
        wanted: Sequence[SelectorSettings],
        limits: StageDeadlines,
        shared: bool,
        hinted: bool,
    ) -> None:
        self._shared, self._hinted = shared, hinted
        self._seconds = limits.end_of(Stage.SKILL)
        self.learners: list[Observer] = []
        self.models: list[ModelInUse] = []
        self._cards = cards
        self._ends: list[Callable[[], Awaitable[None]]] = []
        self._encoders: dict[Path, Encoder] = {}
        router = self._found("router", wanted, self._router)
        self._routing = None if router is None else TurnRouting(router)
        self._wants_loss = any(one.budget.loss is not None for one in wanted)
        ranking = next((one for one in wanted if one.role == "ranker"), None)
        for one in wanted:
            _check_loss(one, ranking)
        self._ranker = self._found("ranker", wanted, self._ranker_of)
        self._unsure = next(
            (one.unsure for one in wanted if one.role == "ranker"),
            AbstentionRule(below=0.0),
        )
        names = {card.name for card in cards}
        if (skill := self._unsure.skill) is not None and skill not in names:
            raise ConfigError(f"no skill is called {skill!r}", key="response_selector.unsure.then")

    def made(self, service: Service) -> Service:
        """Return a service with its selector as the target."""
        target = service.target
        if not isinstance(target, SelectorSettings):
            return service
        selector = self._selector(target)
        ends, self._ends = self._ends, []  # the first selector to be made closes what both ask
        made = ClosingSelector(selector, ends, name=service.name) if ends else selector
        return msgspec.structs.replace(service, target=made)

    def _selector(self, selecting: SelectorSettings) -> Callable[..., Any]:
        if selecting.role == "router":
            assert self._routing is not None
            return RoutedSelector(
                self._routing,
                self._cards,
                selecting.budget.made(self._ranker),
                ranker=self._ranker,
                unsure=self._unsure,
                new_agents=selecting.newcomers,
                seconds=self._seconds,
            )
        assert self._ranker is not None
        return RankedSelector(self._ranker, self._cards, routing=self._routing, unsure=self._unsure)

    def _found(
        self,
        role: Role,
        wanted: Sequence[SelectorSettings],
        make: Callable[[SelectorSettings], MethodSource[Method]],
    ) -> MethodSource[Method] | None:
        for one in wanted:
            if one.role == role:
                check_method(one)
                return make(one)
        return None

    def _router(self, selecting: SelectorSettings) -> MethodSource[Router]:
        folder = selecting.model
        if folder is None:
            return self._unlearned(selecting)
        return self._pupil(selecting, folder)

    def _pupil(self, selecting: SelectorSettings, folder: Path) -> MethodSource[Router]:
        """Return a router that learns from ratings, and what it learned since its model was made.

        One that learns by training alone learns about new agents.
        """
        journal: LabelJournal | LabelMemory = LabelMemory()
        if not self._shared:
            journal = LabelJournal(folder.with_name(f"{folder.name}{JOURNAL}"))

        hints = selecting.hints

        def learned() -> list[RouterLabel]:
            return standing(journal.read(), hints, time.time())

        wired = self._wired(selecting)
        is_pupil = starts_without_model(selecting)

        def load() -> VersionedMethod[Router]:
            if folder.exists() or not is_pupil:
                turns = selecting.newcomers.turns
                loaded = load_router_model(folder, self._cards, wired, turns)
                loaded.router.learn_all(since_model(learned(), loaded.model))
                return VersionedMethod(loaded.router, loaded.model.id)
            training = TrainingData(cards=self._cards)
            router: Any = _fitted(method_catalog.load_fit(selecting.method, "router")(training))
            router.learn_all(one for one in learned() if not one.judged)
            return VersionedMethod(router, selecting.method)

        kept: ReloadedModel[Router] = ReloadedModel(folder, load)
        names = [card.name for card in self._cards]
        taken = hints if self._hinted else None
        learner = RatingLearner(kept, journal, names, hints=taken)
        self.learners += [Lessons(learner), NewAgentLearner(kept, journal, names)]
        return self._in_use(selecting, kept, learner if is_pupil else None)

    def _in_use(
        self,
        selecting: SelectorSettings,
        source: ReloadedModel[Method],
        learner: RatingLearner | None = None,
    ) -> ReloadedModel[Method]:
        self.models.append(
            ModelInUse(
                role=selecting.role,
                method=selecting.method,
                source=source,
                cards=self._cards,
                learner=learner,
            )
        )
        return source

    def _ranker_of(self, selecting: SelectorSettings) -> MethodSource[Ranker]:
        folder, cards = selecting.model, self._cards
        if folder is None:
            return self._unlearned(selecting)
        wired = self._wired(selecting)

        def load() -> VersionedMethod[Ranker]:
            model = load_model(folder)
            ranker = method_catalog.read_method(model, "ranker", cards, folder)
            curve = loss_curve_of(model)
            if curve is None and self._wants_loss:
                what = "has no loss curve, which the budget needs; train it with --loss-budget"
                raise ConfigError(what, file=str(folder))
            return VersionedMethod(with_encoder(ranker, model, wired), model.id, curve)

        return self._in_use(selecting, ReloadedModel(folder, load))

    def _unlearned(self, selecting: SelectorSettings) -> VersionedMethod[Any]:
        """Make a method of cards and of the model that it asks."""
        role, method = selecting.role, selecting.method
        training = TrainingData(cards=self._cards, seconds=selecting.seconds)
        wired = self._wired(selecting)
        if wired is not None and method_catalog.starts_unlearned(method, role):
            scorer = method_catalog.load_reader(method, role).of_cards(self._cards)
            texts, seconds = scorer.fixed_texts, wired.seconds
            meanings = Meanings(wired.encoder, None, fixed=texts, seconds=seconds)
            return VersionedMethod(MeantRouter(scorer, meanings), method)
        if wired is not None:
            training = msgspec.structs.replace(
                training, encoder=wired.encoder, seconds=wired.seconds
            )
        elif selecting.endpoint is not None:
            assert selecting.connector is not None
            chat = ChatEndpoint(selecting.connector, selecting.endpoint, name=role)
            self._ends.append(chat.connector.aclose)
            training = msgspec.structs.replace(training, complete=chat.complete)
        made = _fitted(method_catalog.load_fit(method, role)(training))
        return VersionedMethod(made, method)

    def _wired(self, selecting: SelectorSettings) -> EncoderWiring | None:
        """Return the encoder of a selector, None if it has none; selectors share a folder's."""
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
        way = connector_of(
            selecting.connector, selecting.endpoint, name=selecting.role, verb="embed"
        )
        self._ends.append(way.aclose)
        name = str(getattr(way, "model", selecting.connector))
        return EncoderWiring(EndpointEncoder(way.embed, name=name), seconds)


def _check_loss(selecting: SelectorSettings, ranking: SelectorSettings | None) -> None:
    try:
        check_loss(selecting, ranking)
    except ConfigError as error:
        raise ConfigError(str(error), key="skill_selector.budget") from None


def _is_chat(selecting: SelectorSettings) -> bool:
    return "chat" in method_catalog.needs_of(selecting.method, selecting.role)


def _fitted(method: Method | Awaitable[Method]) -> Method:
    if inspect.isawaitable(method):
        raise ConfigError("this method learns from a running service; train it and give its model")
    return method
