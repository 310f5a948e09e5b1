"""StyleModel: weights of words and word pairs of right answers, shared by all agents."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log, sqrt
from typing import Final

from prolocutor.plugins.pairing.text_traits import answer_traits

_LENGTH_STEP: Final = 4
_LONGEST: Final = 9


class StyleModel:
    """A linear model over an answer's terms: TF-IDF of norm 1, times weights, plus an offset.

    `terms` maps a term to its inverse document frequency and its weight.
    """

    def __init__(self, terms: dict[str, tuple[float, float]], offset: float) -> None:
        self.terms, self.offset = terms, offset

    def score(self, text: str) -> float:
        """Return the score of an answer, about a logit that it is right by its words alone."""
        total = norm = 0.0
        for term, times in term_counts(text).items():
            known = self.terms.get(term)
            if known is not None:
                value = (1 + log(times)) * known[0]
                norm += value * value
                total += value * known[1]
        return self.offset + (total / sqrt(norm) if norm else 0.0)


def term_counts(text: str) -> Counter[str]:
    """Count an answer's words and word pairs, and add one term for its length (`#0` to `#9`)."""
    found = answer_traits(text).words
    terms = Counter(found)
    terms.update(f"{first} {second}" for first, second in pairwise(found))
    terms[f"#{min(_LONGEST, len(found) // _LENGTH_STEP)}"] += 1
    return terms
