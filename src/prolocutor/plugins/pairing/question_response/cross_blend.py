"""CrossBlend: the probability that a ranker gives an answer, and a cross-encoder's, weighed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer
from prolocutor.plugins.pairing.calibration import Sigmoid, logit

Numbers = Mapping[str, float]
"""What a cross-encoder gives the answers to one question, by their texts: logits, calibrated."""

NO_NUMBERS: Final[Numbers] = {}


class CrossBlend(msgspec.Struct, frozen=True):
    """The probability whose logit is `own` times that of the ranker, `cross` times the number of
    the cross-encoder `id`, and `offset`."""

    id: str = ""
    own: float = 1.0
    cross: float = 0.0
    offset: float = 0.0

    def blended(
        self, answers: Sequence[AgentAnswer], probabilities: Sequence[float], numbers: Numbers
    ) -> list[float]:
        """Return the probabilities of all answers; the ranker's own if any lacks its number."""
        if any(one.text not in numbers for one in answers):
            return list(probabilities)
        curve = Sigmoid(1.0, self.offset)
        return [
            curve(self.own * logit(known) + self.cross * numbers[one.text])
            for one, known in zip(answers, probabilities, strict=True)
        ]
