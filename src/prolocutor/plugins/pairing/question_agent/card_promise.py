"""CardPromise: how often agents are right whose cards speak of a question, found on labelled ones.

It is fitted in plain Python, because routers without NumPy meet new agents too: scores are counted
in steps, of which there are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final

import msgspec

from prolocutor.plugins.pairing.calibration import Sigmoid, logit
from prolocutor.plugins.pairing.question_agent.cards import CardsRouter
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel

_USUAL: Final = -2.0
_MOST: Final = 300
_STEP: Final = 0.25
_ROUNDS: Final = 25
_RIDGE: Final = 4.0
_LONGEST: Final = 1.0
_LEAST: Final = 1e-3


class CardPromise(msgspec.Struct, frozen=True):
    """What a card's probability is worth, and the logit of how often any agent is right."""

    curve: Sigmoid = Sigmoid()
    usual: float = _USUAL

    def __call__(self, probability: float) -> float:
        """Return the logit of how often an agent is right whose card says this."""
        return self.curve.logit(logit(probability))


def card_promise(
    cards: CardsRouter, settled: Sequence[str], lessons: Sequence[RouterLabel]
) -> CardPromise:
    """Return what the cards of these agents were worth; a guess without labels."""
    known = [one for one in lessons if one.agents and not one.judged]
    counts: dict[int, list[float]] = {}
    for one in known[:: max(1, len(known) // _MOST)]:
        found = dict(zip(cards.agents, cards.probabilities(one.text), strict=True))
        for agent in settled:
            bin_ = counts.setdefault(round(logit(found[agent]) / _STEP), [0.0, 0.0])
            bin_[0] += 1
            bin_[1] += one.agents.get(agent, 0.0)
    total, right = (sum(one[n] for one in counts.values()) for n in range(2))
    if not right:
        return CardPromise()
    rows = [(step * _STEP, number, share) for step, (number, share) in counts.items()]
    return CardPromise(_fitted(rows), bounded_logit(right / total))


def bounded_logit(share: float) -> float:
    """Return the logit of a share, of 0 and 1 too."""
    kept = min(max(share, _LEAST), 1 - _LEAST)
    return log(kept / (1 - kept))


def _fitted(rows: Sequence[tuple[float, float, float]]) -> Sigmoid:
    """Return the curve of (score, number, right ones), by Newton's method.

    A few labels leave it near the curve of which cards speak themselves.
    """
    slope, offset = 1.0, 0.0
    for _ in range(_ROUNDS):
        by = _RIDGE * (1.0 - slope)
        up = -_RIDGE * offset
        a, b, c = _RIDGE, 0.0, _RIDGE
        curve = Sigmoid(slope, offset)
        for score, number, right in rows:
            likely = curve(score)
            off, bend = right - number * likely, number * likely * (1 - likely)
            by, up = by + off * score, up + off
            a, b, c = a + bend * score * score, b + bend * score, c + bend
        whole = a * c - b * b
        steps = (c * by - b * up) / whole, (a * up - b * by) / whole
        size = min(1.0, _LONGEST / max(_LEAST, *map(abs, steps)))
        slope, offset = slope + size * steps[0], offset + size * steps[1]
        if max(map(abs, steps)) < _LEAST:
            break
    return Sigmoid(slope, offset)
