"""Trees as arrays predict what the library that grew them predicts."""

from __future__ import annotations

from typing import Any

import pytest

numpy = pytest.importorskip("numpy", reason="numpy (the extra learn)")
lightgbm = pytest.importorskip("lightgbm", reason="lightgbm (the extra learn)")

trees = pytest.importorskip("prolocutor.plugins.pairing.question_response.learned")


def grown(rounds: int) -> tuple[Any, Any, Any]:
    dice = numpy.random.default_rng(7)
    rows = dice.normal(size=(400, 6))
    target = 1 / (1 + numpy.exp(-(rows[:, 0] * rows[:, 1] + rows[:, 2])))
    settings = {
        "objective": "cross_entropy",
        "max_depth": trees.DEPTH,
        "verbose": -1,
        "num_threads": 1,
    }
    booster = lightgbm.train(settings, lightgbm.Dataset(rows, target), rounds)
    grown_trees = [
        trees.unpack_tree(one["tree_structure"]) for one in booster.dump_model()["tree_info"]
    ]
    feature, threshold, leaf = (numpy.array(part) for part in zip(*grown_trees, strict=True))
    return (
        trees.TreeEnsemble(feature.astype("i4"), threshold, leaf),
        rows,
        booster.predict(rows, raw_score=True),
    )


def test_a_forest_predicts_what_lightgbm_predicts() -> None:
    forest, rows, expected = grown(30)
    assert numpy.allclose(forest.predict(rows), expected)


def test_a_forest_comes_back_from_its_arrays() -> None:
    forest, rows, expected = grown(5)
    assert numpy.allclose(trees.TreeEnsemble.of_arrays(forest.arrays()).predict(rows), expected)


def test_two_forests_are_joined_by_their_shares() -> None:
    forest, rows, expected = grown(5)
    assert numpy.allclose(trees.joined([forest, forest], 0.5).predict(rows), expected)


def test_a_tree_that_does_not_split_gives_its_one_value() -> None:
    feature, threshold, leaf = trees.unpack_tree({"leaf_value": 0.25})
    forest = trees.TreeEnsemble(
        numpy.array([feature]), numpy.array([threshold]), numpy.array([leaf])
    )
    assert forest.predict(numpy.zeros((2, 3))).tolist() == [0.25, 0.25]
