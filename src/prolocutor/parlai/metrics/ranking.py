"""The rank of the first right candidate, from which hits@k and the mean reciprocal rank follow.

Sources: hits@k is ParlAI 1.7.2's; the reciprocal rank is that of TREC-8 (Voorhees 1999).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from prolocutor.parlai.metrics.normalization import normal_candidate, normalize_answer


def rank_of_first(
    candidates: Iterable[str], labels: Iterable[str], *, within: int | None = None
) -> int | None:
    """Return the rank, from 1, of the first candidate whose normal form is that of a label.

    None if no candidate, or none of the first `within`, is right.
    """
    right = {normalize_answer(label) for label in labels}
    for rank, candidate in enumerate(islice(candidates, within), 1):
        if normal_candidate(candidate) in right:
            return rank
    return None
