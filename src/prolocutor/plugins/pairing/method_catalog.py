"""The routers and rankers by name.

Another package adds its own through an entry point in the group `prolocutor.routers` or
`prolocutor.rankers`, which names a frozen Struct of options with `build(training)`: its fields are
keys beside `router:` or `ranker:`. A `PairingMethod` is taken too, and a function that keeps `Fit`
of the contracts. What each needs is in an attribute `needs`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec

from prolocutor.catalog import Catalog
from prolocutor.contracts.pairing import Card, Fit, Role, TrainingData
from prolocutor.errors import BadInput, ConfigError, ProlocutorError
from prolocutor.plugins.pairing.model_files import Model

Made = TypeVar("Made")
Need = Literal["labels", "encoder", "chat"]

LABELS: Final[frozenset[Need]] = frozenset({"labels"})
ENCODER: Final[frozenset[Need]] = frozenset({"encoder"})
CHAT: Final[frozenset[Need]] = frozenset({"chat"})

_CATALOGS: Final[dict[Role, Catalog[Any]]] = {
    "router": Catalog("router", "prolocutor.routers", key="router", error=BadInput),
    "ranker": Catalog("ranker", "prolocutor.rankers", key="ranker", error=BadInput),
}
_ENCODERS: Final = Catalog[Callable[..., Any]]("encoder", "prolocutor.encoders", key="encoder")
"""Models of texts, made of a folder."""


class PairingMethod(msgspec.Struct, frozen=True, kw_only=True):
    """A router or ranker: how it is made ready, and its needs.

    `fit` is a function, or its dotted name if training needs more libraries than serving.
    `uses` are optional needs. `reader` is the class for reading its models:
    `of_model(model, cards)`, and `of_cards(cards)` where it works by cards before it has a model.
    """

    fit: Fit[Any] | str
    needs: frozenset[Need] = frozenset()
    uses: frozenset[Need] = frozenset()
    reader: Any = None


def methods(role: Role) -> list[str]:
    """Return the names of all routers or rankers, ours and the installed ones."""
    return _CATALOGS[role].names()


def find_method(name: str, role: Role) -> PairingMethod:
    """Return a method; `BadInput` for an unknown name, `MissingExtra` for what is missing."""
    found = _CATALOGS[role].load(name)
    if isinstance(found, PairingMethod):
        return found
    return PairingMethod(
        fit=partial(_built, name, role, found) if hasattr(found, "build") else found,
        needs=frozenset(getattr(found, "needs", ())),
        uses=frozenset(getattr(found, "uses", ())),
        reader=getattr(found, "reader", None),
    )


def _built(name: str, role: Role, options: Any, training: TrainingData) -> Any:
    """Make a method of the defaults of its options."""
    try:
        made = options()
    except TypeError as error:
        what = f"the {role} {name!r} has options without defaults: {error}"
        raise BadInput(f"{what}; it is used from a file that gives them", field=role) from None
    return made.build(training)


def load_fit(name: str, role: Role, options: Any = None) -> Fit[Any]:
    """Return the function that trains a method, with `options` bound to it if it has any.

    Raise `MissingExtra` for a missing library.
    """
    if options is not None:
        build: Fit[Any] = options.build
        return build
    fit = find_method(name, role).fit
    if not isinstance(fit, str):
        return fit
    found: Fit[Any] = _CATALOGS[role].load_part(name, fit)
    return found


def load_reader(name: str, role: Role) -> Any:
    """Return the class for reading a method's models; raise `ConfigError` if it has no models."""
    reader = find_method(name, role).reader
    if reader is None:
        raise ConfigError(f"the {role} {name!r} needs no training and has no model", key="model")
    return reader


def read_method(model: Model, role: Role, cards: Sequence[Card], folder: Path) -> Any:
    """Return the router or ranker of a model; raise `ConfigError` if its content does not fit.

    A model whose checksums agree may still be made by hand.
    """
    try:
        reader = load_reader(model.method, role)
    except BadInput as error:
        raise ConfigError(str(error), file=str(folder)) from None
    try:
        return reader.of_model(model, cards)
    except ProlocutorError:
        raise
    except Exception as error:
        what = f"holds no model of the {role} {model.method!r}: {type(error).__name__}: {error}"
        raise ConfigError(what[:500], file=str(folder)) from error


def load_encoder(folder: str | Path) -> Any:
    """Return the encoder of a folder in ONNX's format; `MissingExtra` for what is missing."""
    return _ENCODERS.load("onnx")(folder)


async def await_result(found: Made | Awaitable[Made]) -> Made:
    """Return the result of a method, awaited if the method is async."""
    return await found if isawaitable(found) else found


def starts_unlearned(name: str, role: Role) -> bool:
    """Return whether a method that learns from labels works by cards alone until then."""
    return hasattr(find_method(name, role).reader, "of_cards")


def method_needs(name: str, role: Role) -> frozenset[Need]:
    """Return the needs of a router or ranker beside cards."""
    return find_method(name, role).needs
