"""The settings of routers and rankers in a file, and their checks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Self

import msgspec

from prolocutor.bounds import about
from prolocutor.contracts.pairing import Role
from prolocutor.errors import ConfigError
from prolocutor.plan.pipeline import Call, PendingTarget, Service
from prolocutor.plugins.pairing import method_catalog
from prolocutor.plugins.pairing.abstention import AbstentionRule
from prolocutor.plugins.pairing.budget import Budget
from prolocutor.plugins.pairing.encoders.meanings import check_encoder
from prolocutor.plugins.pairing.method_catalog import Need
from prolocutor.plugins.pairing.model_files import is_vacant, load_model
from prolocutor.plugins.pairing.risk_curve import stored_risk_curve


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
    budget: Annotated[Budget, about("How many agents are asked.")] = Budget()


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
