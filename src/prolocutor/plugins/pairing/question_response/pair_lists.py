"""What a cross-encoder is trained on: questions, each with a list of answers."""

from __future__ import annotations

from typing import Final

import msgspec

LONGEST_PAIR: Final = 96
"""The most tokens of a question and an answer that are read."""

Pair = tuple[str, str]
"""A question and an answer."""


class PairList(msgspec.Struct, frozen=True):
    """One question: its answers, and how right each is, 0 to 1."""

    question: str
    answers: list[str]
    shares: list[float]
    weight: float = 1.0
