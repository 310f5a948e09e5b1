"""Budgets for a wanted loss: the promise is kept on questions that the threshold is not from."""

from __future__ import annotations

import random

import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.measuring.loss_budget import AskedPath, loss_of, within_loss
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice

FOLDS = 5


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
def test_a_wanted_loss_is_kept_on_other_folds_with_fewer_calls(loss: float) -> None:
    lost, calls = [], []
    for seed in range(10):
        paths, whole = asked(2000, seed)
        folds = [place % FOLDS for place in range(len(paths))]
        kept = within_loss(loss, paths, whole, [True] * len(paths), folds)
        pairs = list(zip(whole, kept, strict=True))
        lost.append(sum(after.right - choice.right for after, choice in pairs) / len(pairs))
        calls.append(sum(choice.called for choice in kept) / len(kept))
    assert sum(lost) / len(lost) <= loss
    assert sum(each > loss for each in lost) <= 2
    assert sum(calls) / len(calls) < 4.5


def test_where_no_threshold_is_surely_within_the_loss_everybody_is_asked() -> None:
    paths, whole = asked(50, 0)
    folds = [place % FOLDS for place in range(len(paths))]
    assert within_loss(0.001, paths, whole, [True] * len(paths), folds) == whole


def test_the_threshold_of_a_fold_is_not_from_its_own_questions() -> None:
    paths, whole = asked(2000, 3)
    folds = [place % FOLDS for place in range(len(paths))]
    counted = [True] * len(paths)
    before = within_loss(0.05, paths, whole, counted, folds)
    for place, fold in enumerate(folds):
        if fold == 0:
            whole[place] = MethodChoice(agent="a", right=1.0, called=5, probability=1.0)
    after = within_loss(0.05, paths, whole, counted, folds)
    assert [one.threshold for one in after[::FOLDS]] == [one.threshold for one in before[::FOLDS]]


@pytest.mark.parametrize("text", ["loss:", "loss:0", "loss:1.5", "loss:nan", "loss:much"])
def test_what_is_no_loss_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="no loss"):
        loss_of(text)
