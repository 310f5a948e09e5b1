"""Refitting: a router or ranker fitted again and again on parts of the same material."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from prolocutor.contracts.pairing import AgentAnswer, Pairing, TrainingData
from prolocutor.contracts.training import TrainingOrder
from prolocutor.errors import MissingExtra
from prolocutor.plugins.pairing.budget import UntilSure
from prolocutor.plugins.pairing.measuring.budgets import SUREST, AskedPath, spend
from prolocutor.plugins.pairing.measuring.fitting import (
    Priors,
    fitted_ranker,
    fitted_router,
    needs_no_labels,
    settled,
    unseen_priors,
)
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice
from prolocutor.plugins.pairing.measuring.training_material import Material
from prolocutor.plugins.pairing.method_catalog import load_fit

_PRIOR: Final = "ensemble"
_FREE: Final = "cards"


class Refitting(Protocol):
    """Fits on lessons by their places, and has what it fitted choose."""

    async def fit(self, places: Sequence[int], method: str = "") -> Any:
        """Return a router or ranker that has learned these; `method`, where it is another one."""

    async def choose(self, fitted: Any, place: int) -> Sequence[Pairing]:
        """Return its pairings for the question of a lesson, the best first."""

    async def path(self, fitted: Any, place: int) -> AskedPath:
        """Return a ranker's choices while one agent more is asked step by step; of a router ()."""


async def refitting_of(order: TrainingOrder, material: Material) -> Refitting:
    """Return what fits the method of an order."""
    if order.role == "router":
        return _RouterRefitting(order, material)
    training = TrainingData(cards=material.cards, labelled=material.lessons, seed=order.seed)
    priors = await unseen_priors(prior_of(material), training, order.folds)
    return _RankerRefitting(order, material, priors)


class _RouterRefitting:
    def __init__(self, order: TrainingOrder, material: Material) -> None:
        self._order, self._material = order, material

    async def fit(self, places: Sequence[int], method: str = "") -> Any:
        lessons = [self._material.lessons[place] for place in places]
        training = TrainingData(cards=self._material.cards, labelled=lessons, seed=self._order.seed)
        return await fitted_router(method or self._order.method, training)

    async def choose(self, fitted: Any, place: int) -> Sequence[Pairing]:
        found: Sequence[Pairing] = await settled(
            fitted.route(self._material.lessons[place].question)
        )
        return found

    async def path(self, fitted: Any, place: int) -> AskedPath:
        return ()


class _RankerRefitting:
    def __init__(self, order: TrainingOrder, material: Material, priors: Priors) -> None:
        self._order, self._material, self._priors = order, material, priors

    async def fit(self, places: Sequence[int], method: str = "") -> Any:
        name = method or self._order.method
        free = needs_no_labels(name, "ranker")
        training = TrainingData(
            cards=self._material.cards,
            labelled=[self._material.lessons[place] for place in places],
            priors=[] if free else [self._priors[place] for place in places],
            seed=self._order.seed,
        )
        return await fitted_ranker(name, training)

    async def choose(self, fitted: Any, place: int) -> Sequence[Pairing]:
        return await self._ranked(fitted, place, [*self._material.lessons[place].answers])

    async def path(self, fitted: Any, place: int) -> AskedPath:
        one, found = self._material.lessons[place], []

        def seen(steps: list[list[str]], pairs: Sequence[Pairing]) -> None:
            best = pairs[0] if pairs else Pairing("", 0.0)
            called = sum(map(len, steps))
            right = float(best.agent in one.gold)
            found.append(
                MethodChoice(
                    agent=best.agent, right=right, called=called, probability=best.probability
                )
            )

        async def rank(called: Sequence[str]) -> Sequence[Pairing]:
            return await self._ranked(fitted, place, called)

        policy, cards = UntilSure(sure=SUREST), self._material.cards
        await spend(policy, cards, self._priors[place], [*one.answers], rank, seen)
        return found

    async def _ranked(self, fitted: Any, place: int, agents: Sequence[str]) -> Sequence[Pairing]:
        one = self._material.lessons[place]
        answers = [AgentAnswer(agent=name, text=one.answers[name]) for name in agents]
        found: Sequence[Pairing] = await settled(
            fitted.rank(one.question, answers, self._priors[place])
        )
        return found


def prior_of(material: Material) -> str:
    """Return the router whose probabilities a ranker learns to weigh."""
    if not any(one.gold for one in material.lessons):
        return _FREE
    try:
        load_fit(_PRIOR, "router")
    except MissingExtra:
        return _FREE
    return _PRIOR
