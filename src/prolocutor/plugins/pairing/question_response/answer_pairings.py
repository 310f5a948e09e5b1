"""Pairings of answers in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prolocutor.contracts.pairing import AgentAnswer, Pairing

AnswerKey = tuple[str, int]
"""An agent, and the position of the answer among its own: `Pairing.position`."""


def in_order(
    answers: Sequence[AgentAnswer],
    probabilities: Sequence[float],
    reasons: Sequence[str],
    scores: Sequence[float] | None = None,
) -> list[Pairing]:
    """Return a pairing for every answer, by score, else by probability; ties as they came."""
    pairings = [
        Pairing(agent, probability, reason, position)
        for (agent, position), probability, reason in zip(
            answer_keys(answers), probabilities, reasons, strict=True
        )
    ]
    keys = probabilities if scores is None else scores
    return [pairings[number] for number in sorted(range(len(keys)), key=lambda one: -keys[one])]


def answer_keys(answers: Sequence[AgentAnswer]) -> list[AnswerKey]:
    """Return the key of each answer."""
    counts: Counter[str] = Counter()
    keys = []
    for answer in answers:
        keys.append((answer.agent, counts[answer.agent]))
        counts[answer.agent] += 1
    return keys
