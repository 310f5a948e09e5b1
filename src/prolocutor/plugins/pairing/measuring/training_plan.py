"""TrainingPlan: what is trained, what of the data it learns from, and what all of it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from importlib.metadata import version

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion, Role
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.encoders.encoder_mark import mark_of
from prolocutor.plugins.pairing.measuring.fitting import NO_MODELS, PairingModels
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData
from prolocutor.plugins.pairing.measuring.training_memory import TrainingMemory


class TrainingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is trained. `prior`: the router whose probabilities a ranker learns to weigh.

    `losses`: a ranker's loss curve is measured by folds, and stored in its model. `memory` bounds
    the bytes that learning a ranker takes; where there are more questions, some are learned from.
    """

    role: Role
    method: str
    prior: str = "ensemble"
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
