"""Fitting: routers and rankers prepared by name, and by folds."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import (
    Complete,
    Encoder,
    LabelledQuestion,
    Ranker,
    Role,
    Router,
    TrainingData,
)
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.method_catalog import await_result, load_fit, method_needs
from prolocutor.reading.words import near_duplicates

Priors = list[dict[str, float]]

_LABELS: Final = "labels"
_MOST_AT_ONCE: Final = 4


def deal_folds(groups: Sequence[int], number: int, seed: int = 0) -> list[int]:
    """Deal whole groups out to the folds 0 .. number - 1, evenly, at random."""
    sizes = Counter(groups)
    order = sorted(sizes)
    random.Random(seed).shuffle(order)
    filled = [0] * number
    fold: dict[int, int] = {}
    for group in sorted(order, key=lambda one: -sizes[one]):
        fold[group] = min(range(number), key=filled.__getitem__)
        filled[fold[group]] += sizes[group]
    return [fold[group] for group in groups]


class PairingModels(msgspec.Struct, frozen=True, kw_only=True):
    """External models of methods."""

    encoder: Encoder | None = None
    complete: Complete | None = None

    def training(self, **more: Any) -> TrainingData:
        """Return the training data of a method, with these models."""
        return TrainingData(encoder=self.encoder, complete=self.complete, **more)


NO_MODELS: Final = PairingModels()


class Folding(msgspec.Struct, frozen=True, kw_only=True):
    """How methods are fitted by folds.

    At most `at_once` folds are fitted at the same time, as each takes memory. `on_fold` is called
    with a text when a method has learned for a fold.
    """

    at_once: int = _MOST_AT_ONCE
    on_fold: Callable[[str], None] = lambda _: None

    @property
    def number_at_once(self) -> int:
        """How many folds are fitted at the same time here."""
        return max(1, min(os.cpu_count() or 1, _MOST_AT_ONCE, self.at_once))


NO_FOLDING: Final = Folding()


def needs_no_labels(name: str, role: Role) -> bool:
    """Return whether a router or ranker works without labels."""
    return _LABELS not in method_needs(name, role)


async def fit_method(role: Role, name: str, training: TrainingData) -> Any:
    """Return a fitted router or ranker; a method that works without labels gets no labels."""
    if needs_no_labels(name, role):
        bare: dict[str, Any] = {"agents": {}, "gold": frozenset()}
        labelled = [msgspec.structs.replace(one, **bare) for one in training.labelled]
        training = msgspec.structs.replace(training, labelled=labelled, priors=[])
    return await await_result(await asyncio.to_thread(load_fit(name, role), training))


async def unseen_priors(name: str, training: TrainingData, folds: int) -> Priors:
    """Return the probabilities of a router that has not learned from the question nor from a near
    duplicate of it, for each of `training.labelled` that has answers; {} for the others."""
    labelled = training.labelled
    priors: Priors = [{} for _ in labelled]
    if not any(one.answers for one in labelled):
        return priors
    dealt = deal_folds(
        near_duplicates([one.question.text for one in labelled]), folds, training.seed
    )
    for fold in sorted(set(dealt)):
        known = [one for one, its in zip(labelled, dealt, strict=True) if its != fold]
        router = await fit_method("router", name, msgspec.structs.replace(training, labelled=known))
        for position, one in enumerate(labelled):
            if dealt[position] == fold and one.answers:
                priors[position] = await probabilities(router, one)
    return priors


async def probabilities(router: Router, one: LabelledQuestion) -> dict[str, float]:
    """Return a router's probabilities for a question."""
    return {pair.agent: pair.probability for pair in await await_result(router.route(one.question))}


class FoldedMethods:
    """Routers and rankers fitted once a fold; none has seen a question of its own fold.

    `prior` names the router whose probabilities rankers are given in training. Folds are fitted at
    the same time, as many as there are cores, four at most. `learnable` says of each question
    whether it may be learned from; all may where it is empty.
    """

    def __init__(
        self,
        data: PairingData,
        *,
        prior: str | None,
        folds: int,
        seed: int,
        models: PairingModels,
        folding: Folding = NO_FOLDING,
        learnable: Sequence[bool] = (),
    ) -> None:
        self._data, self._prior, self.models = data, prior, models
        self._learnable = learnable or [True] * len(data.test)
        self._number, self._seed = folds, seed
        self._folding = folding
        self._free = asyncio.Semaphore(folding.number_at_once)
        self.groups = near_duplicates([one.question.text for one in data.test])
        self.folds = deal_folds(self.groups, folds, seed)

    def known(self, fold: int) -> list[LabelledQuestion]:
        """Return the questions for routers to learn from when they choose for a fold."""
        if self._data.sets_apart:
            return self._data.learn
        return self._questions(self._outside(fold))

    def _outside(self, fold: int) -> list[int]:
        """Return the places of the questions to learn from outside a fold."""
        return [
            place
            for place, (its, may) in enumerate(zip(self.folds, self._learnable, strict=True))
            if may and its != fold
        ]

    def _questions(self, places: Sequence[int]) -> list[LabelledQuestion]:
        return [self._data.test[place] for place in places]

    async def routers(self, name: str) -> list[Router]:
        """Return for every question a router that has not seen it."""
        folds = sorted(set(self.folds))
        if self._data.sets_apart:
            router = await self._made("router", name, 0, self._training(self._data.learn))
            routers = dict.fromkeys(folds, router)
        else:
            made = (
                self._made("router", name, fold, self._training(self.known(fold))) for fold in folds
            )
            routers = dict(zip(folds, await asyncio.gather(*made), strict=True))
        return [routers[fold] for fold in self.folds]

    async def rankers(self, name: str, priors: Priors) -> list[Ranker]:
        """Return for every question a ranker that has not seen it.

        `priors` are those of the questions, each by a router that has not seen it.
        """
        free = needs_no_labels(name, "ranker")
        learned = [] if free else await self._unseen_priors(self._data.learn)
        folds = sorted(set(self.folds))

        async def made(fold: int) -> Ranker:
            places = self._outside(fold)
            own = [] if free else [*learned, *(priors[place] for place in places)]
            training = self._training([*self._data.learn, *self._questions(places)], own)
            ranker: Ranker = await self._made("ranker", name, fold, training)
            return ranker

        rankers = dict(zip(folds, await asyncio.gather(*map(made, folds)), strict=True))
        return [rankers[fold] for fold in self.folds]

    async def _made(self, role: Role, name: str, fold: int, training: TrainingData) -> Any:
        """Return a method fitted for a fold."""
        async with self._free:
            made = await fit_method(role, name, training)
        if needs_no_labels(name, role):
            return made
        one_for_all = role == "router" and self._data.sets_apart
        which = "" if one_for_all else f", fold {fold + 1} of {len(set(self.folds))}"
        self._folding.on_fold(f"{role} {name}{which}: learned")
        return made

    async def _unseen_priors(self, labelled: Sequence[LabelledQuestion]) -> Priors:
        if self._prior is None:
            return [{} for _ in labelled]
        return await unseen_priors(self._prior, self._training(labelled), self._number)

    def _training(
        self, labelled: Sequence[LabelledQuestion], priors: Priors | None = None
    ) -> TrainingData:
        return self.models.training(
            cards=self._data.cards, labelled=labelled, priors=priors or [], seed=self._seed
        )
