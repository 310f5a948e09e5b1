"""Fitting: routers and rankers made ready by name, and priors of routers that have not learned from
the question they judge."""

from __future__ import annotations

from collections.abc import Awaitable
from inspect import isawaitable
from typing import Any, Final, Literal, TypeVar

import msgspec

from prolocutor.contracts.pairing import (
    Complete,
    Encoder,
    Fit,
    Labelled,
    PairScorer,
    Ranker,
    Router,
    Training,
)
from prolocutor.pairing.catalog import load_ranker, load_router, needs_of
from prolocutor.pairing.groups import folds_of, near_duplicates

Made = TypeVar("Made")
Method = TypeVar("Method", Router, Ranker)
Priors = list[dict[str, float]]
Role = Literal["router", "ranker"]

_LABELS: Final = "labels"


class PairingModels(msgspec.Struct, frozen=True, kw_only=True):
    """Models of others that some methods need."""

    encoder: Encoder | None = None
    pair_scorer: PairScorer | None = None
    complete: Complete | None = None

    def training(self, **more: Any) -> Training:
        """Make what a method is made ready from, with these models."""
        return Training(
            encoder=self.encoder, pair_scorer=self.pair_scorer, complete=self.complete, **more
        )


NO_MODELS: Final = PairingModels()


def needs_no_labels(name: str, role: Role) -> bool:
    """Return whether a router or ranker does without labels, so that it is shown none."""
    return _LABELS not in needs_of(name, role)


async def fitted_router(name: str, training: Training) -> Router:
    """Make a router ready; one that does without labels is shown none."""
    return await _fitted(load_router(name), needs_no_labels(name, "router"), training)


async def fitted_ranker(name: str, training: Training) -> Ranker:
    """Make a ranker ready; one that does without labels is shown none."""
    return await _fitted(load_ranker(name), needs_no_labels(name, "ranker"), training)


async def unseen_priors(name: str, training: Training, folds: int) -> Priors:
    """Return the probabilities of a router that has not learned from the question nor from a near
    duplicate of it, for each of `training.labelled` that has answers; {} for the others."""
    labelled = training.labelled
    priors: Priors = [{} for _ in labelled]
    if not any(one.answers for one in labelled):
        return priors
    dealt = folds_of(near_duplicates([one.question.text for one in labelled]), folds, training.seed)
    for fold in sorted(set(dealt)):
        known = [one for one, its in zip(labelled, dealt, strict=True) if its != fold]
        router = await fitted_router(name, msgspec.structs.replace(training, labelled=known))
        for place, one in enumerate(labelled):
            if dealt[place] == fold and one.answers:
                priors[place] = await probabilities(router, one)
    return priors


async def probabilities(router: Router, one: Labelled) -> dict[str, float]:
    """Return a router's probabilities for a question."""
    return {pair.agent: pair.probability for pair in await settled(router.route(one.question))}


async def settled(found: Made | Awaitable[Made]) -> Made:
    """Return what was found, waited for where it is by somebody who had to wait."""
    return await found if isawaitable(found) else found


async def _fitted(fit: Fit[Method], free: bool, training: Training) -> Method:
    if free:
        bare: dict[str, Any] = {"agents": {}, "gold": frozenset()}
        labelled = [msgspec.structs.replace(one, **bare) for one in training.labelled]
        training = msgspec.structs.replace(training, labelled=labelled)
    return await settled(fit(training))
