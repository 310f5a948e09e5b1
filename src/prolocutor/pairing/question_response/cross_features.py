"""Features of answers by the numbers that a cross-encoder gives them; none names an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from prolocutor.contracts.pairing import AgentAnswer

NAMES: Final = ("crossed", "lead_crossed", "rank_crossed", "has_crossed")
"""The names of the features, in the order of a row."""

ABSENT: Final = (-3.0, -2.0, 5.0, 0.0)
"""The row of an answer without a number: about the mean of each feature."""

Numbers = Mapping[str, float]
"""What a cross-encoder gives the answers to one question, by their texts: logits, calibrated."""

NO_NUMBERS: Final[Numbers] = {}


def cross_rows(answers: Sequence[AgentAnswer], numbers: Numbers) -> list[tuple[float, ...]]:
    """Return a row of `len(NAMES)` numbers for each answer; `ABSENT` if any lacks its number."""
    if not answers or any(one.text not in numbers for one in answers):
        return without_numbers(answers)
    given = [numbers[one.text] for one in answers]
    ordered = sorted(given, reverse=True)
    best, second = ordered[0], ordered[1] if len(ordered) > 1 else ordered[0]
    return [
        (one, one - (second if one == best else best), float(ordered.index(one)), 1.0)
        for one in given
    ]


def without_numbers(answers: Sequence[AgentAnswer]) -> list[tuple[float, ...]]:
    """Return the rows of answers without numbers."""
    return [ABSENT] * len(answers)
