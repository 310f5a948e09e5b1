"""What a file says of a router or ranker, and whether it can be made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from prolocutor.bounds import Cost, Count, Share
from prolocutor.contracts.pairing import Ranker
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Addressed, PendingTarget, Service
from prolocutor.plugins.pairing import method_catalog
from prolocutor.plugins.pairing.abstention import AbstentionRule
from prolocutor.plugins.pairing.budget import (
    AskAll,
    BudgetPolicy,
    Capped,
    ExpectedGain,
    Hedged,
    TopK,
    TryingOut,
    UntilSure,
)
from prolocutor.plugins.pairing.encoders.encoder_wiring import check_encoder
from prolocutor.plugins.pairing.hints.turn_hints import HintSettings
from prolocutor.plugins.pairing.loss_curve import LossCurve, loss_curve_of
from prolocutor.plugins.pairing.loss_policy import LossBudget
from prolocutor.plugins.pairing.method_catalog import Need, Role
from prolocutor.plugins.pairing.model_files import load_model
from prolocutor.plugins.pairing.model_reloading import MethodSource
from prolocutor.plugins.pairing.question_agent.newcomers import NewcomerSettings


class BudgetSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How many calls a turn may cost. None: the default of the policy itself.

    `policy`: `all` are asked at once; `top`, the `calls` likeliest; `sure`, `start` at once and
    then one by one until an answer is right with `sure`; `gain`, those that promise the largest
    gain for their cost, while a right answer is worth `value` and a second `per_second`; `loss`,
    two at once and then one by one until stopping surely loses no more than the share `loss` of
    right answers against asking all. `calls` and `price` bound a turn. `hedge`: agents too slow to
    be asked later are asked at once.
    """

    policy: Literal["all", "top", "sure", "gain", "loss"] = "sure"
    calls: Count | None = None
    price: Cost | None = None
    start: Count | None = None
    sure: Share | None = None
    value: Annotated[float, Meta(gt=0)] | None = None
    per_call: Cost | None = None
    per_second: Cost | None = None
    loss: Annotated[float, Meta(gt=0, le=1)] | None = None
    hedge: bool = False

    def made(self, ranker: MethodSource[Ranker] | None = None) -> BudgetPolicy:
        """Return the policy that this describes; `ranker` is what `loss` needs."""
        policy = self._policy(ranker)
        if self.hedge:
            policy = Hedged(policy)
        if self.policy != "top":  # which asks a fixed number: a new agent has to be among them
            policy = TryingOut(policy)
        if self.price is not None or (self.calls is not None and self.policy != "top"):
            policy = Capped(policy, most=self.calls, price=self.price)
        return policy

    def _policy(self, ranker: MethodSource[Ranker] | None) -> BudgetPolicy:
        if self.loss is not None and ranker is not None:
            return LossBudget(ranker, self.loss)
        match self.policy:
            case "all":
                return AskAll()
            case "top":
                return TopK() if self.calls is None else TopK(self.calls)
            case "sure":
                return UntilSure(**self._given("sure", "start"))
        return ExpectedGain(**self._given("value", "per_call", "per_second", "sure", "start"))

    def _given(self, *names: str) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


class SelectorSettings(PendingTarget, frozen=True, kw_only=True):
    """A selector by pairing as a file describes it, the `target` of its service until it is made.

    `connector` and `endpoint` reach the model that a method asks, if it asks one; `encoder` is the
    folder of one that runs in this process. `seconds` bounds a call of a model if given. `hints`: a
    router that learns online learns from what people do too.
    """

    role: Role
    method: str
    model: Path | None = None
    connector: str | None = None
    endpoint: Addressed | None = None
    encoder: Path | None = None
    seconds: float | None = None
    budget: BudgetSettings = BudgetSettings()
    hints: HintSettings | None = None
    newcomers: NewcomerSettings = NewcomerSettings()
    unsure: AbstentionRule = AbstentionRule(below=0.0)

    def within(self, timeout: float | None) -> SelectorSettings:
        """Return the same with the time of an endpoint that this time-out of the service leaves."""
        if timeout is None:
            return self
        return msgspec.structs.replace(self, seconds=_ASKING * timeout)

    @property
    def encoding_seconds(self) -> float:
        """How long an encoder may take; methods that chat have their own."""
        return _USUAL if self.seconds is None else self.seconds


_ASKING: Final = 0.75
"""The share of its time-out in which a selector may ask a model; then it does without."""

_USUAL: Final = _ASKING * Service("", "").timeout


def check_method(selecting: SelectorSettings) -> None:
    """Raise `ConfigError` or `BadInput` if a method cannot be used: its name or model is wrong."""
    role, method = selecting.role, selecting.method
    named = method_catalog.method_of(method, role)
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
    if selecting.hints is not None and not starts_without_model(selecting):
        what = f"the {role} {method!r} does not learn while it serves"
        hint = "hints need router: knn, ensemble or embedding, and model: FOLDER"
        raise ConfigError(f"{what}; {hint}", key="hints")
    _check_model(selecting, needs)


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
    if starts_without_model(selecting) and not selecting.model.exists():
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
    return hasattr(method_catalog.method_of(selecting.method, "router").reader, "learn_all")


def check_loss(router: SelectorSettings, ranker: SelectorSettings | None) -> LossCurve | None:
    """Raise `ConfigError` if a budget wants a loss that the ranker's model does not know.

    Return the curve of a model that does; None where no loss is wanted, or the model is missing.
    """
    if router.budget.loss is None:
        return None
    if ranker is None or ranker.model is None:
        what = "a budget of a wanted loss needs response_selector: {ranker: ..., model: FOLDER}"
        raise ConfigError(f"{what}; {_TRAINED_WITH}")
    if not ranker.model.exists():
        return None
    model = load_model(ranker.model)
    if (curve := loss_curve_of(model)) is None:
        what = f"the model {model.id} was not trained with what a budget of a wanted loss needs"
        raise ConfigError(f"{what}; {_TRAINED_WITH}")
    return curve


_TRAINED_WITH: Final = (
    "prolocutor train ranker --data KIND:PATH --out FOLDER --loss-budget makes such a model"
)
