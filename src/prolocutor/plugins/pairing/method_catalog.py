"""The routers and rankers by name.

Another package adds its own through an entry point in the group `prolocutor.routers` or
`prolocutor.rankers`: name -> a function that keeps `contracts.pairing.Fit`, with what it needs in
an attribute `needs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.contracts.pairing import Card, Fit, Ranker, Router
from prolocutor.dotted_names import resolve
from prolocutor.errors import BadInput, ConfigError, ProlocutorError
from prolocutor.plugins.pairing.model_files import Model

Need = Literal["labels", "encoder", "pair_scorer", "cross_encoder", "chat"]
Role = Literal["router", "ranker"]


class PairingMethod(msgspec.Struct, frozen=True, kw_only=True):
    """What a method needs, beside the `fit` that its entry point names.

    `model` is the class that reads its model: `Class.of_model(model, cards)`. `uses` is what it can
    learn with and does not need. One that `starts` works by cards before it has a model:
    `Class.of_cards(cards)`.
    """

    needs: frozenset[Need] = frozenset()
    uses: frozenset[Need] = frozenset()
    starts: bool = False
    model: str | None = None


_LABELS: Final[frozenset[Need]] = frozenset({"labels"})
_ENCODED: Final[frozenset[Need]] = frozenset({"encoder"})
_READ: Final[frozenset[Need]] = frozenset({"encoder", "cross_encoder"})
_CHAT: Final[frozenset[Need]] = frozenset({"chat"})

_ROUTER: Final = "prolocutor.plugins.pairing.question_agent"
_RANKER: Final = "prolocutor.plugins.pairing.question_response"

ROUTERS: Final = {
    "cards": PairingMethod(),
    "knn": PairingMethod(needs=_LABELS, uses=_ENCODED, model=f"{_ROUTER}.knn:KnnRouter"),
    "linear": PairingMethod(needs=_LABELS, uses=_ENCODED, model=f"{_ROUTER}.linear:LinearRouter"),
    "ensemble": PairingMethod(
        needs=_LABELS, uses=_ENCODED, model=f"{_ROUTER}.ensemble:EnsembleRouter"
    ),
    "embedding": PairingMethod(
        needs=frozenset({"labels", "encoder"}),
        starts=True,
        model=f"{_ROUTER}.embedding:EmbeddingRouter",
    ),
    "llm": PairingMethod(needs=_CHAT),
}
RANKERS: Final = {
    "unsupervised": PairingMethod(model=f"{_RANKER}.unsupervised:UnsupervisedRanker"),
    "learned": PairingMethod(needs=_LABELS, uses=_READ, model=f"{_RANKER}.learned:LearnedRanker"),
    "ensemble": PairingMethod(
        needs=_LABELS, uses=_READ, model=f"{_RANKER}.ensemble:EnsembleRanker"
    ),
    "similarity": PairingMethod(needs=frozenset({"encoder"})),
    "cross-encoder": PairingMethod(
        needs=frozenset({"labels", "pair_scorer"}),
        model=f"{_RANKER}.cross_encoder:CrossEncoderRanker",
    ),
    "llm": PairingMethod(needs=_CHAT),
}

_ROUTERS: Final = Catalog[Fit[Router]]("router", "prolocutor.routers", key="router", error=BadInput)
_RANKERS: Final = Catalog[Fit[Ranker]]("ranker", "prolocutor.rankers", key="ranker", error=BadInput)
_ENCODERS: Final = Catalog[Callable[..., Any]]("encoder", "prolocutor.encoders", key="encoder")
"""The models of single texts and of pairs, made of a folder; and of pairs, made of a model."""

_FINE_TUNING: Final = Catalog[Callable[..., Any]](
    "fine-tuning", "prolocutor.fine_tuning", key="method"
)


def routers() -> list[str]:
    """Return the names of all routers, ours and the installed ones."""
    return _ROUTERS.names()


def rankers() -> list[str]:
    """Return the names of all rankers, ours and the installed ones."""
    return _RANKERS.names()


def load_router(name: str) -> Fit[Router]:
    """Return a router's `fit`; `BadInput` for an unknown name, `MissingExtra` for what is
    missing."""
    return _ROUTERS.load(name)


def load_ranker(name: str) -> Fit[Ranker]:
    """Return a ranker's `fit`; `BadInput` for an unknown name, `MissingExtra` for what is
    missing."""
    return _RANKERS.load(name)


def load_reader(name: str, which: Role) -> Any:
    """Return the class that reads a method's models; `ConfigError` if it has none."""
    method = (ROUTERS if which == "router" else RANKERS).get(name)
    if method is None or method.model is None:
        what = f"there is no {which} {name!r} that reads models"
        if method is not None:
            what = f"the {which} {name!r} needs no training and has no model"
        raise ConfigError(what, key="model")
    load_router(name) if which == "router" else load_ranker(name)  # its libraries are there
    return resolve(method.model)


def read_method(model: Model, which: Role, cards: Sequence[Card], folder: Path) -> Any:
    """Return the router or ranker of a model; `ConfigError` for content that is none of its method.

    A model whose checksums agree may still be made by hand.
    """
    reader = load_reader(model.method, which)
    try:
        return reader.of_model(model, cards)
    except ProlocutorError:
        raise
    except Exception as error:
        what = f"holds no model of the {which} {model.method!r}: {type(error).__name__}: {error}"
        raise ConfigError(what[:500], file=str(folder)) from error


def load_model_class(name: Literal["onnx", "pairs"]) -> Callable[..., Any]:
    """Return the class of an encoder, `Class(folder)`; `MissingExtra` for what is missing."""
    return _ENCODERS.load(name)


def load_cross_encoder(model: Model) -> Any:
    """Return a cross-encoder as other rankers read it, of its model; `MissingExtra` for what is
    missing, `ConfigError` if it is the model of something else."""
    if (model.role, model.method) != ("ranker", "cross-encoder"):
        what = f"{model.id} is the model of a {model.role} {model.method!r}, not of a cross-encoder"
        raise ConfigError(what, key="cross_encoder")
    made: Any = _ENCODERS.load("crossed")
    return made.of_model(model)


def uses_of(name: str, which: Role) -> frozenset[Need]:
    """Return what a router or ranker can learn with and does not need."""
    found = (ROUTERS if which == "router" else RANKERS).get(name)
    return frozenset() if found is None else found.uses


def starts_unlearned(name: str, which: Role) -> bool:
    """Return whether a method that learns from labels works by cards alone until then."""
    found = (ROUTERS if which == "router" else RANKERS).get(name)
    return found is not None and found.starts


def load_fine_tuning() -> Callable[..., Any]:
    """Return what begins to fine-tune a cross-encoder; `MissingExtra` for what is missing."""
    return _FINE_TUNING.load("cross-encoder")


def needs_of(name: str, which: Role) -> frozenset[Need]:
    """Return what a router or ranker needs beside cards; one of another package's `needs`."""
    ours, catalog = (ROUTERS, _ROUTERS) if which == "router" else (RANKERS, _RANKERS)
    if name in ours:
        return ours[name].needs
    return frozenset(getattr(catalog.load(name), "needs", ()))
