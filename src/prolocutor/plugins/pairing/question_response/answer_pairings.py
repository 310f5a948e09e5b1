"""Pairings of answers in order, and the probability that any of them is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp, log, log1p
from typing import Final

from prolocutor.contracts.pairing import AgentAnswer, Pairing, Ranker
from prolocutor.plugins.pairing.calibration import Sigmoid

AnswerKey = tuple[str, int]
"""An agent, and the position of the answer among its own: `Pairing.position`."""

_CERTAIN: Final = 1 - 1e-6
_LEAST: Final = 1e-6


def any_right_probability(ranker: Ranker, pairings: Iterable[Pairing]) -> float:
    """Return the probability that one of the ranked answers is right.

    A ranker that has learned how its probabilities combine has a curve `any_right`; for others the
    answers count as independent.
    """
    curve = getattr(ranker, "any_right", None) or Sigmoid()
    return curve(any_right_logit(one.probability for one in pairings))


def any_right_logit(probabilities: Iterable[float]) -> float:
    """Return the logit of 1 - (1 - p) (1 - q) ...; large and negative if there are none."""
    none = sum(log1p(-min(p, _CERTAIN)) for p in probabilities)
    any_right = min(max(1 - exp(none), _LEAST), _CERTAIN)
    return log(any_right / (1 - any_right))


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
