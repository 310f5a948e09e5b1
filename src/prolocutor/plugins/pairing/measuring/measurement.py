"""Measurement: every router, ranker and budget on the same questions, beside baselines."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import (
    AgentAnswer,
    Card,
    LabelledQuestion,
    Pairing,
    Ranker,
    UserQuestion,
)
from prolocutor.plugins.pairing.budget import AgentOffer, Budget, BudgetState, read_budget
from prolocutor.plugins.pairing.measuring.fitting import (
    NO_FOLDING,
    NO_MODELS,
    FoldedMethods,
    Folding,
    PairingModels,
    Priors,
    needs_no_labels,
)
from prolocutor.plugins.pairing.measuring.method_rows import (
    BootstrapSamples,
    MethodChoice,
    MethodRow,
    PairingStage,
    mean_row,
    method_row,
)
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData, check_data
from prolocutor.plugins.pairing.method_catalog import await_result
from prolocutor.plugins.pairing.question_agent.cards import documents
from prolocutor.plugins.pairing.text import Bm25, stems

_FREE: Final = "cards"


class ChoiceScoring:
    """Makes choices of agents on the questions of a test, by their number in it."""

    def __init__(self, data: PairingData) -> None:
        self._data = data
        self._prices = {card.name: card.price for card in data.cards}

    def answers(self, position: int) -> list[AgentAnswer]:
        """Return the answers to a question, in the order of the agents."""
        given = self._data.test[position].answers
        return [
            AgentAnswer(agent=one, text=given[one]) for one in self._data.agents if one in given
        ]

    def answering_agents(self, position: int) -> list[str]:
        """Return the agents that answered a question."""
        return [*self._data.test[position].answers]

    async def ask(
        self, position: int, method: Any, prior: Mapping[str, float] | None = None
    ) -> MethodChoice:
        """Return the choice of a router, or of a ranker of all answers, which is given a prior."""
        question = self._data.test[position].question
        start = perf_counter()
        if prior is None:
            pairs = await await_result(method.route(question))
            return self._choose_first(position, pairs, perf_counter() - start, None)
        pairs = await await_result(method.rank(question, self.answers(position), prior))
        return self._choose_first(
            position, pairs, perf_counter() - start, self.answering_agents(position)
        )

    async def ask_within(
        self, position: int, ranker: Ranker, prior: Mapping[str, float], budget: Budget
    ) -> MethodChoice:
        """Return the choice after the last step of a budget; who gives no answer has failed."""
        question, answers = self._data.test[position].question, self.answers(position)
        offers = [
            AgentOffer(
                agent=card.name,
                prior=prior.get(card.name, 0.0),
                price=card.price or 0.0,
                latency=card.latency or 0.0,
            )
            for card in self._data.cards
        ]
        answered: dict[str, float] = {}
        pairs: Sequence[Pairing] = ()
        start = perf_counter()
        while not (step := budget.next(BudgetState(offers=offers, answered=answered))).enough:
            answered |= dict.fromkeys(step.ask, 0.0)
            known = [each for each in answers if each.agent in answered]
            pairs = await await_result(ranker.rank(question, known, prior))
            found = {one.agent: one.probability for one in reversed(pairs)}
            answered = {agent: found.get(agent, 0.0) for agent in answered}
        return self._choose_first(position, pairs, perf_counter() - start, [*answered])

    def choose_agent(self, position: int, agent: str, asked: Sequence[str]) -> MethodChoice:
        """Return the choice of an agent after asking some."""
        return MethodChoice(
            agent=agent,
            right=float(agent in self._data.test[position].gold),
            called=len(asked),
            cost=self._cost(asked),
        )

    def _choose_first(
        self, position: int, pairs: Sequence[Pairing], seconds: float, asked: Sequence[str] | None
    ) -> MethodChoice:
        """Return the choice of the best pairing; if `asked` is None, its agent alone is asked."""
        best = pairs[0] if pairs else Pairing("", 0.0)
        alone = [best.agent] if pairs else []
        return msgspec.structs.replace(
            self.choose_agent(position, best.agent, alone if asked is None else asked),
            seconds=seconds,
            probability=best.probability,
            scores={one.agent: one.probability for one in pairs},
        )

    def _cost(self, asked: Sequence[str]) -> float | None:
        """Return the price of the calls by the cards; None if no price is known."""
        known = [price for name in asked if (price := self._prices.get(name)) is not None]
        return sum(known) if known else None


def choose_by_chance(question: LabelledQuestion, agents: Sequence[str]) -> MethodChoice:
    """Choose any agent; `right` is the expectation."""
    return MethodChoice(agent="", right=len(question.gold & {*agents}) / len(agents), called=1)


def best_single(learned: Sequence[LabelledQuestion], agents: Sequence[str]) -> str:
    """Return the agent with most right answers; the first of equal agents."""
    counts = Counter(agent for one in learned for agent in one.gold)
    return max(agents, key=lambda agent: counts[agent])


def first_answer(question: LabelledQuestion, agents: Sequence[str]) -> str:
    """Return the first agent in order with an answer."""
    given = [agent for agent in agents if question.answers.get(agent, "").strip()]
    return given[0] if given else agents[0]


class SentenceBm25:
    """BM25 between a question and the sentences of cards; the best sentence of each card counts."""

    def __init__(self, cards: Sequence[Card]) -> None:
        self._agents = [card.name for card in cards]
        self._index = Bm25((card.name, stems(text)) for card in cards for text in documents(card))

    def choose(self, question: UserQuestion) -> str:
        """Return the agent of the best sentence; the first agent, if no sentence matches."""
        best = dict.fromkeys(self._agents, 0.0)
        for agent, score in self._index.search(stems(question.text)):
            best[agent] = max(best[agent], score)
        return max(self._agents, key=best.__getitem__)


def nearest_answer(question: UserQuestion, answers: Sequence[AgentAnswer]) -> str:
    """Return the agent whose answer is most similar to the question by BM25 among the answers."""
    index = Bm25((one.agent, stems(one.text)) for one in answers)
    found = dict(index.search(stems(question.text)))
    return max((one.agent for one in answers), key=lambda agent: found.get(agent, 0.0))


class MeasurementPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is measured. The first router gives rankers and budgets their priors.

    Rankers without labels get priors from cards alone. `permuted` assigns the labels to
    other questions at random: a method that is then better than the best single agent has seen what
    it should not.
    """

    routers: list[str]
    rankers: list[str] = []
    budgets: list[str] = []
    folds: int = 5
    seed: int = 0
    permuted: bool = False


class PairingResults(msgspec.Struct, frozen=True, kw_only=True):
    """The figures: `n` agents, counts of questions, `rows` of all methods.

    `learned` questions were there to learn from, `answerable` of those measured on have a right
    agent, `groups` are of near duplicates.
    """

    n: int
    data: str
    learned: int
    questions: int
    answerable: int
    groups: int
    folds: int
    seed: int
    rows: list[MethodRow]


class Measurement(PairingResults, frozen=True, kw_only=True):
    """The figures, with their choices.

    `choices` by stage and method are in the order of the questions in `test`, and so are `priors`,
    the probabilities of the first router, which has not learned from the question.
    """

    test: list[LabelledQuestion]
    choices: dict[tuple[PairingStage, str], list[MethodChoice]]
    priors: Priors = []

    @property
    def results(self) -> PairingResults:
        """The figures alone."""
        return msgspec.convert(self, PairingResults, from_attributes=True)

    def best(self, stage: PairingStage) -> MethodRow | None:
        """Return the row of a stage with the highest precision@1."""
        rows = (row for row in self.rows if row.stage == stage)
        return max(rows, key=lambda row: row.precision_at_1, default=None)


def mean_of_draws(found: Sequence[Measurement]) -> Measurement:
    """Return the first measurement, its rows replaced by the means over all measurements."""
    if len(found) == 1:
        return found[0]
    rows = [
        mean_row([other for one in found for other in one.rows if _key(other) == _key(row)])
        for row in found[0].rows
    ]
    return msgspec.structs.replace(found[0], rows=rows)


def _key(row: MethodRow) -> tuple[str, str]:
    return row.stage, row.method


async def measure(
    data: PairingData,
    plan: MeasurementPlan,
    *,
    models: PairingModels = NO_MODELS,
    on_step: Callable[[str], None] = lambda _: None,
    folding: Folding = NO_FOLDING,
    learnable: Sequence[bool] = (),
) -> Measurement:
    """Measure the methods of a plan; `on_step` is called with a text as each begins.

    `learnable` says of each question of the test whether methods may learn from it by folds; all
    may where it is empty.
    """
    data = _permute_labels(check_data(data), plan.seed) if plan.permuted else check_data(data)
    methods = FoldedMethods(
        data,
        prior=plan.routers[0] if plan.routers else None,
        folds=plan.folds,
        seed=plan.seed,
        models=models,
        folding=folding,
        learnable=learnable,
    )
    measuring = _Measuring(data, plan, methods, on_step)
    await measuring.run()
    return Measurement(
        data=data.name,
        n=len(data.cards),
        learned=len(data.learn),
        answerable=sum(bool(one.gold) for one in data.test),
        groups=len(set(measuring.methods.groups)),
        folds=plan.folds,
        seed=plan.seed,
        rows=measuring.rows,
        questions=len(data.test),
        test=data.test,
        choices=measuring.choices,
        priors=measuring.priors,
    )


class _Measuring:
    """One measurement under way: the rows and choices so far."""

    def __init__(
        self,
        data: PairingData,
        plan: MeasurementPlan,
        methods: FoldedMethods,
        on_step: Callable[[str], None],
    ) -> None:
        self._data, self._plan, self._on_step = data, plan, on_step
        self.methods = methods
        self._scoring = ChoiceScoring(data)
        groups = self.methods.groups
        answerable = [group for group, one in zip(groups, data.test, strict=True) if one.gold]
        self._samples = BootstrapSamples(answerable, plan.seed)
        self.rows: list[MethodRow] = []
        self.choices: dict[tuple[PairingStage, str], list[MethodChoice]] = {}
        self.priors: Priors = []
        self._best_baseline: dict[PairingStage, MethodRow] = {}

    async def run(self) -> None:
        """Measure baselines, routers, rankers, budgets."""
        await self._encode()
        self._route_baselines()
        priors: Priors = [{} for _ in self._data.test]
        for position, name in enumerate(self._plan.routers):
            self._on_step(f"router {name}")
            choices = await self._routed(name)
            if position == 0:
                priors = self.priors = [one.scores for one in choices]
            self._add(name, "route", choices)
        if self._data.has_answers:
            self._rank_baselines()
            await self._rankers(priors)

    async def _encode(self) -> None:
        """Let the encoder, if there is one, encode all texts at once; then each is at hand."""
        if (encoder := self.methods.models.encoder) is None:
            return
        every = [*self._data.learn, *self._data.test]
        texts = [one.question.text for one in every]
        if self._plan.rankers:
            texts += [text for one in every for text in one.answers.values()]
        await encoder.encode(texts)

    async def _rankers(self, priors: Priors) -> None:
        # What works without labels gets priors from cards alone: a router's own know the labels.
        free: Priors = [{} for _ in self._data.test]
        if _has_cards(self._data):
            free = [one.scores for one in await self._routed(_FREE)]
        for name in self._plan.rankers:
            self._on_step(f"ranker {name}")
            rankers = await self.methods.rankers(name, priors)
            given = free if needs_no_labels(name, "ranker") else priors
            asked = [*enumerate(zip(rankers, given, strict=True))]
            self._add(name, "rank", [await self._scoring.ask(n, *one) for n, one in asked])
            for budget in self._plan.budgets if name == self._plan.rankers[-1] else ():
                self._on_step(f"budget {budget}")
                policy = read_budget(budget)
                spent = [await self._scoring.ask_within(n, *one, policy) for n, one in asked]
                self._add(f"{name}, {budget}", "budget", spent, against=name)

    async def _routed(self, name: str) -> list[MethodChoice]:
        routers = await self.methods.routers(name)
        return [await self._scoring.ask(n, router) for n, router in enumerate(routers)]

    def _route_baselines(self) -> None:
        test, agents = self._data.test, self._data.agents
        self._add("random", "route", [choose_by_chance(one, agents) for one in test])
        known = map(self.methods.known, range(self._plan.folds))
        singles = [best_single(learned, agents) for learned in known]
        self._add(
            "best single agent",
            "route",
            self._alone([singles[fold] for fold in self.methods.folds]),
        )
        if _has_cards(self._data):
            plain = SentenceBm25(self._data.cards)
            chosen = [plain.choose(one.question) for one in test]
            self._add("cards, plain BM25", "route", self._alone(chosen))

    def _rank_baselines(self) -> None:
        test, agents = self._data.test, self._data.agents
        every = [self._scoring.answers(n) for n in range(len(test))]
        chosen = {
            "everybody, first answer": [first_answer(one, agents) for one in test],
            "answers, plain BM25": [
                nearest_answer(one.question, answers) if answers else agents[0]
                for one, answers in zip(test, every, strict=True)
            ],
        }
        for method, named in chosen.items():
            asked = enumerate(named)
            answering = self._scoring.answering_agents
            choices = [self._scoring.choose_agent(n, one, answering(n)) for n, one in asked]
            self._add(method, "rank", choices)

    def _alone(self, agents: Sequence[str]) -> list[MethodChoice]:
        """Return choices for which the chosen agent alone is asked."""
        return [self._scoring.choose_agent(n, agent, [agent]) for n, agent in enumerate(agents)]

    def _add(
        self,
        method: str,
        stage: PairingStage,
        choices: list[MethodChoice],
        against: str | None = None,
    ) -> None:
        """Add a row, paired with the method `against`, else with the best baseline of the stage."""
        self.choices[stage, method] = choices
        best = self._best_baseline.get(stage)
        than = against or (best.method if best is not None else None)
        whole: PairingStage = "rank" if stage == "budget" else stage
        other = (than, self.choices[whole, than]) if than is not None else None
        row = method_row(method, stage, self._data.test, choices, self._samples, other)
        self.rows.append(row)
        is_baseline = all(made.probability is None for made in choices)
        if is_baseline and (best is None or row.precision_at_1 >= best.precision_at_1):
            self._best_baseline[stage] = row


def _has_cards(data: PairingData) -> bool:
    return any(card.description or card.examples for card in data.cards)


def _permute_labels(data: PairingData, seed: int) -> PairingData:
    chance = random.Random(seed)

    def dealt(labelled: Sequence[LabelledQuestion]) -> Iterator[LabelledQuestion]:
        labels = [(one.agents, one.gold) for one in labelled]
        chance.shuffle(labels)
        for one, (agents, gold) in zip(labelled, labels, strict=True):
            yield msgspec.structs.replace(one, agents=agents, gold=gold)

    return msgspec.structs.replace(data, learn=[*dealt(data.learn)], test=[*dealt(data.test)])
