"""Training of a cross-encoder: fine-tuned by folds, stopped early, calibrated, and saved as ONNX.

Each fold is scored after every epoch by a model that has not seen it. The epoch at which most of
these questions are answered right is how long the model that is kept learns from all questions.
The numbers of unseen questions at that epoch are the measurement, and what probabilities are fitted
to. What is done is kept beside the model's folder, so the same command goes on after it was killed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final, Protocol

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.curve_fitting import fit_rising
from prolocutor.plugins.pairing.measuring.choice_scoring import ChoiceScoring
from prolocutor.plugins.pairing.measuring.measurement import Measurement, MeasurementPlan, measure
from prolocutor.plugins.pairing.measuring.method_rows import BootstrapSamples, row_of
from prolocutor.plugins.pairing.measuring.model_training import TrainingResult, result_of
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.measuring.partial_training import PartialTraining
from prolocutor.plugins.pairing.measuring.training_plan import TrainingPlan, hash_of, lessons_of
from prolocutor.plugins.pairing.model_files import check_place, save_model
from prolocutor.plugins.pairing.near_duplicates import folds_of, near_duplicates
from prolocutor.plugins.pairing.question_response.answer_pairings import in_order
from prolocutor.plugins.pairing.question_response.cross_encoder_model import METHOD, model_of
from prolocutor.plugins.pairing.question_response.pair_lists import Pair, PairList
from prolocutor.plugins.pairing.question_response.unseen_scores import UnseenScores

_LEAST_RIGHT: Final = 20
_PATIENCE: Final = 2
_WHOLE: Final = "all"
_COUNT: Final = 4
"""Bytes of the number of epochs before a state."""


class TunedModel(Protocol):
    """A cross-encoder in training; `pairing.question_response.fine_tuning` has the one."""

    def learn(
        self, lists: Sequence[PairList], epoch: int, on_lists: Callable[[int], None]
    ) -> float:
        """Learn from all lists once."""

    def logits(self, pairs: Sequence[Pair]) -> list[float]:
        """Return a number for each pair."""

    def state(self) -> bytes:
        """Return all that is needed to go on."""

    def restore(self, state: bytes) -> None:
        """Go on from a state."""

    def tokenizer(self) -> str:
        """Return the tokenizer as JSON."""

    def to_onnx(self) -> bytes:
        """Return the model in ONNX's format."""


class FineTuningPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How a cross-encoder is trained: from the model in `base`, for `epochs` at most."""

    base: Path
    epochs: int = 4
    training: TrainingPlan


class Begin(Protocol):
    """Makes the model that is to be trained."""

    def __call__(self, base: Path, *, seed: int, epochs: int, lists: int) -> TunedModel:
        """Return the model; its learning rate falls over `epochs` of so many lists."""


async def fine_tune(
    data: PairingData,
    wanted: FineTuningPlan,
    folder: Path,
    begin: Begin,
    *,
    on_step: Callable[[str], None] = lambda _: None,
) -> TrainingResult:
    """Fine-tune by folds and then on everything, measure, and write the model's folder.

    `on_step` is called with what is done as it goes. `BadInput` if there is too little to learn
    from.
    """
    check_place(folder)
    plan = wanted.training
    learned = [one for one in lessons_of(data, "ranker") if one.weight > 0]
    right = sum(any(agent in one.answers for agent in one.gold) for one in learned)
    if right < _LEAST_RIGHT:
        what = f"{right} questions have a right answer; {_LEAST_RIGHT} are needed to learn from"
        raise BadInput(what, field="data")
    data_hash = hash_of(data, learned)
    said = (version("prolocutor"), _files_of(wanted.base), wanted.epochs, plan.folds, plan.seed)
    partial = PartialTraining(folder, (said, data_hash))
    tuning = _Tuning(learned, wanted, partial, begin, on_step)
    epoch, logits = tuning.by_folds()
    curve = _curve(learned, logits)
    measured = await _measured(data, learned, plan, logits, curve)
    tuned = tuning.on_everything(epoch)
    on_step("exporting")
    result, card = result_of(data, learned, plan, measured, data_hash)
    unseen = UnseenScores.of(learned, [[*map(curve.logit, its)] for its in logits])
    agents = sorted(_agents(learned))
    model = model_of(tuned.to_onnx(), tuned.tokenizer(), curve, agents, card, unseen)
    saved = save_model(folder, model)
    tuning.partial.remove()
    return msgspec.structs.replace(result, model=saved)


class _Tuning:
    """The fine-tuning of all folds, and of everything."""

    def __init__(
        self,
        learned: Sequence[LabelledQuestion],
        wanted: FineTuningPlan,
        partial: PartialTraining,
        begin: Begin,
        on_step: Callable[[str], None],
    ) -> None:
        self.partial = partial
        self._learned, self._wanted, self._begin, self._on_step = learned, wanted, begin, on_step
        self._lists = [_list_of(one) for one in learned]
        groups = near_duplicates([one.question.text for one in learned])
        plan = wanted.training
        self._folds = folds_of(groups, min(plan.folds, len(set(groups))), plan.seed)

    def by_folds(self) -> tuple[int, list[list[float]]]:
        """Return the best number of epochs, and the numbers of unseen questions at that epoch."""
        found = [self._fold(fold) for fold in sorted(set(self._folds))]
        best, best_right = 0, -1
        merged: list[list[float]] = []
        for epoch in range(self._wanted.epochs):
            logits: list[list[float]] = [[] for _ in self._lists]
            for fold, known in enumerate(found):
                numbers = known[min(epoch, max(known))]
                for place, own in zip(self._of(fold), numbers, strict=True):
                    logits[place] = own
            right = self._right(range(len(logits)), logits)
            if right > best_right:
                best, best_right, merged = epoch, right, logits
        return best + 1, merged

    def on_everything(self, epochs: int) -> TunedModel:
        """Return the model that learned from all questions for so many epochs."""
        tuned = self._began(len(self._teaching(range(len(self._lists)))))
        start = self._restored(tuned, _WHOLE)
        for epoch in range(start, epochs):
            self._epoch(tuned, self._teaching(range(len(self._lists))), epoch, "everything")
            self._kept(tuned, _WHOLE, epoch + 1)
        return tuned

    def _began(self, lists: int) -> TunedModel:
        wanted = self._wanted
        seed = wanted.training.seed
        return self._begin(wanted.base, seed=seed, epochs=wanted.epochs, lists=lists)

    def _fold(self, fold: int) -> dict[int, list[list[float]]]:
        """Return the numbers of a fold after each epoch."""
        unseen = self._of(fold)
        known = self._teaching([one for one in range(len(self._lists)) if self._folds[one] != fold])
        name = f"fold-{fold}"
        done: dict[int, list[list[float]]] = (
            self.partial.read(name, dict[int, list[list[float]]]) or {}
        )
        if self._is_over(done, unseen):
            return done
        label = f"fold {fold + 1} of {len(set(self._folds))}"
        tuned = self._began(len(known))
        epochs = self._restored(tuned, name)
        while True:
            if epochs > len(done):  # killed before the last epoch was scored, or just learned
                done[epochs - 1] = self._scored(tuned, unseen)
                self.partial.write(name, done)
                share = self._right(unseen, done[epochs - 1]) / max(1, self._answerable(unseen))
                self._on_step(f"{label}, epoch {epochs}: {100 * share:.1f} % right")
            if self._is_over(done, unseen):
                break
            self._epoch(tuned, known, epochs, label)
            epochs += 1
            self._kept(tuned, name, epochs)
        self.partial.drop(name)
        return done

    def _is_over(self, done: dict[int, list[list[float]]], unseen: Sequence[int]) -> bool:
        """Return whether a fold has had all epochs, or has not got better for two."""
        if len(done) >= self._wanted.epochs:
            return True
        rights = [self._right(unseen, done[epoch]) for epoch in sorted(done)]
        return len(rights) > _PATIENCE and max(rights[-_PATIENCE:]) <= max(rights[:-_PATIENCE])

    def _epoch(self, tuned: TunedModel, lists: Sequence[PairList], epoch: int, label: str) -> None:
        def on_lists(number: int) -> None:
            self._on_step(f"{label}, epoch {epoch + 1}: {number:,} of {len(lists):,} questions")

        tuned.learn(lists, epoch, on_lists)

    def _restored(self, tuned: TunedModel, name: str) -> int:
        """Restore a training that was interrupted; return the number of epochs that are done."""
        state = self.partial.state(name)
        if state is None:
            return 0
        tuned.restore(state[_COUNT:])
        return int.from_bytes(state[:_COUNT])

    def _kept(self, tuned: TunedModel, name: str, epochs: int) -> None:
        """Keep the state with the number of epochs, both or neither."""
        self.partial.keep(name, epochs.to_bytes(_COUNT) + tuned.state())

    def _scored(self, tuned: TunedModel, places: Sequence[int]) -> list[list[float]]:
        lists = [self._lists[place] for place in places]
        numbers = iter(
            tuned.logits([(one.question, text) for one in lists for text in one.answers])
        )
        return [[next(numbers) for _ in one.answers] for one in lists]

    def _of(self, fold: int) -> list[int]:
        return [place for place, its in enumerate(self._folds) if its == fold]

    def _teaching(self, places: Sequence[int]) -> list[PairList]:
        """Return the lists in which an answer has a vote: others say nothing of the order."""
        return [self._lists[place] for place in places if any(self._lists[place].shares)]

    def _answerable(self, places: Sequence[int]) -> int:
        return sum(bool(self._learned[place].gold) for place in places)

    def _right(self, places: Sequence[int], logits: Sequence[Sequence[float]]) -> int:
        """Count the questions of which the best answer is right."""
        right = 0
        for place, numbers in zip(places, logits, strict=True):
            one = self._learned[place]
            if one.gold and numbers:
                best = max(range(len(numbers)), key=numbers.__getitem__)
                right += list(one.answers)[best] in one.gold
        return right


def _files_of(base: Path) -> list[tuple[str, int, int]]:
    """Return the files of a base, with their sizes and when they were written."""
    found = [(str(file.resolve()), file.stat()) for file in sorted(base.glob("*"))]
    return [(name, its.st_size, its.st_mtime_ns) for name, its in found]


def _list_of(one: LabelledQuestion) -> PairList:
    shares = [max(one.agents.get(agent, 0.0), float(agent in one.gold)) for agent in one.answers]
    return PairList(one.question.text, list(one.answers.values()), shares, one.weight)


def _agents(learned: Sequence[LabelledQuestion]) -> set[str]:
    return {agent for one in learned for agent in one.answers}


def _curve(learned: Sequence[LabelledQuestion], logits: Sequence[Sequence[float]]) -> Sigmoid:
    """Fit the probability that an answer is right to the numbers of unseen questions."""
    every = [
        (number, float(agent in one.gold), one.weight)
        for one, numbers in zip(learned, logits, strict=True)
        for agent, number in zip(one.answers, numbers, strict=True)
    ]
    numbers, right, weights = zip(*every, strict=True)
    return fit_rising(numbers, right, weights)


async def _measured(
    data: PairingData,
    learned: list[LabelledQuestion],
    plan: TrainingPlan,
    logits: Sequence[Sequence[float]],
    curve: Sigmoid,
) -> Measurement:
    """Measure what works without labels, and add the row of the cross-encoder."""
    bench = msgspec.structs.replace(data, learn=[], test=learned, published=False)
    bare = MeasurementPlan(
        routers=["cards"], rankers=["unsupervised"], folds=plan.folds, seed=plan.seed
    )
    measured = await measure(bench, bare)
    scoring = ChoiceScoring(bench)
    choices = []
    for place, (one, numbers) in enumerate(zip(learned, logits, strict=True)):
        by_agent = dict(zip(one.answers, numbers, strict=True))
        answers = scoring.answers(place)
        own = [by_agent[answer.agent] for answer in answers]
        pairs = in_order(answers, [curve(number) for number in own], [""] * len(own), own)
        choices.append(scoring.of_pairs(place, pairs, 0.0, [scoring.asked(place)]))
    groups = near_duplicates([one.question.text for one in learned if one.gold])
    row = row_of(METHOD, "rank", learned, choices, BootstrapSamples(groups, plan.seed))
    return msgspec.structs.replace(
        measured,
        rows=[*measured.rows, row],
        choices=measured.choices | {("rank", METHOD): choices},
    )
