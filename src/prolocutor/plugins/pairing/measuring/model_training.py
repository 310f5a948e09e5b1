"""Training: a router or ranker learns from labelled questions, is measured, and is saved."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion, Role
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.measuring.fitting import (
    NO_MODELS,
    Folding,
    PairingModels,
    Priors,
    fit_method,
    probabilities,
    unseen_priors,
)
from prolocutor.plugins.pairing.measuring.measurement import Measurement, MeasurementPlan, measure
from prolocutor.plugins.pairing.measuring.method_rows import (
    BootstrapSamples,
    MethodRow,
    PairingStage,
)
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.method_catalog import load_reader
from prolocutor.plugins.pairing.model_files import (
    TrainingCard,
    check_place,
    save_model,
    training_card,
)
from prolocutor.plugins.pairing.risk_curve import risk_curve, store_risk_curve
from prolocutor.reading.words import near_duplicates

_WHOLE: Final = 260_000_000
_ANSWER: Final = 2_500
_IN_FOLD: Final = 5_000
_MEANT: Final = 4_000
_LEAST: Final = 100


class TrainingMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A bound of bytes for the training of a ranker, with an encoder or without."""

    most: int
    meant: bool = False

    def at_once(self, learned: Sequence[LabelledQuestion], wanted: int) -> int:
        """Return how many folds can be fitted at the same time, at least one."""
        answers = _answers(learned)
        return max(1, min(wanted, (self.most - self._fixed_bytes(answers)) // self._fold(answers)))

    def fitting(self, learned: list[LabelledQuestion], seed: int) -> list[LabelledQuestion]:
        """Return the questions to learn from: all, or as many as fit, by chance.

        `BadInput` if hardly any would fit.
        """
        each = self._fixed_bytes(_answers(learned)) - _WHOLE + self._fold(_answers(learned))
        number = (self.most - _WHOLE) * len(learned) // max(1, each)
        if number >= len(learned):
            return learned
        if number < _LEAST:
            least = (_WHOLE + _LEAST * each // max(1, len(learned))) // 1_000_000 + 1
            what = f"{self.most // 1_000_000} MB are too little to learn in"
            raise BadInput(f"{what}; give {least} MB or more", field="memory")
        chosen = random.Random(seed).sample(range(len(learned)), number)
        return [learned[place] for place in sorted(chosen)]

    def _fixed_bytes(self, answers: int) -> int:
        return _WHOLE + answers * (_ANSWER + _MEANT * self.meant)

    def _fold(self, answers: int) -> int:
        return max(1, answers * (_IN_FOLD + _MEANT * self.meant))


def bound_folding(
    memory: TrainingMemory | None, learned: Sequence[LabelledQuestion], folding: Folding
) -> Folding:
    """Return how folds are fitted within a bound."""
    if memory is None:
        return folding
    at_once = memory.at_once(learned, folding.number_at_once)
    return msgspec.structs.replace(folding, at_once=at_once)


def _answers(learned: Sequence[LabelledQuestion]) -> int:
    return sum(len(one.answers) for one in learned)


class TrainingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is trained. `prior`: the router whose probabilities a ranker learns to weigh.

    `memory` bounds the bytes that learning a ranker takes; where there are more questions, some are
    learned from.
    """

    role: Role
    method: str
    prior: str = "learned"
    folds: int = 5
    seed: int = 0
    models: PairingModels = NO_MODELS
    memory: int | None = None

    @property
    def bound(self) -> TrainingMemory | None:
        """The bound of memory; routers need none."""
        if self.memory is None or self.role == "router":
            return None
        return TrainingMemory(most=self.memory, meant=self.models.encoder is not None)


def lessons_of(data: PairingData, role: Role) -> list[LabelledQuestion]:
    """Return what is learned from: the part to train on, else all; a ranker needs answers."""
    part = [one for one in data.learn if role == "router" or one.answers]
    found = part or data.test
    if role == "router":
        return [one for one in found if one.agents]
    answered = [one for one in found if one.answers]
    if not answered:
        what = "nobody's answers are in it, and a ranker learns from answers (fields answer_NAME)"
        raise BadInput(f"{data.name}: {what}", field="data")
    return answered


def training_hash(data: PairingData, learned: Sequence[LabelledQuestion]) -> str:
    """Return a hash over the cards and all questions that are learned from."""
    content = msgspec.json.encode((data.cards, learned), order="deterministic")
    return blake2b(content, digest_size=16).hexdigest()


LABEL_FREE: Final[dict[Role, str]] = {"router": "cards", "ranker": "unsupervised"}
"""What a trained one has to beat: it does without labels."""

_STAGE: Final[dict[str, PairingStage]] = {"router": "route", "ranker": "rank"}
_ROUTE: Final[PairingStage] = "route"
_SINGLE: Final = "best single agent"


class TrainingResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of training; shares are 0 to 1, intervals 95 %.

    `rows` are the method and what it has to beat, by folds; empty, with the reason in `unmeasured`,
    if there were too few labels for folds. `gain` is the paired difference from `against`, the best
    of the others, with its interval. `tested`: the same on a part that was not learned from.
    """

    role: Role
    method: str
    model: str
    agents: int
    questions: int
    labelled: int
    groups: int
    folds: int
    rows: list[MethodRow] = []
    against: str | None = None
    gain: tuple[float, float, float] | None = None
    unmeasured: str | None = None
    tested: list[MethodRow] = []

    @property
    def helps(self) -> bool:
        """Whether it is significantly better than the best method without training."""
        return self.gain is not None and self.gain[1] > 0


async def train(
    data: PairingData,
    wanted: TrainingPlan,
    folder: Path,
    *,
    on_step: Callable[[str], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
    on_fold: Callable[[str], None] = lambda _: None,
) -> TrainingResult:
    """Measure by folds, learn from everything, and write the model's folder.

    `on_step` is called as each of the `steps_of` steps begins, `on_fold` when a fold has been
    learned, and `on_note` with what a person should know. Raise `BadInput` if there is too little
    to learn from.
    """
    check_place(folder)
    load_reader(wanted.method, wanted.role)
    learned = lessons_of(data, wanted.role)
    memory = wanted.bound
    if memory is not None:
        every = len(learned)
        learned = memory.fitting(learned, wanted.seed)
        if len(learned) < every:
            on_note(f"{len(learned):,} of {every:,} questions fit into the memory given, by chance")
    right = sum(bool(one.gold) for one in learned)
    if len(data.cards) < 2:
        what = f"{data.name} knows {len(data.cards)} agents, and a choice needs two"
        raise BadInput(what, field="data")
    if not right:
        what = "no question has a right agent (agents, labels), so nothing can be learned"
        raise BadInput(f"{data.name}: {what}", field="data")
    folding = bound_folding(memory, learned, Folding(on_fold=on_fold))
    measured, unmeasured = await _measured(data, learned, wanted, on_step, folding)
    on_step("learning from everything")
    priors = None if measured is None else measured.priors
    made = await _fitted(data, learned, wanted, priors)
    tested = await _tested(data, wanted, on_step)
    data_hash = training_hash(data, learned)
    result, card = result_of(data, learned, wanted, measured, data_hash, unmeasured)
    whole = made.to_model(card)
    if wanted.role == "ranker" and measured is not None:
        choices = measured.choices["rank", wanted.method]
        risks = risk_curve((made.probability or 0.0, made.right) for made in choices)
        whole = store_risk_curve(whole, risks)
    return msgspec.structs.replace(result, model=save_model(folder, whole), tested=tested)


def result_of(
    data: PairingData,
    learned: Sequence[LabelledQuestion],
    wanted: TrainingPlan,
    measured: Measurement | None,
    data_hash: str,
    unmeasured: str | None = None,
) -> tuple[TrainingResult, TrainingCard]:
    """Return the outcome of a training whose model is not saved yet, and the model's card."""
    rows = [] if measured is None else _rows(measured, wanted)
    gain, against = (None, None) if measured is None else _gain(measured, rows, wanted)
    card = training_card(
        len(learned),
        data=data.name,
        data_hash=data_hash,
        scores={one.method: (one.precision_at_1, one.low, one.high) for one in rows},
        note=unmeasured or f"precision@1 by {wanted.folds} folds",
    )
    result = TrainingResult(
        role=wanted.role,
        method=wanted.method,
        model="",
        agents=len(data.cards),
        questions=len(learned),
        labelled=sum(bool(one.gold) for one in learned),
        groups=len(set(near_duplicates([one.question.text for one in learned]))),
        folds=wanted.folds,
        rows=rows,
        against=against,
        gain=gain,
        unmeasured=unmeasured,
    )
    return result, card


def steps_of(data: PairingData, wanted: TrainingPlan) -> int:
    """Return the number of steps of `train`."""
    measured = {wanted.method, LABEL_FREE[wanted.role]}
    prior = wanted.role == "ranker"
    return len(measured) + prior + 1 + 2 * _is_tested_apart(data, wanted)


async def _measured(
    data: PairingData,
    learned: list[LabelledQuestion],
    wanted: TrainingPlan,
    on_step: Callable[[str], None],
    folding: Folding,
) -> tuple[Measurement | None, str | None]:
    """Measure by folds; return the reason instead if there is not enough for that."""
    methods = list(dict.fromkeys((wanted.method, LABEL_FREE[wanted.role])))
    ranks = wanted.role == "ranker"
    plan = MeasurementPlan(
        routers=[wanted.prior] if ranks else methods,
        rankers=methods if ranks else [],
        folds=wanted.folds,
        seed=wanted.seed,
    )
    apart = _apart(data) if ranks else []
    bench = msgspec.structs.replace(data, learn=apart, test=learned, published=False)
    try:
        measured = await measure(
            bench, plan, models=wanted.models, on_step=on_step, folding=folding
        )
        return measured, None
    except BadInput as error:
        return None, f"not measured by {wanted.folds} folds: {error}"


def _apart(data: PairingData) -> list[LabelledQuestion]:
    """Return what routers can learn from apart from the questions that rankers learn from."""
    return [] if any(one.answers for one in data.learn) else data.learn


async def _fitted(
    data: PairingData, learned: list[LabelledQuestion], wanted: TrainingPlan, priors: Priors | None
) -> Any:
    """Learn from everything; `priors` as the measurement had them, None where there was none."""
    training = wanted.models.training(cards=data.cards, labelled=learned, seed=wanted.seed)
    if wanted.role == "router":
        return await fit_method("router", wanted.method, training)
    apart = _apart(data)
    if priors is None and apart:
        learned_apart = msgspec.structs.replace(training, labelled=apart)
        router = await fit_method("router", wanted.prior, learned_apart)
        priors = [await probabilities(router, one) for one in learned]
    elif priors is None:
        priors = await unseen_priors(wanted.prior, training, wanted.folds)
    return await fit_method(
        "ranker", wanted.method, msgspec.structs.replace(training, priors=priors)
    )


def _is_tested_apart(data: PairingData, wanted: TrainingPlan) -> bool:
    """Return whether there are questions that a router is not to learn from."""
    return wanted.role == "router" and bool(data.learn) and any(one.gold for one in data.test)


async def _tested(
    data: PairingData, wanted: TrainingPlan, on_step: Callable[[str], None]
) -> list[MethodRow]:
    if not _is_tested_apart(data, wanted):
        return []
    plan = MeasurementPlan(routers=[wanted.method, LABEL_FREE["router"]], seed=wanted.seed)
    bare = [msgspec.structs.replace(one, answers={}) for one in data.test]
    bench = msgspec.structs.replace(data, test=bare)
    return _rows(await measure(bench, plan, models=wanted.models, on_step=on_step), wanted)


def _rows(measured: Measurement, wanted: TrainingPlan) -> list[MethodRow]:
    """Return the rows of the method, of the one without labels, and of the best single agent."""
    free = LABEL_FREE[wanted.role]
    found = {(one.stage, one.method): one for one in measured.rows}
    wanted_rows = [(_STAGE[wanted.role], name) for name in (wanted.method, free)]
    keys = dict.fromkeys([*wanted_rows, (_ROUTE, _SINGLE)])
    return [found[key] for key in keys if key in found]


def _gain(
    measured: Measurement, rows: Sequence[MethodRow], wanted: TrainingPlan
) -> tuple[tuple[float, float, float] | None, str | None]:
    """Return the paired difference of the method from the best of the others."""
    stage = _STAGE[wanted.role]
    free = {(stage, LABEL_FREE[wanted.role]), (_ROUTE, _SINGLE)} - {(stage, wanted.method)}
    others = [one for one in rows if (one.stage, one.method) in free]
    if not others:
        return None, None
    best = max(others, key=lambda one: one.precision_at_1)
    asked = [position for position, one in enumerate(measured.test) if one.gold]
    mine = measured.choices[stage, wanted.method]
    its = measured.choices[best.stage, best.method]
    gains = [mine[position].right - its[position].right for position in asked]
    groups = near_duplicates([measured.test[position].question.text for position in asked])
    low, high = BootstrapSamples(groups, wanted.seed).interval(gains)
    return (sum(gains) / len(gains), low, high), best.method
