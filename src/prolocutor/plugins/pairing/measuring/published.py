"""Published figures beside which the rows of the same data are set, by the number of agents.

Source: Clarke et al., "One Agent To Rule Them All" (Findings of ACL 2022), tables 2 to 4: the whole
test set, of which a folder may hold a part.
"""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.plugins.pairing.measuring.method_rows import PairingStage


class PublishedResult(msgspec.Struct, frozen=True):
    """A published method and its precision@1 (0 to 1)."""

    method: str
    stage: PairingStage
    precision_at_1: float


_METHODS: Final[list[tuple[str, PairingStage, float, float]]] = [
    ("best single agent", "route", 48.06, 51.79),
    ("labelled queries, BERT", "route", 59.10, 68.31),
    ("labelled queries, Electra", "route", 52.86, 67.86),
    ("labelled queries, RoBERTa", "route", 61.88, 69.03),
    ("descriptions, BM25", "route", 23.69, 27.91),
    ("descriptions, USE", "route", 43.59, 47.84),
    ("descriptions, RoBERTa+STS", "route", 36.67, 39.40),
    ("responses, BM25", "rank", 59.94, 51.07),
    ("responses, USE", "rank", 64.42, 72.89),
    ("responses, USE-QA", "rank", 71.66, 75.49),
    ("responses, RoBERTa+STS", "rank", 56.82, 69.83),
    ("responses, MARS cross-encoder", "rank", 83.55, 79.70),
]


def published_for(agents: int) -> list[PublishedResult]:
    """Return the published results for this number of agents."""
    if agents not in (19, 4):
        return []
    return [
        PublishedResult(method, stage, (whole if agents == 19 else four) / 100)
        for method, stage, whole, four in _METHODS
    ]
