"""Refitting: a router or ranker fitted again and again on parts of the same material."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from prolocutor.contracts.model_use import TrainingOrder
from prolocutor.contracts.pairing import AgentAnswer, Pairing, TrainingData
from prolocutor.errors import MissingExtra
from prolocutor.plugins.pairing.budget import UntilSure
from prolocutor.plugins.pairing.measuring.budgets import SUREST, AskedPath, spend
from prolocutor.plugins.pairing.measuring.fitting import Priors, fitted, settled, unseen_priors
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice
from prolocutor.plugins.pairing.measuring.training_material import Material
from prolocutor.plugins.pairing.method_catalog import load_fit

_PRIOR: Final = "learned"
_FREE: Final = "cards"


class Refitting:
    """Fits on lessons by their places, and has what it fitted choose.

    `priors` are those of a ranker's lessons; of a router's there are none.
    """

    def __init__(self, order: TrainingOrder, material: Material, priors: Priors | None) -> None:
        self._order, self._material, self._priors = order, material, priors

    @classmethod
    async def of(cls, order: TrainingOrder, material: Material) -> Refitting:
        """Return what fits the method of an order."""
        if order.role == "router":
            return cls(order, material, None)
        training = TrainingData(cards=material.cards, labelled=material.lessons, seed=order.seed)
        return cls(order, material, await unseen_priors(prior_of(material), training, order.folds))

    async def fit(self, places: Sequence[int], method: str = "") -> Any:
        """Return a router or ranker that has learned these; `method`, where it is another one."""
        training = TrainingData(
            cards=self._material.cards,
            labelled=[self._material.lessons[place] for place in places],
            priors=[self._priors[place] for place in places] if self._priors else [],
            seed=self._order.seed,
        )
        return await fitted(self._order.role, method or self._order.method, training)

    async def choose(self, method: Any, place: int) -> Sequence[Pairing]:
        """Return its pairings for the question of a lesson, the best first."""
        one = self._material.lessons[place]
        if self._priors is None:
            found: Sequence[Pairing] = await settled(method.route(one.question))
            return found
        return await self._ranked(method, place, [*one.answers])

    async def path(self, ranker: Any, place: int) -> AskedPath:
        """Return a ranker's choices while one agent more is asked step by step; of a router ()."""
        if self._priors is None:
            return ()
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
            return await self._ranked(ranker, place, called)

        policy, cards = UntilSure(sure=SUREST), self._material.cards
        await spend(policy, cards, self._priors[place], [*one.answers], rank, seen)
        return found

    async def _ranked(self, ranker: Any, place: int, agents: Sequence[str]) -> Sequence[Pairing]:
        assert self._priors is not None
        one = self._material.lessons[place]
        answers = [AgentAnswer(agent=name, text=one.answers[name]) for name in agents]
        found: Sequence[Pairing] = await settled(
            ranker.rank(one.question, answers, self._priors[place])
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
