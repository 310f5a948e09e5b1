"""The settings of routers and rankers in a file, and their checks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

import msgspec
from msgspec import Meta

from prolocutor.bounds import Cost, Count, Share, about
from prolocutor.contracts.pairing import Role
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Call, PendingTarget, Service
from prolocutor.plugins.pairing import method_catalog
from prolocutor.plugins.pairing.abstention import AbstentionRule
from prolocutor.plugins.pairing.budget import (
    AskAll,
    BudgetPolicy,
    Capped,
    ExpectedGain,
    Hedged,
    TopK,
    UntilSure,
)
from prolocutor.plugins.pairing.encoders.meanings import check_encoder
from prolocutor.plugins.pairing.method_catalog import Need
from prolocutor.plugins.pairing.model_files import is_vacant, load_model
from prolocutor.plugins.pairing.risk_curve import stored_risk_curve

_SHORT: Final = re.compile(r"(top|sure|gain):\s?(\d*\.?\d+)")
_VALUES: Final = {"top": "calls", "sure": "sure", "gain": "per_call"}
_SURE, _GAIN = UntilSure(), ExpectedGain()


class BudgetSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The calls allowed to a turn; None is the policy's default."""

    expected: ClassVar[str] = "a budget ({policy: ...})"

    policy: Annotated[
        Literal["all", "top", "sure", "gain"],
        about(
            "`all`: call all agents at once. `top`: call the `calls` likeliest. `sure`: call"
            " `start` at once and then one by one until an answer is right with probability `sure`."
            " `gain`: call the agents of the largest expected gain for their cost."
        ),
    ] = "sure"
    calls: Annotated[
        Count | None,
        about(f"The most calls of a turn; by default no limit, of `top` {TopK().k}.", unit="calls"),
    ] = None
    price: Annotated[
        Cost | None,
        about("The most that a turn may cost, in the currency of the cards; by default no limit."),
    ] = None
    start: Annotated[
        Count | None,
        about(
            f"Calls that are made at once; by default {_SURE.start} with `sure`, {_GAIN.start} with"
            " `gain`.",
            unit="calls",
        ),
    ] = None
    sure: Annotated[
        Share | None,
        about(
            "The probability of being right from which an answer ends the calls; by default"
            f" {_SURE.sure} with `sure`, {_GAIN.sure} with `gain`."
        ),
    ] = None
    value: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        about(f"`gain`: the value of a right answer; by default {_GAIN.value:g}."),
    ] = None
    per_call: Annotated[
        Cost | None,
        about(f"`gain`: the cost of a call beside its price; by default {_GAIN.per_call:g}."),
    ] = None
    per_second: Annotated[
        Cost | None,
        about(f"`gain`: the cost of a second of waiting; by default {_GAIN.per_second:g}."),
    ] = None
    hedge: Annotated[
        bool,
        about("Call slow agents at once where later is too late, by the cards' `latency`."),
    ] = False

    @classmethod
    def from_short(cls, value: object) -> dict[str, Any]:
        """Return the settings of a short form: `all`, `top:3`, `sure:0.3`, `gain:0.02`."""
        if not isinstance(value, str):
            raise ValueError(cls.expected)
        if value.strip() == "all":
            return {"policy": "all"}
        found = _SHORT.fullmatch(value.strip())
        if found is None:
            raise ValueError("a budget: a map, all, top:3, sure:0.3 or gain:0.02")
        number = float(found[2])
        return {
            "policy": found[1],
            _VALUES[found[1]]: int(number) if number.is_integer() else number,
        }

    def made(self) -> BudgetPolicy:
        """Return the policy of these settings."""
        policy = self._policy()
        if self.hedge:
            policy = Hedged(policy)
        if self.price is not None or (self.calls is not None and self.policy != "top"):
            policy = Capped(policy, most=self.calls, price=self.price)
        return policy

    def _policy(self) -> BudgetPolicy:
        match self.policy:
            case "all":
                return AskAll()
            case "top":
                return TopK() if self.calls is None else TopK(self.calls)
            case "sure":
                return UntilSure(**self._given_values("sure", "start"))
        return ExpectedGain(
            **self._given_values("value", "per_call", "per_second", "sure", "start")
        )

    def _given_values(self, *names: str) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}


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


class RouterSettings(SelectorSettings, frozen=True, kw_only=True):
    """The settings of a router."""

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
    budget: Annotated[BudgetSettings, about("How many agents are asked.")] = BudgetSettings()


class RankerSettings(SelectorSettings, frozen=True, kw_only=True):
    """The settings of a ranker."""

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


_ASKING: Final = 0.75
"""The share of its time-out that a selector may spend on an external model."""

_USUAL: Final = _ASKING * Service("", "").timeout


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
    if isinstance(selecting, RankerSettings) and selecting.rule.error is not None:
        _check_error(selecting)
    _check_model(selecting, needs)


def _check_error(ranker: RankerSettings) -> None:
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
