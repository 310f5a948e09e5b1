"""TrainingPlan: what is trained, what of the data it learns from, and within which memory.

The bounds of memory were measured with `bench/pairing.py --train`, the peak of the whole process
over 909 to 9,090 questions of 19 agents. With an encoder each answer has more features, and each
text a vector.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import blake2b
from importlib.metadata import version
from typing import Final

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion, Role
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.encoders.encoder_mark import mark_of
from prolocutor.plugins.pairing.measuring.fitting import NO_MODELS, Folding, PairingModels
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData

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
        return max(1, min(wanted, (self.most - self._fixed(answers)) // self._fold(answers)))

    def fitting(self, learned: list[LabelledQuestion], seed: int) -> list[LabelledQuestion]:
        """Return the questions to learn from: all, or as many as fit, by chance.

        `BadInput` if hardly any would fit.
        """
        each = self._fixed(_answers(learned)) - _WHOLE + self._fold(_answers(learned))
        number = (self.most - _WHOLE) * len(learned) // max(1, each)
        if number >= len(learned):
            return learned
        if number < _LEAST:
            least = (_WHOLE + _LEAST * each // max(1, len(learned))) // 1_000_000 + 1
            what = f"{self.most // 1_000_000} MB are too little to learn in"
            raise BadInput(f"{what}; give {least} MB or more", field="memory")
        chosen = random.Random(seed).sample(range(len(learned)), number)
        return [learned[place] for place in sorted(chosen)]

    def _fixed(self, answers: int) -> int:
        return _WHOLE + answers * (_ANSWER + _MEANT * self.meant)

    def _fold(self, answers: int) -> int:
        return max(1, answers * (_IN_FOLD + _MEANT * self.meant))


def folding_within(
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

    `losses`: a ranker's loss curve is measured by folds, and stored in its model. `memory` bounds
    the bytes that learning a ranker takes; where there are more questions, some are learned from.
    """

    role: Role
    method: str
    prior: str = "learned"
    folds: int = 5
    seed: int = 0
    models: PairingModels = NO_MODELS
    losses: bool = False
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


def hash_of(data: PairingData, learned: Sequence[LabelledQuestion]) -> str:
    """Return a hash over the cards and all questions that are learned from."""
    content = msgspec.json.encode((data.cards, learned), order="deterministic")
    return blake2b(content, digest_size=16).hexdigest()


async def dependencies_of(
    data: PairingData, learned: Sequence[LabelledQuestion], wanted: TrainingPlan
) -> object:
    """Return all that the folds of a training depend on."""
    encoder = wanted.models.encoder
    mark = "" if encoder is None else (await mark_of(encoder)).fingerprint
    plan = (wanted.role, wanted.method, wanted.prior, wanted.folds, wanted.seed)
    return version("prolocutor"), plan, hash_of(data, [*learned, *data.learn]), mark
