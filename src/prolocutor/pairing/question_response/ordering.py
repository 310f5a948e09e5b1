"""From probabilities of answers to pairings, the best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prolocutor.contracts.pairing import Answer, Pairing


def in_order(
    answers: Sequence[Answer],
    probabilities: Sequence[float],
    reasons: Sequence[str],
    scores: Sequence[float] | None = None,
) -> list[Pairing]:
    """Return a pairing for every answer, by score, else by probability; ties as they came."""
    told: Counter[str] = Counter()
    pairings = []
    for answer, probability, reason in zip(answers, probabilities, reasons, strict=True):
        pairings.append(Pairing(answer.agent, probability, reason, told[answer.agent]))
        told[answer.agent] += 1
    keys = probabilities if scores is None else scores
    return [pairings[place] for place in sorted(range(len(keys)), key=lambda at: -keys[at])]
