"""A cross-encoder as it is stored; making one of it takes ONNX Runtime, this does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.model_files import Model, TrainingCard
from prolocutor.plugins.pairing.question_response.pair_lists import LONGEST_PAIR
from prolocutor.plugins.pairing.question_response.unseen_scores import UnseenScores, part_of

METHOD: Final = "cross-encoder"


def model_of(
    network: bytes,
    tokenizer: str,
    curve: Sigmoid,
    agents: Sequence[str],
    card: TrainingCard,
    unseen: UnseenScores,
) -> Model:
    """Return a cross-encoder as it is stored: `network` in ONNX's format, `tokenizer` as JSON.

    `unseen` lets other rankers learn with it.
    """
    return Model(
        role="ranker",
        method=METHOD,
        agents=list(agents),
        settings={"curve": msgspec.to_builtins(curve), "longest": LONGEST_PAIR},
        parts={"tokenizer": msgspec.json.decode(tokenizer), **part_of(unseen)},
        networks={"model": network},
        card=card,
    )
