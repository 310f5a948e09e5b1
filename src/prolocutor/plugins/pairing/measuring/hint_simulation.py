"""What hints are worth: people are simulated on labelled questions, and a router learns from them.

In each turn the router's first choice answers a question. The person then does what people do
(`SimulatedPerson`); the words go through the very rules that find hints in dialogs. After so many
turns the router is measured on the questions of the test, beside itself without hints and with
thumbs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion, Router, TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.hints.hint_lessons import HintTally, lesson_of_hint
from prolocutor.plugins.pairing.hints.turn_hints import (
    HINT_KINDS,
    HintKind,
    HintSettings,
    HintTurn,
    hints_of,
)
from prolocutor.plugins.pairing.measuring.fitting import fitted_router, settled
from prolocutor.plugins.pairing.measuring.method_rows import BootstrapSamples
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData, checked
from prolocutor.plugins.pairing.measuring.simulated_person import SimulatedPerson, reworded, said
from prolocutor.plugins.pairing.method_catalog import load_reader
from prolocutor.plugins.pairing.model_files import training_card
from prolocutor.plugins.pairing.near_duplicates import near_duplicates
from prolocutor.plugins.pairing.question_agent.router_label import label_of_thumb

_PACE: Final = 10.0
_MOST_ASKED: Final = 3


class HintArm(msgspec.Struct, frozen=True, kw_only=True):
    """One way to learn: hints of these settings (None: none), thumbs on a share of the turns."""

    name: str
    hints: HintSettings | None = None
    thumbs: float = 0.0


class HintPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is simulated: `turns` after `known` labels, each arm once for each seed.

    A thumb is mistaken as often as the person is.
    """

    arms: list[HintArm]
    router: str = "knn"
    known: int = 100
    turns: int = 1000
    seeds: Sequence[int] = (0, 1, 2)
    person: SimulatedPerson = SimulatedPerson()


class HintRow(msgspec.Struct, frozen=True, kw_only=True):
    """One arm over all seeds; shares are 0 to 1.

    `difference` is the paired one from the router as it was before the turns, with its 95 %
    interval over questions and seeds; `by_seed` are the precisions. `hints` are counted by kind,
    `truthful` is the share of them that says what the labels say.
    """

    arm: str
    router: str
    known: int
    turns: int
    precision_at_1: float
    difference: tuple[float, float, float]
    by_seed: list[float]
    hints: dict[str, int]
    truthful: float | None


def arms_of(weights: Sequence[float], thumbs: float) -> list[HintArm]:
    """Return the arms: none, hints of each weight, each kind alone, thumbs, and both."""
    usual = HintSettings()
    each = [
        HintArm(name=f"{kind} alone", hints=_weighing({kind: usual.weight(kind)}))
        for kind in HINT_KINDS
        if kind != "used"
    ]
    return [
        HintArm(name="nothing learned"),
        HintArm(name="hints, as by default", hints=usual),
        *(
            HintArm(
                name=f"hints, {weight:g} each",
                hints=_weighing(dict.fromkeys(HINT_KINDS, weight)),
            )
            for weight in weights
        ),
        *each,
        HintArm(name=f"thumbs on {thumbs:.0%} of the turns", thumbs=thumbs),
        HintArm(name="both", hints=usual, thumbs=thumbs),
        HintArm(name="thumbs on all turns", thumbs=1.0),
    ]


def _weighing(weights: Mapping[HintKind, float]) -> HintSettings:
    """Return settings in which these kinds alone count."""
    return msgspec.convert({**dict.fromkeys(HINT_KINDS, 0.0), **weights}, HintSettings)


async def simulate(
    data: PairingData, plan: HintPlan, on_step: Callable[[str], None] = lambda _: None
) -> list[HintRow]:
    """Return a row for each arm. Raise `BadInput` where there are too few questions."""
    checked(data)
    learn = [one for one in data.learn if one.gold]
    if len(learn) < plan.known + plan.turns:
        what = f"{len(learn):,} questions are there to learn from, and {plan.known} labels and"
        raise BadInput(f"{what} {plan.turns} turns need more", field="turns")
    test = [one for one in data.test if one.gold]
    rights: dict[str, list[list[float]]] = {arm.name: [] for arm in plan.arms}
    before: list[list[float]] = []
    counts: dict[str, list[_Simulated]] = {arm.name: [] for arm in plan.arms}
    reader: Any = load_reader(plan.router, "router")
    for seed in plan.seeds:
        order = learn[:]
        random.Random(seed).shuffle(order)
        known, stream = order[: plan.known], order[plan.known : plan.known + plan.turns]
        training = TrainingData(cards=data.cards, labelled=known, seed=seed)
        fitted: Any = await fitted_router(plan.router, training)
        before.append(await _rights(fitted, test))
        model = fitted.to_model(training_card(len(known)))
        for arm in plan.arms:
            on_step(f"seed {seed}, {plan.known} labels, {arm.name}")
            simulated = _Simulated(
                reader.of_model(model, data.cards), arm, plan.person, data.agents, seed
            )
            await simulated.run(stream)
            counts[arm.name].append(simulated)
            rights[arm.name].append(await _rights(simulated.router, test))
    groups = near_duplicates([one.question.text for one in test])
    samples = BootstrapSamples(groups, 0)
    return [
        _row(arm, plan, before, rights[arm.name], counts[arm.name], samples) for arm in plan.arms
    ]


def _row(
    arm: HintArm,
    plan: HintPlan,
    before: Sequence[Sequence[float]],
    rights: Sequence[Sequence[float]],
    simulated: Sequence[_Simulated],
    samples: BootstrapSamples,
) -> HintRow:
    shares = [sum(one) / len(one) for one in rights]
    gains = [
        sum(mine[place] - its[place] for mine, its in zip(rights, before, strict=True))
        / len(rights)
        for place in range(len(before[0]))
    ]
    low, high = samples.interval(gains)
    counted: dict[str, int] = {
        kind: sum(one.counts[kind] for one in simulated) for kind in HINT_KINDS
    }
    taken, true = sum(counted.values()), sum(one.truthful for one in simulated)
    return HintRow(
        arm=arm.name,
        router=plan.router,
        known=plan.known,
        turns=plan.turns,
        precision_at_1=sum(shares) / len(shares),
        difference=(sum(gains) / len(gains), low, high),
        by_seed=shares,
        hints=counted,
        truthful=true / taken if taken else None,
    )


async def _rights(router: Router, test: Sequence[LabelledQuestion]) -> list[float]:
    return [float(await _first(router, one.question.text) in one.gold) for one in test]


async def _first(router: Router, text: str) -> str:
    return (await settled(router.route(UserQuestion(text=text))))[0].agent


class _Simulated:
    """One router that learns while people talk to it."""

    def __init__(
        self, router: Any, arm: HintArm, person: SimulatedPerson, agents: list[str], seed: int
    ) -> None:
        self.router, self._arm, self._person, self._agents = router, arm, person, agents
        self._chance = random.Random(f"{seed} people")
        self._tally = HintTally(arm.hints or HintSettings())
        self._turns: list[HintTurn] = []
        self._now = 0.0
        self._gold: dict[str, frozenset[str]] = {}
        self.counts = dict.fromkeys(HINT_KINDS, 0)
        self.truthful = 0

    async def run(self, stream: Sequence[LabelledQuestion]) -> None:
        """Take the questions one after the other."""
        for number, one in enumerate(stream):
            self._turns = self._turns[-2:] if number % 3 else []  # a dialog of three questions
            await self._ask(one, f"user {number // 3}")

    async def _ask(self, one: LabelledQuestion, user: str) -> None:
        """Ask a question, until the person is content or gives up."""
        text = one.question.text
        for tried in range(_MOST_ASKED):
            agent = await _first(self.router, text)
            right = agent in one.gold
            self._gold[text] = one.gold
            self._turn(text, agent, user)
            self._rate(text, agent, right, user)
            reaction = self._person.reaction(right, self._chance)
            if reaction == "goes on":
                return
            if reaction != "asks again":
                self._turn(said(reaction, self._chance), "", user)
                return
            if tried < _MOST_ASKED - 1:
                text = reworded(one.question.text, self._chance)

    def _turn(self, text: str, agent: str, user: str) -> None:
        self._now += _PACE
        turn = HintTurn(
            utt_id=f"{self._now}", at=self._now, said=text, reply="Here it is.", agent=agent
        )
        self._turns = [*self._turns, turn][-3:]
        for hint in hints_of(self._turns, self._arm.hints) if self._arm.hints else ():
            lesson = lesson_of_hint(hint, user, self._agents)
            if not self._tally.takes(lesson, self._now):
                continue
            self.counts[hint.kind] += 1
            self.truthful += (hint.agent in self._gold.get(hint.question, ())) is hint.up
            self.router.learn_all([lesson])

    def _rate(self, text: str, agent: str, right: bool, user: str) -> None:
        if self._chance.random() >= self._arm.thumbs:
            return
        if self._chance.random() < self._person.mistaken:
            right = not right
        lesson = label_of_thumb(text, agent, right, self._agents, user)
        self._tally.add_thumb(text)
        self.router.learn_all([lesson])
