"""Retraining: a new model beside the model in use, from the same lessons and new labels.

The two are compared on questions that neither has learned, by folds: both methods are fitted
without the fold, the one in use without the new labels too. Where a group of near duplicates is
wholly new, the model in use is asked itself, as it has not learned from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.contracts.model_use import (
    CalibrationBin,
    ComparedFigure,
    FlippedChoice,
    TrainingOrder,
    TrainingReport,
)
from prolocutor.contracts.pairing import LabelledQuestion, Pairing
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.encoders.meanings import EncoderMark
from prolocutor.plugins.pairing.folds import deal_folds
from prolocutor.plugins.pairing.measuring.method_rows import (
    BootstrapSamples,
    bin_by_probability,
)
from prolocutor.plugins.pairing.measuring.model_training import LABEL_FREE
from prolocutor.plugins.pairing.measuring.training_material import (
    Material,
    Refitting,
    gather_material,
)
from prolocutor.plugins.pairing.method_catalog import load_reader
from prolocutor.plugins.pairing.model_files import (
    Model,
    is_vacant,
    load_model,
    save_model,
    training_card,
)
from prolocutor.plugins.pairing.question_agent.loaded_router import since_model
from prolocutor.plugins.pairing.question_agent.router_label import make_router_label
from prolocutor.plugins.pairing.risk_curve import risk_curve, store_risk_curve
from prolocutor.reading.words import near_duplicates

NEW_LABELS: Final = "precision@1 of the new labels"
_LEAST_GROUPS: Final = 4
_SHOWN: Final = 50
_AMONG: Final = 3

Choices = list[Sequence[Pairing]]
OnStep = Callable[[float, str], None]


async def retrain(
    order: TrainingOrder, rated: Sequence[LabelledQuestion], on_step: OnStep
) -> TrainingReport:
    """Write the folder of a new model, and compare it with the one in use.

    `rated` are thumbs that were read from a store. `on_step` is called as each step begins, with
    the share that is done. Raise `BadInput` where there is too little to learn from.
    """
    load_reader(order.method, order.role)
    live = _live(order)
    if live is not None and (mark := EncoderMark.of_model(live)) is not None:
        what = f"the model in use was trained with the encoder {mark.fingerprint}"
        raise BadInput(f"{what}; train it with prolocutor train --encoder", field="role")
    material = gather_material(order, live, rated)
    on_step(0.0, "learning from everything")
    fitting = await Refitting.of(order, material)
    made = await fitting.fit(range(len(material)))
    comparing = _Comparison(order, material, fitting, on_step)
    before = await _restore_method(order, live, fitting, material)
    mine, its = [await comparing.asked(one) for one in (made, before)]
    rows, note = await comparing.unseen(live is not None, its)
    scores = {one.name: (one.after, one.after, one.after) for one in rows if one.name[-1] == "1"}
    card = training_card(len(material), data=material.name, note=note, scores=scores)
    model: Model = made.to_model(card)
    if order.role == "ranker" and comparing.choices_after:
        model = store_risk_curve(model, risk_curve(comparing.choices_after))
    parts = {**model.parts, **material.parts()}
    won, lost, flips = comparing.flips(its, mine)
    return TrainingReport(
        model=save_model(order.out, msgspec.structs.replace(model, parts=parts)),
        role=order.role,
        method=order.method,
        before="" if live is None else live.id,
        learned=len(material),
        fresh=sum(material.fresh),
        rows=[*rows, *comparing.taught(its, mine)],
        won=won,
        lost=lost,
        flips=flips,
        note=note,
        sure_before=comparing.sure_before,
        sure_after=comparing.sure_after,
    )


def _live(order: TrainingOrder) -> Model | None:
    if order.live is None or is_vacant(Path(order.live)):
        return None
    return load_model(order.live)


async def _restore_method(
    order: TrainingOrder, live: Model | None, fitting: Refitting, material: Material
) -> Any:
    """Return the method in use with what it learned online; without a model, the label-free."""
    if live is None:
        return await fitting.fit((), LABEL_FREE[order.role])
    method = load_reader(order.method, order.role).of_model(live, material.cards)
    if hasattr(method, "learn_all"):
        method.learn_all(since_model(map(make_router_label, order.taught), live))
    return method


class _Comparison:
    """Compares two methods on the questions of the material that have a right agent."""

    def __init__(
        self,
        order: TrainingOrder,
        material: Material,
        fitting: Refitting,
        on_step: OnStep,
    ) -> None:
        self._order, self._material, self._fitting = order, material, fitting
        self._on_step = on_step
        self.choices_after: list[tuple[float, float]] = []
        self.sure_before: list[CalibrationBin] = []
        self.sure_after: list[CalibrationBin] = []
        self._places = [place for place, one in enumerate(material.lessons) if one.gold]
        self._groups = near_duplicates([one.question.text for one in material.lessons])
        whole = len({self._groups[place] for place in self._places})
        self._number = min(order.folds, whole // 2) if whole >= _LEAST_GROUPS else 0

    async def asked(self, method: Any) -> Choices:
        """Return the choices of a method for all questions, by place."""
        return [await self._fitting.choose(method, place) for place in range(len(self._material))]

    async def unseen(self, has_model: bool, in_use: Choices) -> tuple[list[ComparedFigure], str]:
        """Return the figures over questions that neither has learned, and what limits them."""
        if not self._number:
            return [], "too few different questions with a right agent to compare on unseen ones"
        dealt = deal_folds(self._groups, self._number, self._order.seed)
        everything = range(len(self._material))
        known = [place for place in everything if not self._material.fresh[place]]
        learned = {self._groups[place] for place in known} if self._material.has_base else set()
        after: Choices = [()] * len(self._material)
        before: Choices = list(in_use)
        note = ""
        for fold in range(self._number):
            self._on_step((1 + fold) / (2 + self._number), f"fold {fold + 1} of {self._number}")
            here = [place for place in everything if dealt[place] == fold]
            try:
                await self._answer(after, here, [n for n in everything if dealt[n] != fold])
            except BadInput as error:
                return [], f"not compared on unseen questions: {error}"
            seen = [n for n in here if self._groups[n] in learned] if has_model else []
            try:
                await self._answer(before, seen, [n for n in known if dealt[n] != fold])
            except BadInput:
                note = "the model in use is judged on questions that it may have learned from"
        self.choices_after = self._sureness(after)
        self.sure_before = bin_by_probability(self._sureness(before))
        self.sure_after = bin_by_probability(self.choices_after)
        return self._figures(before, after), note

    def _sureness(self, chosen: Choices) -> list[tuple[float, float]]:
        """Return the probability of each choice and whether it was right; where nobody is, 0."""
        return [(one[0].probability, self._right(at, one)) for at, one in enumerate(chosen) if one]

    async def _answer(self, into: Choices, places: list[int], learned: list[int]) -> None:
        if not places:
            return
        method = await self._fitting.fit(learned)
        for place in places:
            into[place] = await self._fitting.choose(method, place)

    def _figures(self, before: Choices, after: Choices) -> list[ComparedFigure]:
        samples = BootstrapSamples([self._groups[n] for n in self._places], self._order.seed)
        found = [self._figure("precision@1", before, after, self._right, samples)]
        if self._order.role == "router" and len(self._material.cards) > _AMONG:
            found.append(self._figure(f"right among {_AMONG}", before, after, self._among, samples))
        if any(card.price for card in self._material.cards):
            found.append(self._figure("price of the first", before, after, self._price, samples))
        return found

    def _figure(
        self,
        name: str,
        before: Choices,
        after: Choices,
        score: Callable[[int, Sequence[Pairing]], float],
        samples: BootstrapSamples,
    ) -> ComparedFigure:
        its = [score(place, before[place]) for place in self._places]
        mine = [score(place, after[place]) for place in self._places]
        gains = [one - other for one, other in zip(mine, its, strict=True)]
        return _compare_figure(name, its, mine, samples.interval(gains))

    def taught(self, before: Choices, after: Choices) -> list[ComparedFigure]:
        """Return how the new labels are answered, which the new model has learned."""
        fresh = [place for place in self._places if self._material.fresh[place]]
        if not fresh:
            return []
        its = [self._right(place, before[place]) for place in fresh]
        mine = [self._right(place, after[place]) for place in fresh]
        return [_compare_figure(NEW_LABELS, its, mine)]

    def flips(self, before: Choices, after: Choices) -> tuple[int, int, list[FlippedChoice]]:
        """Return how many questions change for the better and the worse, and the first of each."""
        found: dict[tuple[str, str, str], FlippedChoice] = {}
        counts = {True: 0, False: 0}
        for place in self._places:
            old, new = self._right(place, before[place]), self._right(place, after[place])
            if old == new:
                continue
            counts[new > old] += 1
            label = self._material.label_of(place)
            if label is None:
                continue
            text = self._material.lessons[place].question.text
            key = text, _first(before[place]), _first(after[place])
            found[key] = FlippedChoice(
                text=text, before=key[1], after=key[2], won=new > old, label=label
            )
        some = [*found.values()]
        shown = [one for won in (True, False) for one in _flips_of_outcome(some, won)[:_SHOWN]]
        return counts[True], counts[False], shown

    def _right(self, place: int, chosen: Sequence[Pairing]) -> float:
        return float(_first(chosen) in self._material.lessons[place].gold)

    def _among(self, place: int, chosen: Sequence[Pairing]) -> float:
        named = {one.agent for one in chosen[:_AMONG]}
        return float(bool(named & self._material.lessons[place].gold))

    def _price(self, place: int, chosen: Sequence[Pairing]) -> float:
        return self._material.prices.get(_first(chosen), 0.0)


def _flips_of_outcome(flips: Sequence[FlippedChoice], won: bool) -> list[FlippedChoice]:
    return [one for one in flips if one.won is won]


def _first(chosen: Sequence[Pairing]) -> str:
    return chosen[0].agent if chosen else ""


def _compare_figure(
    name: str,
    before: Sequence[float],
    after: Sequence[float],
    interval: tuple[float, float] | None = None,
) -> ComparedFigure:
    its, mine = (sum(values) / len(values) for values in (before, after))
    return ComparedFigure(
        name=name, before=its, after=mine, difference=mine - its, interval=interval
    )
