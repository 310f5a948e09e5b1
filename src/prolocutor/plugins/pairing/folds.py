"""Folds of a cross-validation, which keep groups of near duplicates whole."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence


def deal_folds(groups: Sequence[int], number: int, seed: int = 0) -> list[int]:
    """Deal whole groups out to the folds 0 .. number - 1, evenly, at random."""
    sizes = Counter(groups)
    order = sorted(sizes)
    random.Random(seed).shuffle(order)
    filled = [0] * number
    fold: dict[int, int] = {}
    for group in sorted(order, key=lambda one: -sizes[one]):
        fold[group] = min(range(number), key=filled.__getitem__)
        filled[fold[group]] += sizes[group]
    return [fold[group] for group in groups]
