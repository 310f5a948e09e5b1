"""Selecting by pairing: what a file says of a router or ranker, and the service made of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec

from prolocutor.config.agent_cards import cards_of
from prolocutor.contracts.pairing import Card, Ranker, Router, Training
from prolocutor.errors import ConfigError
from prolocutor.pairing import catalog
from prolocutor.pairing.budget import All, Capped, ExpectedGain, Hedged, Policy, TopK, UntilSure
from prolocutor.pairing.model_files import load_model
from prolocutor.pairing.question_agent.loading import load_router_model
from prolocutor.pairing.reloading import Kept, KeptRanker, KeptRouter, Ready
from prolocutor.pairing.response_selector import RankedSelector
from prolocutor.pairing.skill_selector import RoutedSelector
from prolocutor.pairing.unsure import Unsure
from prolocutor.pipeline.plan import Pipeline, Service

Role = Literal["router", "ranker"]
Method = TypeVar("Method", Router, Ranker)

POLICIES: Final = ("all", "top", "sure", "gain")


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """How many calls a turn may cost.

    `policy`: `all` are asked at once; `top`, the `calls` likeliest; `sure`, `start` at once and
    then one by one until an answer is right with `sure`; `gain`, whoever promises the largest gain
    for its cost, while a right answer is worth `value` and a second `per_second`. `calls` and
    `price` bound a turn. `hedge`: agents too slow to be asked later are asked at once.
    """

    policy: Literal["all", "top", "sure", "gain"] = "sure"
    calls: int | None = None
    price: float | None = None
    start: int = 2
    sure: float = 0.3
    value: float = 1.0
    per_call: float = 0.05
    per_second: float = 0.0
    hedge: bool = False

    def made(self) -> Policy:
        """Give the policy that this describes."""
        policy = self._policy()
        if self.hedge:
            policy = Hedged(policy)
        if self.price is not None or (self.calls is not None and self.policy != "top"):
            policy = Capped(policy, most=self.calls, price=self.price)
        return policy

    def _policy(self) -> Policy:
        match self.policy:
            case "all":
                return All()
            case "top":
                return TopK(self.calls or 3)
            case "sure":
                return UntilSure(sure=self.sure, start=self.start)
        return ExpectedGain(
            value=self.value,
            per_call=self.per_call,
            per_second=self.per_second,
            sure=self.sure,
            start=self.start,
        )


class Selecting(msgspec.Struct, frozen=True, kw_only=True):
    """A selector by pairing as a file describes it: its service's `target` until it is made."""

    role: Role
    method: str
    model: Path | None = None
    budget: Budget = Budget()
    unsure: Unsure = Unsure(below=0.0)


def check_method(selecting: Selecting) -> None:
    """Raise what keeps a method from being used: an unknown name, a missing model, a bad one."""
    known = catalog.routers() if selecting.role == "router" else catalog.rankers()
    if selecting.method not in known:
        load = catalog.load_router if selecting.role == "router" else catalog.load_ranker
        load(selecting.method)
    if selecting.model is not None:
        model = load_model(selecting.model)
        if (model.role, model.method) != (selecting.role, selecting.method):
            what = f"is the model of a {model.role} {model.method!r}, not of the {selecting.role}"
            raise ConfigError(f"{what} {selecting.method!r}", file=str(selecting.model))
    elif "labels" in catalog.needs_of(selecting.method, selecting.role):
        raise ConfigError(
            f"the {selecting.role} {selecting.method!r} needs a model: prolocutor train "
            f"{selecting.role} --method {selecting.method} --data KIND:PATH --out FOLDER"
        )


def with_selectors(pipeline: Pipeline, folder: Path) -> Pipeline:
    """Give the pipeline with its selectors by pairing made, from the cards of its skills."""
    targets: list[object] = [service.target for _, service in pipeline.services()]
    wanted = [target for target in targets if isinstance(target, Selecting)]
    if not wanted:
        return pipeline
    maker = _Maker(cards_of(pipeline.skills, folder), wanted)
    changes = {
        stage: [maker.made(service) for service in services]
        for stage, services in (
            ("skill_selector", _listed(pipeline.skill_selector)),
            ("response_selector", _listed(pipeline.response_selector)),
        )
        if services
    }
    return msgspec.structs.replace(pipeline, **changes)


class _Maker:
    """Makes the selectors of one pipeline; they share one router and one ranker."""

    def __init__(self, cards: list[Card], wanted: Sequence[Selecting]) -> None:
        self._cards = cards
        self._router = self._found("router", wanted, _router)
        self._ranker = self._found("ranker", wanted, _ranker)
        self._unsure = next(
            (one.unsure for one in wanted if one.role == "ranker"),
            Unsure(below=0.0),
        )
        names = {card.name for card in cards}
        if (skill := self._unsure.skill) is not None and skill not in names:
            raise ConfigError(f"no skill is called {skill!r}", key="response_selector.unsure.then")

    def made(self, service: Service) -> Service:
        """Give a service with its selector as the target."""
        target: object = service.target
        if not isinstance(target, Selecting):
            return service
        if target.role == "router":
            assert self._router is not None
            made: Callable[..., Any] = RoutedSelector(
                self._router,
                self._cards,
                target.budget.made(),
                ranker=self._ranker,
                unsure=self._unsure,
            )
        else:
            assert self._ranker is not None
            made = RankedSelector(
                self._ranker, self._cards, router=self._router, unsure=self._unsure
            )
        return msgspec.structs.replace(service, target=made)

    def _found(
        self,
        role: Role,
        wanted: Sequence[Selecting],
        make: Callable[[Selecting, list[Card]], Method],
    ) -> Method | None:
        for one in wanted:
            if one.role == role:
                check_method(one)
                return make(one, self._cards)
        return None


def _router(selecting: Selecting, cards: list[Card]) -> Router:
    folder = selecting.model
    if folder is None:
        router: Router = _fitted(catalog.load_router(selecting.method)(Training(cards=cards)))
        return router

    def load() -> Ready[Router]:
        loaded = load_router_model(folder, cards)
        return Ready(loaded.router, loaded.model.id)

    return KeptRouter(Kept(folder, load))


def _ranker(selecting: Selecting, cards: list[Card]) -> Ranker:
    folder = selecting.model
    if folder is None:
        ranker: Ranker = _fitted(catalog.load_ranker(selecting.method)(Training(cards=cards)))
        return ranker

    def load() -> Ready[Ranker]:
        model = load_model(folder)
        return Ready(catalog.load_reader(model.method, "ranker").of_model(model, cards), model.id)

    return KeptRanker(Kept(folder, load))


def _fitted(method: Any) -> Any:
    if inspect.isawaitable(method):
        raise ConfigError("this method learns from a running service; train it and give its model")
    return method


def _listed(services: Service | Sequence[Service] | None) -> list[Service]:
    if services is None:
        return []
    return [services] if isinstance(services, Service) else list(services)
