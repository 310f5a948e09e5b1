"""TrainingMemory: how many questions a ranker learns from, and how many folds at once, in a bound.

Measured with `bench/pairing.py --train`, the peak of the whole process over 909 to 9,090 questions
of 19 agents. With an encoder each answer has more features, and each text a vector.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.measuring.fitting import Folding

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
