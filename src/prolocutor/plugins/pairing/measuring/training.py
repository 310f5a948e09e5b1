"""Training: a router or ranker is measured on questions by folds, and then learns from all."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion, Role
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.abstention import risk_curve, store_risk_curve
from prolocutor.plugins.pairing.measuring.fitting import (
    NO_FOLDING,
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
    MethodChoice,
    MethodRow,
    PairingStage,
)
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData, check_data
from prolocutor.plugins.pairing.method_catalog import load_reader
from prolocutor.plugins.pairing.model_files import Model, check_place, save_model, training_card
from prolocutor.reading.words import near_duplicates

LABEL_FREE: Final[dict[Role, str]] = {"router": "cards", "ranker": "unsupervised"}
"""The method without labels that a trained one has to beat."""

STAGE: Final[dict[Role, PairingStage]] = {"router": "route", "ranker": "rank"}
_SINGLE: Final[tuple[PairingStage, str]] = "route", "best single agent"

_WHOLE: Final = 260_000_000
_ANSWER: Final = 2_500
_IN_FOLD: Final = 5_000
_MEANT: Final = 4_000
"""Bytes of a training: of the process, of each answer, of each answer in a fold that is fitted, and
of the vector of each answer with an encoder."""

_LEAST: Final = 100
"""Questions below which a bound of memory is refused."""

_LEAST_GROUPS: Final = 4

OnText = Callable[[str], None]


def fit_into_memory(
    learned: list[LabelledQuestion], most: int, *, meant: bool, wanted: int, seed: int
) -> tuple[list[LabelledQuestion], int]:
    """Return the questions a ranker learns from in `most` bytes, and how many folds at once.

    They are all, or a random sample that fits; `wanted` folds at most. `meant`: with an encoder.
    Raise `BadInput` if fewer than `_LEAST` questions fit.
    """
    each = sum(len(one.answers) for one in learned) / max(1, len(learned))
    fixed, of_fold = (each * (one + _MEANT * meant) for one in (_ANSWER, _IN_FOLD))
    number = int((most - _WHOLE) / max(1.0, fixed + of_fold))
    if number < min(_LEAST, len(learned)):
        least = int(_WHOLE + _LEAST * (fixed + of_fold)) // 1_000_000 + 1
        what = f"{most // 1_000_000} MB are too little to learn in"
        raise BadInput(f"{what}; give {least} MB or more", field="memory")
    if number < len(learned):
        chosen = random.Random(seed).sample(range(len(learned)), number)
        learned = [learned[place] for place in sorted(chosen)]
    room = most - _WHOLE - len(learned) * fixed
    return learned, max(1, min(wanted, int(room / max(1.0, len(learned) * of_fold))))


class TrainingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A training: role, method, and options.

    `prior` is the router whose probabilities a ranker learns to weigh. `memory` bounds the bytes of
    a ranker's training: it learns from as many questions as fit.
    """

    role: Role
    method: str
    prior: str = "learned"
    folds: int = 5
    seed: int = 0
    models: PairingModels = NO_MODELS
    memory: int | None = None

    def measurement(self, *methods: str) -> MeasurementPlan:
        """Return the plan for measuring methods of this role."""
        ranks = self.role == "ranker"
        return MeasurementPlan(
            routers=[self.prior] if ranks else [*dict.fromkeys(methods)],
            rankers=[*dict.fromkeys(methods)] if ranks else [],
            folds=self.folds,
            seed=self.seed,
        )


class Trained(msgspec.Struct, frozen=True, kw_only=True):
    """A trained method, and its model, which is not saved.

    `measured` are the figures by folds of the method and the methods that it has to beat; None,
    with the reason in `note`, if there were too few labels. `priors` are the prior
    probabilities of a ranker, in the order of the questions.
    """

    method: Any
    model: Model
    measured: Measurement | None
    note: str
    priors: Priors

    def choices(self, plan: TrainingPlan) -> list[MethodChoice]:
        """Return the choices by folds without the question; [] if unmeasured."""
        found = self.measured
        return [] if found is None else found.choices[STAGE[plan.role], plan.method]


def teaches(one: LabelledQuestion, role: Role) -> bool:
    """Return whether a method of a role can learn from a question; a ranker needs answers."""
    return bool(one.agents if role == "router" else one.answers)


async def learn(
    data: PairingData,
    plan: TrainingPlan,
    *,
    on_step: OnText = lambda _: None,
    folding: Folding = NO_FOLDING,
) -> Trained:
    """Measure by folds over the test of `data`, then learn from all of it.

    Where `data` sets questions apart, a ranker's prior learns from them alone. `on_step` is called
    as each step begins. Raise `BadInput` if there is too little to learn from.
    """
    load_reader(plan.method, plan.role)
    check_data(data)
    measured, note = None, f"precision@1 by {plan.folds} folds"
    methods = plan.measurement(plan.method, LABEL_FREE[plan.role])
    try:
        if not plan.folds:
            raise BadInput("too few different questions with a right agent")
        measured = await measure(
            data, methods, models=plan.models, on_step=on_step, folding=folding
        )
    except BadInput as error:
        note = f"not measured by folds: {error}"
    on_step("learning from everything")
    priors: Priors = []
    if plan.role == "ranker":
        priors = await _priors(data, plan) if measured is None else measured.priors
    method = await fit_method(plan.role, plan.method, training_data(data, plan, priors))
    card = training_card(
        len(data.test),
        data=data.name,
        data_hash=training_hash(data, data.test),
        scores={
            one.method: (one.precision_at_1, one.low, one.high)
            for one in ([] if measured is None else comparable_rows(measured, plan))
        },
        note=note,
    )
    made = Trained(
        method=method, model=method.to_model(card), measured=measured, note=note, priors=priors
    )
    if plan.role == "router" or measured is None:
        return made
    risks = risk_curve((one.probability or 0.0, one.right) for one in made.choices(plan))
    return msgspec.structs.replace(made, model=store_risk_curve(made.model, risks))


def most_folds(data: PairingData, wanted: int) -> int:
    """Return the number of folds for the questions with a right agent; 0 for too few."""
    number = len(set(near_duplicates([one.question.text for one in data.test if one.gold])))
    return min(wanted, number // 2) if number >= _LEAST_GROUPS else 0


def training_data(data: PairingData, plan: TrainingPlan, priors: Priors) -> Any:
    """Return the test of `data` as the training data of a method."""
    return plan.models.training(cards=data.cards, labelled=data.test, priors=priors, seed=plan.seed)


async def _priors(data: PairingData, plan: TrainingPlan) -> Priors:
    training = training_data(data, plan, [])
    if not data.learn:
        return await unseen_priors(plan.prior, training, max(2, plan.folds))
    apart = msgspec.structs.replace(training, labelled=data.learn)
    router = await fit_method("router", plan.prior, apart)
    return [await probabilities(router, one) for one in data.test]


def training_hash(data: PairingData, learned: Sequence[LabelledQuestion]) -> str:
    """Return a hash over the cards and all questions to learn from."""
    content = msgspec.json.encode((data.cards, learned), order="deterministic")
    return blake2b(content, digest_size=16).hexdigest()


class TrainingResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of training; shares are 0 to 1, intervals 95 %.

    `rows` are the method and the methods that it has to beat, by folds; empty, with the reason in
    `unmeasured`, if there were too few labels. `gain` is the paired difference from `against`, the
    best of the others, with its interval. `tested` are rows on a part that was not learned from.
    """

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
    plan: TrainingPlan,
    folder: Path,
    *,
    on_step: OnText = lambda _: None,
    on_note: OnText = lambda _: None,
    on_fold: OnText = lambda _: None,
) -> TrainingResult:
    """Learn from the part of data to train on, else from all, and write the model's folder.

    `on_step` is called as each of the `count_steps` steps begins, `on_fold` when a fold has been
    learned, and `on_note` with a text for people. Raise `BadInput` if there is too little to learn
    from.
    """
    check_place(folder)
    learned, folding = _lessons(data, plan.role), Folding(on_fold=on_fold)
    if plan.memory is not None:
        every, meant, wanted = len(learned), plan.models.encoder is not None, folding.number_at_once
        learned, at_once = fit_into_memory(
            learned, plan.memory, meant=meant, wanted=wanted, seed=plan.seed
        )
        if len(learned) < every:
            on_note(f"{len(learned):,} of {every:,} questions fit into the memory given, by chance")
        folding = msgspec.structs.replace(folding, at_once=at_once)
    apart = plan.role == "ranker" and not any(one.answers for one in data.learn)
    known = msgspec.structs.replace(data, learn=data.learn if apart else [], test=learned)
    plan = msgspec.structs.replace(plan, folds=most_folds(known, plan.folds))
    made = await learn(known, plan, on_step=on_step, folding=folding)
    tested = await _test(data, plan, on_step)
    rows, gain, against = [], None, None
    if made.measured is not None:
        rows = comparable_rows(made.measured, plan)
        gain, against = _gain(made.measured, rows, plan)
    return TrainingResult(
        model=save_model(folder, made.model),
        agents=len(data.cards),
        questions=len(learned),
        labelled=sum(bool(one.gold) for one in learned),
        groups=len(set(near_duplicates([one.question.text for one in learned]))),
        folds=plan.folds,
        rows=rows,
        against=against,
        gain=gain,
        unmeasured=made.note if made.measured is None else None,
        tested=tested,
    )


def _lessons(data: PairingData, role: Role) -> list[LabelledQuestion]:
    """Return the questions to learn from: the part to train on, else all."""
    part = [one for one in data.learn if role == "router" or one.answers]
    found = [one for one in part or data.test if teaches(one, role)]
    if not found and role == "ranker":
        what = "nobody's answers are in it, and a ranker learns from answers (fields answer_NAME)"
        raise BadInput(f"{data.name}: {what}", field="data")
    return found


def count_steps(data: PairingData, plan: TrainingPlan) -> int:
    """Return the number of steps of `train`."""
    measured = {plan.method, LABEL_FREE[plan.role]}
    prior = plan.role == "ranker"
    return len(measured) + prior + 1 + 2 * _is_tested_apart(data, plan)


def _is_tested_apart(data: PairingData, plan: TrainingPlan) -> bool:
    """Return whether some questions are set apart from a router's training."""
    return plan.role == "router" and bool(data.learn) and any(one.gold for one in data.test)


async def _test(data: PairingData, plan: TrainingPlan, on_step: OnText) -> list[MethodRow]:
    if not _is_tested_apart(data, plan):
        return []
    bare = [msgspec.structs.replace(one, answers={}) for one in data.test]
    bench = msgspec.structs.replace(data, test=bare)
    methods = plan.measurement(plan.method, LABEL_FREE["router"])
    measured = await measure(bench, methods, models=plan.models, on_step=on_step)
    return comparable_rows(measured, plan)


def comparable_rows(measured: Measurement, plan: TrainingPlan) -> list[MethodRow]:
    """Return the rows of the method, of the method without labels, and of the best single agent."""
    found = {(one.stage, one.method): one for one in measured.rows}
    own = [(STAGE[plan.role], name) for name in (plan.method, LABEL_FREE[plan.role])]
    return [found[key] for key in dict.fromkeys([*own, _SINGLE]) if key in found]


def _gain(
    measured: Measurement, rows: Sequence[MethodRow], plan: TrainingPlan
) -> tuple[tuple[float, float, float] | None, str | None]:
    """Return the paired difference between the method and the best other method."""
    key = STAGE[plan.role], plan.method
    others = [one for one in rows if (one.stage, one.method) != key]
    if not others:
        return None, None
    best = max(others, key=lambda one: one.precision_at_1)
    asked = [position for position, one in enumerate(measured.test) if one.gold]
    mine, its = measured.choices[key], measured.choices[best.stage, best.method]
    gains = [mine[position].right - its[position].right for position in asked]
    groups = near_duplicates([measured.test[position].question.text for position in asked])
    low, high = BootstrapSamples(groups, plan.seed).interval(gains)
    return (sum(gains) / len(gains), low, high), best.method
