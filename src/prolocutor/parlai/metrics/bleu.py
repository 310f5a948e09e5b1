"""BLEU of one sentence, to the numbers that ParlAI 1.7.2 gets from nltk.

Sources: Papineni et al. 2002 (clipped precisions, closest reference, brevity penalty); smoothing
method 1 of Chen and Cherry 2014: a precision with no match counts epsilon = 1e-12 matches. The
weights are uniform, a missing order counts as 0 of 1, and an empty text is one empty word, so a
perfect answer of fewer words than the highest order scores next to nothing (see `sacrebleu` in
`published.py` for one that does not).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import exp, fsum, log
from typing import Final

Gram = str | tuple[str, ...]

_EPSILON: Final = 1e-12
_EMPTY: Final = [""]


def bleu_scores(
    guess: Sequence[str], labels: Sequence[Sequence[str]], orders: Sequence[int]
) -> list[float]:
    """Return BLEU-k, 0 to 1, for each k of `orders` (ascending), of normal words."""
    if guess in labels:
        return [_perfect(max(0, order - max(1, len(guess))), order) for order in orders]
    guess, labels = guess or _EMPTY, [label or _EMPTY for label in labels]
    found = _matches(guess, labels, orders[-1])
    if not found[0]:
        return [0.0] * len(orders)
    logs = [_log_precision(matches, len(guess) - place) for place, matches in enumerate(found)]
    penalty = _brevity_penalty(len(guess), labels)
    return [penalty * exp(fsum([1 / order * one for one in logs[:order]])) for order in orders]


@lru_cache(maxsize=64)
def _perfect(missing: int, order: int) -> float:
    """Score the guess that is one of the labels, with no words for the `missing` highest orders."""
    return exp(fsum([1 / order * log(_EPSILON)] * missing))


def _matches(guess: Sequence[str], labels: list[Sequence[str]], highest: int) -> list[int]:
    """Count the n-grams of the guess that a label has too, for n = 1 to `highest`.

    Each counts at most as often as in the label where it is most frequent.
    """
    found = [0] * highest
    for order in range(1, highest + 1):
        grams = _grams(guess, order)
        different = set(grams)
        if len(different) == len(grams):
            matches = _shared(different, (_grams(label, order) for label in labels))
        else:
            matches = _clipped(grams, [_grams(label, order) for label in labels])
        if not matches:
            break  # what does not match at this length does not at a greater one
        found[order - 1] = matches
    return found


def _shared(different: set[Gram], labels: Iterable[Sequence[Gram]]) -> int:
    common: set[Gram] = set()
    for grams in labels:
        common |= different.intersection(grams)
    return len(common)


def _clipped(grams: Sequence[Gram], labels: list[Sequence[Gram]]) -> int:
    most: Counter[Gram] = Counter()
    for label in labels:
        most |= Counter(label)
    return sum(min(number, most[gram]) for gram, number in Counter(grams).items())


def _grams(words: Sequence[str], order: int) -> Sequence[Gram]:
    if order == 1:
        return words
    if order == 2:
        return list(pairwise(words))
    return list(zip(*[words[start:] for start in range(order)], strict=False))


def _log_precision(matches: int, grams: int) -> float:
    return log((matches or _EPSILON) / max(1, grams))


def _brevity_penalty(length: int, labels: list[Sequence[str]]) -> float:
    """Punish a guess that is shorter than the label whose length is closest (of two, the short)."""
    closest = min((abs(len(label) - length), len(label)) for label in labels)[1]
    return 1.0 if length > closest else exp(1 - closest / length)
