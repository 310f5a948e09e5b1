"""BudgetMeasurement: what budgets choose on recorded answers, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from prolocutor.contracts.pairing import Pairing, Ranker
from prolocutor.plugins.pairing.budget import BudgetPolicy, UntilSure
from prolocutor.plugins.pairing.loss_curve import LossCurve
from prolocutor.plugins.pairing.measuring.budgets import Rank, policy_of, spend
from prolocutor.plugins.pairing.measuring.choice_scoring import ChoiceScoring
from prolocutor.plugins.pairing.measuring.fitting import Priors, settled
from prolocutor.plugins.pairing.measuring.loss_budget import (
    SUREST,
    AskedPath,
    curve_of,
    loss_of,
    within_loss,
)
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData


class BudgetMeasurement:
    """Spends budgets on the questions of a test; `folds` are those of its questions."""

    def __init__(self, data: PairingData, scoring: ChoiceScoring, folds: Sequence[int]) -> None:
        self._data, self._scoring, self._folds = data, scoring, folds

    async def choices(
        self,
        budget: str,
        rankers: Sequence[Ranker],
        priors: Priors,
        whole: Sequence[MethodChoice],
    ) -> list[MethodChoice]:
        """Return the choice for every question; `whole` are those after asking all."""
        loss = loss_of(budget)
        everything = range(len(self._data.test))
        if loss is None:
            paths = await self._paths(policy_of(budget), rankers, priors, everything)
            return [path[-1] for path in paths]
        paths = await self._paths(UntilSure(sure=SUREST), rankers, priors, everything)
        counted = [bool(one.gold) for one in self._data.test]
        return within_loss(loss, paths, whole, counted, self._folds)

    async def curve(
        self,
        rankers: Sequence[Ranker],
        priors: Priors,
        whole: Sequence[MethodChoice],
        router: str,
    ) -> LossCurve:
        """Return what stopping costs, over the questions with a right agent."""
        counted = [position for position, one in enumerate(self._data.test) if one.gold]
        paths = await self._paths(UntilSure(sure=SUREST), rankers, priors, counted)
        after = [whole[position] for position in counted]
        return curve_of(list(zip(paths, after, strict=True)), router)

    async def _paths(
        self,
        policy: BudgetPolicy,
        rankers: Sequence[Ranker],
        priors: Priors,
        positions: Sequence[int],
    ) -> list[AskedPath]:
        """Return the choices after each step of asking, for the questions at these positions."""
        paths: list[AskedPath] = []
        for position in positions:
            path: list[MethodChoice] = []
            start = perf_counter()

            def seen(
                steps: list[list[str]],
                pairs: Sequence[Pairing],
                position: int = position,
                path: list[MethodChoice] = path,
                start: float = start,
            ) -> None:
                spent = perf_counter() - start
                path.append(self._scoring.of_pairs(position, pairs, spent, [*steps]))

            answering = [answer.agent for answer in self._scoring.answers(position)]
            rank = self._rank(position, rankers[position], priors)
            await spend(policy, self._data.cards, priors[position], answering, rank, seen)
            paths.append(path or [self._scoring.of_agent(position, "", ())])
        return paths

    def _rank(self, position: int, ranker: Ranker, priors: Priors) -> Rank:
        one = self._data.test[position]

        async def rank(called: Sequence[str]) -> Sequence[Pairing]:
            known = [each for each in self._scoring.answers(position) if each.agent in called]
            return await settled(ranker.rank(one.question, known, priors[position]))

        return rank
