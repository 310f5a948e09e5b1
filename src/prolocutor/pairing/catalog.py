"""The routers and rankers by name: each is imported when it is first asked for.

A package of somebody else's adds its own through an entry point in the groups `prolocutor.routers`
and `prolocutor.rankers`: name -> a function that keeps `contracts.pairing.Fit`, and what it `needs`
as an attribute of that name.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Literal

import msgspec

from prolocutor.contracts.pairing import Fit, Ranker, Router
from prolocutor.errors import BadInput, ConfigError, MissingExtra

Need = Literal["labels", "encoder", "pair_scorer", "chat"]

ROUTER_GROUP: Final = "prolocutor.routers"
RANKER_GROUP: Final = "prolocutor.rankers"


class Entry(msgspec.Struct, frozen=True):
    """Where a method's `fit` lives, what it needs, and the extra that it is installed by.

    `model` is the class that reads its model: `Class.of_model(model, cards)`.
    """

    target: str
    needs: frozenset[Need] = frozenset()
    extra: str | None = None
    model: str | None = None


_LABELS: Final[frozenset[Need]] = frozenset({"labels"})
_CHAT: Final[frozenset[Need]] = frozenset({"chat"})

_ROUTER: Final = "prolocutor.pairing.question_agent"

ROUTERS: Final = {
    "cards": Entry(f"{_ROUTER}.cards:fit"),
    "knn": Entry(f"{_ROUTER}.knn:fit", _LABELS, model=f"{_ROUTER}.knn:KnnRouter"),
    "linear": Entry(
        f"{_ROUTER}.linear_training:fit", _LABELS, "learn", f"{_ROUTER}.linear:LinearRouter"
    ),
    "ensemble": Entry(
        f"{_ROUTER}.ensemble:fit", _LABELS, "learn", f"{_ROUTER}.ensemble:EnsembleRouter"
    ),
    "embedding": Entry(f"{_ROUTER}.embedding:fit", frozenset({"labels", "encoder"}), "encoder"),
    "llm": Entry(f"{_ROUTER}.llm:fit", _CHAT),
}

_RANKER: Final = "prolocutor.pairing.question_response"

RANKERS: Final = {
    "unsupervised": Entry(
        f"{_RANKER}.unsupervised:fit", model=f"{_RANKER}.unsupervised:Unsupervised"
    ),
    "learned": Entry(
        f"{_RANKER}.learned_training:fit", _LABELS, "learn", f"{_RANKER}.learned:Learned"
    ),
    "ensemble": Entry(
        f"{_RANKER}.ensemble:fit", _LABELS, "learn", f"{_RANKER}.ensemble:EnsembleRanker"
    ),
    "similarity": Entry(f"{_RANKER}.similarity:fit", frozenset({"encoder"})),
    "cross-encoder": Entry(f"{_RANKER}.cross_encoder:fit", frozenset({"labels", "pair_scorer"})),
    "llm": Entry(f"{_RANKER}.llm:fit", _CHAT),
}

_ENCODERS: Final = "prolocutor.pairing.encoders"

ENCODERS: Final = {
    "onnx": Entry(f"{_ENCODERS}.onnx:OnnxEncoder", extra="encoder"),
    "pairs": Entry(f"{_ENCODERS}.onnx:OnnxPairScorer", extra="encoder"),
}
"""The models that are made of a folder: of single texts, and of pairs."""


def routers() -> list[str]:
    """Return the names of all routers, ours and the installed ones."""
    return _names(ROUTERS, ROUTER_GROUP)


def rankers() -> list[str]:
    """Return the names of all rankers, ours and the installed ones."""
    return _names(RANKERS, RANKER_GROUP)


def load_router(name: str) -> Fit[Router]:
    """Return a router's `fit`; `BadInput` for an unknown name, `MissingExtra` for what is
    missing."""
    return _load(name, ROUTERS, ROUTER_GROUP, "router")  # type: ignore[return-value]


def load_ranker(name: str) -> Fit[Ranker]:
    """Return a ranker's `fit`; `BadInput` for an unknown name, `MissingExtra` for what is
    missing."""
    return _load(name, RANKERS, RANKER_GROUP, "ranker")  # type: ignore[return-value]


def load_reader(name: str, which: Literal["router", "ranker"]) -> Any:
    """Return the class that reads a method's models; `ConfigError` if it has none."""
    entry = (ROUTERS if which == "router" else RANKERS).get(name)
    if entry is None or entry.model is None:
        raise ConfigError(f"there is no {which} {name!r} that reads models", key="model")
    group = ROUTER_GROUP if which == "router" else RANKER_GROUP
    return _import(name, msgspec.structs.replace(entry, target=entry.model), group, which)


def load_model_class(name: Literal["onnx", "pairs"]) -> Any:
    """Return the class of an encoder, `Class(folder)`; `MissingExtra` for what is missing."""
    return _import(name, ENCODERS[name], "prolocutor.encoders", "encoder")


def needs_of(name: str, which: Literal["router", "ranker"]) -> frozenset[Need]:
    """Tell what a router or ranker needs beside cards; somebody else's as its `fit.needs` says."""
    ours, group = (ROUTERS, ROUTER_GROUP) if which == "router" else (RANKERS, RANKER_GROUP)
    if name in ours:
        return ours[name].needs
    return frozenset(getattr(_load(name, {}, group, which), "needs", ()))


def _names(ours: dict[str, Entry], group: str) -> list[str]:
    return [*ours, *sorted({point.name for point in entry_points(group=group)} - ours.keys())]


def _load(name: str, ours: dict[str, Entry], group: str, which: str) -> object:
    if name not in ours:
        point = next(iter(entry_points(group=group, name=name)), None)
        if point is None:
            known = _names(ours, group)
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
            raise BadInput(f"there is no {which} {name!r}; {hint}", field=which)
        return point.load()
    return _import(name, ours[name], group, which)


def _import(name: str, entry: Entry, group: str, which: str) -> object:
    try:
        return EntryPoint(name, entry.target, group).load()
    except ImportError as error:
        if entry.extra is None or (error.name or "").startswith("prolocutor"):
            raise
        what = f"the {which} {name} needs {error.name}: pip install 'prolocutor[{entry.extra}]'"
        raise MissingExtra(what, key=which) from None
