"""Retraining: a new model beside the model in use, from the same lessons and new labels.

The two are compared on questions that neither has learned, by folds: both methods are fitted
without the fold, the one in use without the new labels too. Where a group of near duplicates is
wholly new, the model in use is asked itself, as it has not learned from it.

Run as a module it is one training: a line of JSON at stdin, lines of JSON at stdout. Its priority
is the lowest, so it gives way to serving people. When it is killed, the model in use is as it was,
as only the new model's own folder is written.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.config.store_location import open_for_reading
from prolocutor.contracts.model_use import (
    ComparedFigure,
    FlippedChoice,
    TrainingEnd,
    TrainingOrder,
    TrainingReport,
    TrainingStep,
)
from prolocutor.contracts.pairing import Card, LabelledQuestion
from prolocutor.contracts.store import ArchiveStore, DialogQuery
from prolocutor.dialog.dialog import Dialog
from prolocutor.errors import BadInput, ConfigError, ProlocutorError
from prolocutor.plugins.pairing.encoders.meanings import EncoderMark, EncoderWiring
from prolocutor.plugins.pairing.measuring.fitting import Folding, PairingModels, fit_method
from prolocutor.plugins.pairing.measuring.measurement import ChoiceScoring, measure
from prolocutor.plugins.pairing.measuring.method_rows import (
    BootstrapSamples,
    MethodChoice,
    bin_by_probability,
)
from prolocutor.plugins.pairing.measuring.model_locations import ModelLocations, open_models
from prolocutor.plugins.pairing.measuring.pairing_data import (
    PairingData,
    label_turns,
    load_pairing_data,
    read_question_turns,
)
from prolocutor.plugins.pairing.measuring.training import (
    LABEL_FREE,
    STAGE,
    Trained,
    TrainingPlan,
    learn,
    most_folds,
    teaches,
    training_data,
)
from prolocutor.plugins.pairing.method_catalog import load_reader
from prolocutor.plugins.pairing.model_files import Model, is_vacant, load_model, save_model
from prolocutor.plugins.pairing.question_agent.loaded_router import attach_encoder, since_model
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, make_router_label
from prolocutor.reading.words import near_duplicates

NEW_LABELS: Final = "precision@1 of the new labels"
_SHOWN: Final = 50
_AMONG: Final = 3
_LEARNED: Final = "learned"
_LESSONS: Final = "lessons"
_CURE: Final = "what evaluations run on belongs to doors.console.cases"
_THUMBS: Final = (1, -1, True, False, 0, "up", "down")
_MOST_DIALOGS: Final = 5000
_ALL: Final = 1_000_000

Choices = list[MethodChoice]
OnStep = Callable[[float, str], None]


class _Learned(msgspec.Struct, frozen=True):
    """The part of a model with its lessons: `base` from data, and the ids of operators' labels."""

    base: list[LabelledQuestion] = []
    labels: list[str] = []


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """Lessons in order, as the test of `data`: the base, thumbs, operators' labels.

    `fresh` says of each whether the model in use had not learned it. `sources` are the ids of
    labels, "" for a lesson of the base, and None for a thumb. Near duplicates are one of `groups`.
    """

    data: PairingData
    fresh: list[bool]
    sources: list[str | None]
    groups: list[int]

    def __len__(self) -> int:
        return len(self.fresh)

    @property
    def places(self) -> list[int]:
        """The places of the lessons with a right agent."""
        return [place for place, one in enumerate(self.data.test) if one.gold]

    def learned_groups(self) -> set[int]:
        """Return the learned groups of the model in use; none, if its lessons are unknown."""
        old = [place for place, fresh in enumerate(self.fresh) if not fresh]
        if all(self.sources[place] is None for place in old):
            return set()
        return {self.groups[place] for place in old}

    def parts(self) -> dict[str, Any]:
        """Return the part of the new model with its lessons."""
        lessons = zip(self.data.test, self.sources, strict=True)
        base = [one for one, source in lessons if source == ""]
        labels = sorted({source for source in self.sources if source})
        return {_LEARNED: msgspec.to_builtins(_Learned(base, labels))}


async def retrain(
    order: TrainingOrder, rated: Sequence[LabelledQuestion], on_step: OnStep
) -> TrainingReport:
    """Write the folder of a new model, and compare it with the one in use.

    `rated` are thumbs from a store. `on_step` is called as each step begins, with the finished
    share. Raise `BadInput` where there is too little to learn from.
    """
    live = _live(order)
    mark = None if live is None else EncoderMark.of_model(live)
    if mark is not None and order.encoder is None:
        what = f"the model in use was trained with the encoder {mark.fingerprint}, which no folder"
        raise BadInput(f"{what} has; train it with prolocutor train --encoder URL", field="role")
    material = gather_material(order, live, rated)
    async with open_models(ModelLocations(encoder=order.encoder)) as models:
        return await _learn_and_compare(order, live, material, models, on_step)


async def _learn_and_compare(
    order: TrainingOrder,
    live: Model | None,
    material: Material,
    models: PairingModels,
    on_step: OnStep,
) -> TrainingReport:
    folds = most_folds(material.data, order.folds)
    plan = TrainingPlan(
        role=order.role, method=order.method, folds=folds, seed=order.seed, models=models
    )
    compares_twice = live is not None and any(material.fresh)
    progress = _Progress(on_step, (1 + compares_twice) * (3 + 2 * folds))
    made = await learn(material.data, plan, on_step=progress, folding=Folding(on_fold=progress))
    in_use = await _restore_method(order, live, plan, material)
    mine, its = [await _ask_all(method, plan, material, made) for method in (made.method, in_use)]
    after, before, note = made.choices(plan), its, ""
    if made.measured is None:
        before, note = [], made.note
    elif live is not None:
        before, note = await _choose_unseen(its, after, plan, material, progress)
    comparison = _Comparison(material, order)
    won, lost, flips = comparison.flips(*((before, after) if before else (its, mine)))
    parts = {**made.model.parts, **material.parts()}
    return TrainingReport(
        model=save_model(order.out, msgspec.structs.replace(made.model, parts=parts)),
        role=order.role,
        method=order.method,
        before="" if live is None else live.id,
        learned=len(material),
        fresh=sum(material.fresh),
        rows=[*comparison.figures(before, after), *comparison.new_label_figures(its, mine)],
        won=won,
        lost=lost,
        flips=flips,
        note=note,
        sure_before=bin_by_probability(_sureness(before)),
        sure_after=bin_by_probability(_sureness(after)),
    )


class _Progress:
    """Reports each step, with its share of the expected `number` of steps."""

    def __init__(self, on_step: OnStep, number: int) -> None:
        self._on_step, self._number, self._done = on_step, number, 0

    def __call__(self, what: str) -> None:
        """Report the start of a step, or a learned fold."""
        self._on_step(min(0.99, self._done / self._number), what)
        self._done += 1


def _live(order: TrainingOrder) -> Model | None:
    if order.live is None or is_vacant(Path(order.live)):
        return None
    return load_model(order.live)


async def _restore_method(
    order: TrainingOrder, live: Model | None, plan: TrainingPlan, material: Material
) -> Any:
    """Return the method in use with what it learned online; without a model, the label-free."""
    if live is None:
        bare = training_data(material.data, plan, [])
        return await fit_method(order.role, LABEL_FREE[order.role], bare)
    method = load_reader(order.method, order.role).of_model(live, material.data.cards)
    if hasattr(method, "learn_all"):
        method.learn_all(since_model(map(make_router_label, order.taught), live))
    encoder = plan.models.encoder
    return attach_encoder(method, live, None if encoder is None else EncoderWiring(encoder))


async def _ask_all(method: Any, plan: TrainingPlan, material: Material, made: Trained) -> Choices:
    """Return the choice of a method for each lesson."""
    scoring = ChoiceScoring(material.data)
    priors: Sequence[dict[str, float] | None] = made.priors or [None] * len(material)
    return [await scoring.ask(place, method, prior) for place, prior in enumerate(priors)]


async def _choose_unseen(
    its: Choices, after: Choices, plan: TrainingPlan, material: Material, on_step: _Progress
) -> tuple[Choices, str]:
    """Return the choices of the model in use for unlearned questions, and a problem.

    For new questions they are `its` own choices. For the others they are the choices of its method,
    fitted to its lessons by folds; these are the choices `after` if no lesson is new.
    """
    learned, groups, by_folds = material.learned_groups(), material.groups, after
    if learned and any(material.fresh):
        known = [not fresh for fresh in material.fresh]
        try:
            again = await measure(
                material.data,
                plan.measurement(plan.method),
                on_step=on_step,
                folding=Folding(on_fold=on_step),
                learnable=known,
            )
        except BadInput:
            return its, "the model in use is judged on questions that it may have learned from"
        by_folds = again.choices[STAGE[plan.role], plan.method]
    pairs = enumerate(zip(its, by_folds, strict=True))
    return [other if groups[place] in learned else own for place, (own, other) in pairs], ""


def _sureness(choices: Choices) -> list[tuple[float, float]]:
    """Return the probability of each choice and whether it was right; where nobody is, 0."""
    return [(one.probability or 0.0, one.right) for one in choices]


class _Comparison:
    """Compares the choices of two methods for the lessons with a right agent."""

    def __init__(self, material: Material, order: TrainingOrder) -> None:
        self._material, self._order, self._places = material, order, material.places

    def figures(self, before: Choices, after: Choices) -> list[ComparedFigure]:
        """Return figures with the interval of their difference; none without choices."""
        if not before or not after:
            return []
        cards = self._material.data.cards
        groups = self._material.groups
        samples = BootstrapSamples([groups[place] for place in self._places], self._order.seed)
        scores: dict[str, Callable[[int, MethodChoice], float]] = {
            "precision@1": lambda place, one: one.right
        }
        if self._order.role == "router" and len(cards) > _AMONG:
            scores[f"right among {_AMONG}"] = self._among
        if any(card.price for card in cards):
            prices = {card.name: card.price or 0.0 for card in cards}
            scores["price of the first"] = lambda place, one: prices.get(one.agent, 0.0)
        found = []
        for name, score in scores.items():
            its, mine = ([score(n, some[n]) for n in self._places] for some in (before, after))
            gains = [one - other for one, other in zip(mine, its, strict=True)]
            found.append(_compare_figure(name, its, mine, samples.interval(gains)))
        return found

    def new_label_figures(self, before: Choices, after: Choices) -> list[ComparedFigure]:
        """Return how the new labels are answered, which the new model has learned."""
        fresh = [place for place in self._places if self._material.fresh[place]]
        if not fresh:
            return []
        its, mine = ([some[place].right for place in fresh] for some in (before, after))
        return [_compare_figure(NEW_LABELS, its, mine)]

    def flips(self, before: Choices, after: Choices) -> tuple[int, int, list[FlippedChoice]]:
        """Return how many questions change for the better and the worse, and the first of each."""
        found: dict[tuple[str, str, str], FlippedChoice] = {}
        counts = {True: 0, False: 0}
        for place in self._places:
            old, new = before[place], after[place]
            if old.right == new.right:
                continue
            won = new.right > old.right
            counts[won] += 1
            label = self._material.sources[place]
            if label is None:
                continue
            text = self._material.data.test[place].question.text
            found[text, old.agent, new.agent] = FlippedChoice(
                text=text, before=old.agent, after=new.agent, won=won, label=label
            )
        shown = [
            one
            for outcome in (True, False)
            for one in [flip for flip in found.values() if flip.won is outcome][:_SHOWN]
        ]
        return counts[True], counts[False], shown

    def _among(self, place: int, one: MethodChoice) -> float:
        gold = self._material.data.test[place].gold
        return float(not gold.isdisjoint([*one.scores][:_AMONG]))


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


def gather_material(
    order: TrainingOrder, live: Model | None, rated: Sequence[LabelledQuestion]
) -> Material:
    """Return the lessons; an operator's label takes the place of thumbs on the same words.

    Raise `BadInput` if the data name none of the agents.
    """
    known = _learned_lessons(live)
    base = known.base
    if order.data:
        loaded = [load_pairing_data(spec, order.cards) for spec in order.data]
        base = [one for data in loaded for one in (*data.learn, *data.test)]
        _check_agents(order.data, order.cards, base)
    labels = [one for one in order.labels if teaches(one.question, order.role)]
    labelled = {one.question.question.text for one in labels}
    base, thumbs = (
        [one for one in some if one.question.text not in labelled and teaches(one, order.role)]
        for some in (base, [*order.rated, *rated])
    )
    seen = frozenset(known.labels)
    lessons = [*base, *thumbs, *(one.question for one in labels)]
    cards = {card.name: card for card in order.cards}
    named = dict.fromkeys(agent for one in lessons for agent in one.agents)
    return Material(
        data=PairingData(
            name=", ".join(order.data) or "what the one before learned, and labels",
            cards=[cards.get(name, Card(name=name)) for name in {**cards, **named}],
            learn=[],
            test=lessons,
        ),
        fresh=[False] * (len(base) + len(thumbs)) + [one.id not in seen for one in labels],
        sources=["" for _ in base] + [None for _ in thumbs] + [one.id for one in labels],
        groups=near_duplicates([one.question.text for one in lessons]),
    )


def _learned_lessons(live: Model | None) -> _Learned:
    """Return the lessons in a model; empty for a model without lessons."""
    if live is None:
        return _Learned()
    try:
        if _LEARNED in live.parts:
            return msgspec.convert(live.parts[_LEARNED], _Learned)
        lessons = msgspec.convert(live.parts.get(_LESSONS, []), list[RouterLabel])
    except msgspec.ValidationError as error:
        what = f"the model {live.id} does not say what it learned: {error}"
        raise ConfigError(what) from None
    return _Learned([one.labelled for one in lessons])


def _check_agents(
    data: Sequence[str], cards: Sequence[Card], lessons: Sequence[LabelledQuestion]
) -> None:
    """Raise `BadInput` if data name agents, but none of the assistant: labels may be texts."""
    named = {name for one in lessons for name in one.agents}
    if cards and named and named.isdisjoint(card.name for card in cards):
        what = (
            f"the labels of {', '.join(data)} name no agent of this assistant: {min(named)[:60]!r}"
        )
        raise BadInput(f"{what}; give names of agents as labels: {_CURE}", field="what")


async def read_ratings(url: str) -> list[LabelledQuestion]:
    """Return the thumbs in a store, of the latest 5,000 dialogs with thumbs."""
    async with open_for_reading(url) as store:
        turns = await read_question_turns(_rated_dialogs(store))
    return [one for one in label_turns(turns) if one.agents]


async def _rated_dialogs(store: ArchiveStore) -> AsyncIterator[Dialog]:
    ids: set[str] = set()
    for thumb in _THUMBS:
        ids.update(await store.dialog_ids(DialogQuery(rating=thumb, limit=_ALL)))
    for id_ in sorted(ids)[-_MOST_DIALOGS:]:
        if (dialog := await store.dialog(id_)) is not None:
            yield dialog


def main() -> None:
    """Train as the order says, and write how it ended."""
    with suppress(OSError):
        os.nice(10)
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=TrainingOrder)
    try:
        _write(asyncio.run(_run_training(order)))
    except ProlocutorError as error:
        _write(TrainingEnd(error=str(error)))


async def _run_training(order: TrainingOrder) -> TrainingEnd:
    rated = [] if order.store is None else await read_ratings(order.store)
    return TrainingEnd(
        report=await retrain(order, rated, lambda share, what: _write(TrainingStep(share, what)))
    )


def _write(line: TrainingStep | TrainingEnd) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
