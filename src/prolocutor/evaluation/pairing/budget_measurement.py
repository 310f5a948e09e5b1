"""BudgetMeasurement: what budgets choose on recorded answers, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from prolocutor.contracts.pairing import Pairing, Ranker
from prolocutor.evaluation.pairing.budgets import Rank, policy_of, spend
from prolocutor.evaluation.pairing.choice_scoring import ChoiceScoring
from prolocutor.evaluation.pairing.fitting import Priors, settled
from prolocutor.evaluation.pairing.loss_budget import SUREST, loss_of, within_loss
from prolocutor.evaluation.pairing.method_rows import MethodChoice
from prolocutor.evaluation.pairing.pairing_data import PairingData
from prolocutor.pairing.budget import UntilSure


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
        policy = UntilSure(sure=SUREST) if loss is not None else policy_of(budget)
        paths = []
        for position in range(len(self._data.test)):
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
        if loss is None:
            return [path[-1] for path in paths]
        counted = [bool(one.gold) for one in self._data.test]
        return within_loss(loss, paths, whole, counted, self._folds)

    def _rank(self, position: int, ranker: Ranker, priors: Priors) -> Rank:
        one = self._data.test[position]

        async def rank(called: Sequence[str]) -> Sequence[Pairing]:
            known = [each for each in self._scoring.answers(position) if each.agent in called]
            return await settled(ranker.rank(one.question, known, priors[position]))

        return rank
