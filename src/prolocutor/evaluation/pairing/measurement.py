"""Measuring: every router, ranker and budget on the same questions, with honest folds.

What reads a response is never trained on a question that it is scored on, nor on a near duplicate
of it. Routers learn from what is there to learn from apart; where there is none, by folds too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import (
    Answer,
    Labelled,
    Pairing,
    Ranker,
    Router,
    Training,
)
from prolocutor.evaluation.pairing.baselines import (
    SentenceBm25,
    best_single,
    by_chance,
    first_answer,
    nearest_answer,
    surest_answer,
)
from prolocutor.evaluation.pairing.budgets import policy_of, spend
from prolocutor.evaluation.pairing.fitting import (
    NO_MODELS,
    PairingModels,
    Priors,
    fitted_ranker,
    fitted_router,
    needs_no_labels,
    settled,
    unseen_priors,
)
from prolocutor.evaluation.pairing.method_rows import (
    BootstrapSamples,
    MethodChoice,
    MethodRow,
    PairingStage,
    row_of,
)
from prolocutor.evaluation.pairing.pairing_data import PairingData, checked
from prolocutor.evaluation.pairing.published import PublishedResult, published_for
from prolocutor.pairing.groups import folds_of, near_duplicates

_FREE: Final = "cards"
_SHOWN: Final = 3


class MeasurementPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is measured. The first router gives rankers and budgets their priors; those that do
    without labels get them from cards alone.

    `permuted` deals the labels out to the questions anew: whatever is then better than the best
    single agent has seen what it should not.
    """

    routers: list[str]
    rankers: list[str] = []
    budgets: list[str] = []
    folds: int = 5
    seed: int = 0
    permuted: bool = False


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """All that was found. `choices` by stage and method stand in the order of `questions`."""

    data: str
    n: int
    learned: int
    answerable: int
    groups: int
    folds: int
    seed: int
    rows: list[MethodRow]
    published: list[PublishedResult]
    questions: list[Labelled]
    choices: dict[tuple[PairingStage, str], list[MethodChoice]]


async def measure(
    data: PairingData,
    plan: MeasurementPlan,
    *,
    models: PairingModels = NO_MODELS,
    told: Callable[[str], None] = lambda _: None,
) -> Measurement:
    """Measure all that is planned; `told` hears what is done next."""
    data = _permuted(checked(data), plan.seed) if plan.permuted else checked(data)
    bench = _Measuring(data, plan, models, told)
    await bench.run()
    return Measurement(
        data=data.name,
        n=len(data.cards),
        learned=len(data.learn),
        answerable=sum(bool(one.gold) for one in data.test),
        groups=len(set(bench.groups)),
        folds=plan.folds,
        seed=plan.seed,
        rows=bench.rows,
        published=published_for(len(data.cards)) if data.published else [],
        questions=data.test,
        choices=bench.choices,
    )


class _Measuring:
    """One measuring: the folds, what was fitted in each, and the rows so far."""

    def __init__(
        self,
        data: PairingData,
        plan: MeasurementPlan,
        models: PairingModels,
        told: Callable[[str], None],
    ) -> None:
        self._data, self._plan, self._models, self._told = data, plan, models, told
        self._prices = {card.name: card.price for card in data.cards}
        texts = [one.question.text for one in data.test]
        self.groups = near_duplicates(texts)
        self._folds = folds_of(self.groups, plan.folds, plan.seed)
        answerable = [g for g, one in zip(self.groups, data.test, strict=True) if one.gold]
        self._draws = BootstrapSamples(answerable, plan.seed)
        self.rows: list[MethodRow] = []
        self.choices: dict[tuple[PairingStage, str], list[MethodChoice]] = {}
        self._first: dict[PairingStage, str] = {}
        self._priors: Priors = [{} for _ in data.test]
        self._free: Priors = self._priors

    async def run(self) -> None:
        """Measure baselines, routers, rankers, budgets."""
        self._route_baselines()
        for place, name in enumerate(self._plan.routers):
            self._told(f"router {name}")
            ranked = await self._routed(name)
            if place == 0:
                self._priors = [
                    {one.agent: one.probability for one in pairs} for pairs, _ in ranked
                ]
            self._add(name, "route", [self._choice(n, *one) for n, one in enumerate(ranked)])
        if not self._data.has_answers:
            return
        self._rank_baselines()
        if _has_cards(self._data):
            self._free = _probabilities(await self._routed(_FREE))
        for place, name in enumerate(self._plan.rankers):
            self._told(f"ranker {name}")
            rankers = await self._fitted_rankers(name)
            priors = self._priors_for(name)
            self._add(name, "rank", await self._ranked(rankers, priors))
            if place == len(self._plan.rankers) - 1:
                for budget in self._plan.budgets:
                    self._told(f"budget {budget}")
                    await self._budgeted(name, budget, rankers, priors)

    def _route_baselines(self) -> None:
        test, agents = self._data.test, self._data.agents
        self._add("random", "route", [by_chance(one, agents) for one in test])
        singles = {fold: best_single(self._known(fold), agents) for fold in range(self._plan.folds)}
        chosen = [singles[fold] for fold in self._folds]
        self._add("best single agent", "route", self._choices(chosen))
        if _has_cards(self._data):
            plain = SentenceBm25(self._data.cards)
            chosen = [plain.choose(one.question) for one in test]
            self._add("cards, plain BM25", "route", self._choices(chosen))

    def _rank_baselines(self) -> None:
        test, agents = self._data.test, self._data.agents
        everybody = [self._asked(place) for place in range(len(test))]
        first = [
            self._made(place, first_answer(one, agents), [everybody[place]])
            for place, one in enumerate(test)
        ]
        self._add("everybody, first answer", "rank", first)
        if any(call.confidence is not None for one in test for call in one.calls.values()):
            surest = [
                self._made(place, surest_answer(one, agents), [everybody[place]])
                for place, one in enumerate(test)
            ]
            self._add("everybody, highest confidence", "rank", surest)
        found = []
        for place, one in enumerate(test):
            start = perf_counter()
            answers = self._answers(place)
            agent = nearest_answer(one.question, answers) if answers else agents[0]
            spent = perf_counter() - start
            found.append(self._made(place, agent, [everybody[place]], seconds=spent))
        self._add("answers, plain BM25", "rank", found)

    def _known(self, fold: int) -> list[Labelled]:
        """Return what routers may learn from when they are to choose for a fold."""
        if self._data.learn:
            return self._data.learn
        return [one for one, its in zip(self._data.test, self._folds, strict=True) if its != fold]

    async def _routed(self, name: str) -> list[tuple[Sequence[Pairing], float]]:
        routers: dict[int, Router] = {}
        for fold in sorted(set(self._folds)):
            if fold and self._data.learn:
                routers[fold] = routers[0]
            else:
                routers[fold] = await fitted_router(name, self._training(self._known(fold)))
        found = []
        for one, fold in zip(self._data.test, self._folds, strict=True):
            start = perf_counter()
            pairs = await settled(routers[fold].route(one.question))
            found.append((pairs, perf_counter() - start))
        return found

    async def _fitted_rankers(self, name: str) -> dict[int, Ranker]:
        free = needs_no_labels(name, "ranker")
        learned = [] if free else await self._cross_fitted(self._data.learn)
        rankers = {}
        for fold in sorted(set(self._folds)):
            others = [place for place, its in enumerate(self._folds) if its != fold]
            known = [self._data.test[place] for place in others]
            if free:
                priors = []
            elif self._data.learn:
                priors = [self._priors[place] for place in others]
            else:
                priors = await self._cross_fitted(known)
            training = self._training([*self._data.learn, *known], [*learned, *priors])
            rankers[fold] = await fitted_ranker(name, training)
        return rankers

    async def _cross_fitted(self, labelled: Sequence[Labelled]) -> Priors:
        """Return priors of questions with answers from routers that have not learned from them."""
        if not self._plan.routers:
            return [{} for _ in labelled]
        training = self._training(labelled)
        return await unseen_priors(self._plan.routers[0], training, self._plan.folds)

    def _training(self, labelled: Sequence[Labelled], priors: Priors | None = None) -> Training:
        return self._models.training(
            cards=self._data.cards, labelled=labelled, priors=priors or [], seed=self._plan.seed
        )

    def _priors_for(self, ranker: str) -> Priors:
        return self._free if needs_no_labels(ranker, "ranker") else self._priors

    async def _ranked(self, rankers: Mapping[int, Ranker], priors: Priors) -> list[MethodChoice]:
        found = []
        for place, one in enumerate(self._data.test):
            answers = self._answers(place)
            start = perf_counter()
            ranker = rankers[self._folds[place]]
            pairs = await settled(ranker.rank(one.question, answers, priors[place]))
            spent = perf_counter() - start
            found.append(self._choice(place, pairs, spent, [self._asked(place)]))
        return found

    async def _budgeted(
        self, name: str, budget: str, rankers: Mapping[int, Ranker], priors: Priors
    ) -> None:
        policy = policy_of(budget)
        found = []
        for place, one in enumerate(self._data.test):
            ranker, prior = rankers[self._folds[place]], priors[place]
            answers = {answer.agent: answer for answer in self._answers(place)}

            async def rank(
                called: Sequence[str], place: int = place, ranker: Ranker = ranker
            ) -> Sequence[Pairing]:
                known = [one for one in self._answers(place) if one.agent in called]
                question = self._data.test[place].question
                return await settled(ranker.rank(question, known, priors[place]))

            start = perf_counter()
            steps, pairs = await spend(policy, self._data.cards, prior, [*answers], rank)
            spent = perf_counter() - start
            found.append(self._choice(place, pairs, spent, steps))
        self._add(f"{name}, {budget}", "budget", found, against=name)

    def _answers(self, place: int) -> list[Answer]:
        given = self._data.test[place].answers
        return [Answer(agent=one, text=given[one]) for one in self._data.agents if one in given]

    def _asked(self, place: int) -> list[str]:
        """Name who was asked a question, with or without an answer."""
        one = self._data.test[place]
        return [*(one.calls or one.answers)]

    def _choices(self, agents: Sequence[str]) -> list[MethodChoice]:
        return [self._made(place, agent, [[agent]]) for place, agent in enumerate(agents)]

    def _made(
        self, place: int, agent: str, steps: Sequence[Sequence[str]], **more: Any
    ) -> MethodChoice:
        """Make a choice after asking step by step."""
        one = self._data.test[place]
        asked = [agent for step in steps for agent in step]
        return MethodChoice(
            agent=agent,
            right=float(agent in one.gold),
            called=len(asked),
            cost=self._cost(one, asked),
            wait=_wait(one, steps),
            **more,
        )

    def _choice(
        self,
        place: int,
        pairs: Sequence[Pairing],
        seconds: float,
        steps: Sequence[Sequence[str]] | None = None,
    ) -> MethodChoice:
        """Make a choice of the best pairing; without steps its agent alone is asked."""
        if not pairs:
            return self._made(place, "", steps or (), seconds=seconds, probability=0.0)
        shown = tuple((one.agent, round(one.probability, 4)) for one in pairs[:_SHOWN])
        best = pairs[0]
        return self._made(
            place,
            best.agent,
            [[best.agent]] if steps is None else steps,
            seconds=seconds,
            probability=best.probability,
            ranked=shown,
        )

    def _cost(self, one: Labelled, asked: Sequence[str]) -> float | None:
        """Return what was paid, by the cards where that is not recorded."""
        paid = (one.calls[name].price if name in one.calls else None for name in asked)
        prices = [
            self._prices.get(name) if price is None else price
            for name, price in zip(asked, paid, strict=True)
        ]
        known = [price for price in prices if price is not None]
        return sum(known) if known else None

    def _add(
        self,
        method: str,
        stage: PairingStage,
        choices: list[MethodChoice],
        against: str | None = None,
    ) -> None:
        """Add a row; paired with the whole it is a part of, else with the stage's best baseline."""
        self.choices[stage, method] = choices
        than = against or self._first.get(stage)
        whole: PairingStage = "rank" if stage == "budget" else stage
        other = (than, self.choices[whole, than]) if than is not None else None
        row = row_of(method, stage, self._data.test, choices, self._draws, other)
        self.rows.append(row)
        if all(made.probability is None for made in choices):
            bar = self._first.get(stage)
            before = next(
                (
                    one.precision_at_1
                    for one in self.rows
                    if (one.stage, one.method) == (stage, bar)
                ),
                0.0,
            )
            if row.precision_at_1 >= before:
                self._first[stage] = method


def _has_cards(data: PairingData) -> bool:
    return any(card.description or card.examples for card in data.cards)


def _probabilities(ranked: Sequence[tuple[Sequence[Pairing], float]]) -> Priors:
    return [{one.agent: one.probability for one in pairs} for pairs, _ in ranked]


def _permuted(data: PairingData, seed: int) -> PairingData:
    chance = random.Random(seed)

    def dealt(labelled: Sequence[Labelled]) -> Iterator[Labelled]:
        labels = [(one.agents, one.gold) for one in labelled]
        chance.shuffle(labels)
        for one, (agents, gold) in zip(labelled, labels, strict=True):
            yield msgspec.structs.replace(one, agents=agents, gold=gold)

    return msgspec.structs.replace(data, learn=[*dealt(data.learn)], test=[*dealt(data.test)])


def _wait(one: Labelled, steps: Sequence[Sequence[str]]) -> float | None:
    """Return the seconds that the steps took, each as long as its slowest agent."""
    if not one.calls:
        return None
    return sum(
        max((one.calls[name].seconds for name in step if name in one.calls), default=0.0)
        for step in steps
    )
