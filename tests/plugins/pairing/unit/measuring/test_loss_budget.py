"""Budgets for a wanted loss: the promise is kept on questions that the threshold is not from."""

from __future__ import annotations

import random

import pytest

from prolocutor.plugins.pairing.measuring.budgets import AskedPath, loss_curve, stopped
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice


def asked(number: int, seed: int) -> tuple[list[AskedPath], list[MethodChoice]]:
    """Make paths of five calls, whose surest answers are right as often as they say."""
    chance = random.Random(seed)
    paths: list[AskedPath] = []
    whole = []
    for _ in range(number):
        path, probability = [], 0.0
        for called in range(1, 6):
            probability = max(probability, chance.random() ** 2)
            path.append(
                MethodChoice(
                    agent="a",
                    right=float(chance.random() < probability),
                    called=called,
                    probability=probability,
                )
            )
        paths.append(path)
        whole.append(path[-1])
    return paths, whole


@pytest.mark.parametrize("loss", [0.02, 0.05])
def test_a_wanted_loss_is_kept_on_other_questions_with_fewer_calls(loss: float) -> None:
    lost, calls = [], []
    for seed in range(10):
        threshold = loss_curve(list(zip(*asked(2000, seed), strict=True))).threshold(loss)
        assert threshold is not None
        paths, whole = asked(2000, 100 + seed)
        kept = [stopped(path, threshold) for path in paths]
        pairs = list(zip(whole, kept, strict=True))
        lost.append(sum(after.right - choice.right for after, choice in pairs) / len(pairs))
        calls.append(sum(choice.called for choice in kept) / len(kept))

    assert sum(lost) / len(lost) <= loss
    assert sum(each > loss for each in lost) <= 2
    assert sum(calls) / len(calls) < 4.5


def test_where_no_threshold_is_surely_within_the_loss_everybody_is_asked() -> None:
    paths, whole = asked(50, 0)

    assert loss_curve(list(zip(paths, whole, strict=True))).threshold(0.001) is None
