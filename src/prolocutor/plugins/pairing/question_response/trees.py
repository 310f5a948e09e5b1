"""TreeEnsemble: small decision trees as arrays, evaluated for all answers at once."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from prolocutor.plugins.pairing.model_files import Array

DEPTH: Final = 3
NODES: Final = 2**DEPTH - 1
LEAVES: Final = 2**DEPTH
_BLOCK: Final = 64

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Rows = Floats | Singles
"""Features, rows x features; in training they are stored in half the room."""


class TreeEnsemble:
    """Complete trees of depth 3: node n has the children 2n + 1 (<= threshold) and 2n + 2 (>).

    `feature` and `threshold` are trees x 7, `leaf` is trees x 8; what is predicted is the sum of
    one leaf a tree.
    """

    def __init__(self, feature: NDArray[np.int32], threshold: Floats, leaf: Floats) -> None:
        self.feature, self.threshold, self.leaf = feature, threshold, leaf
        self._features = feature.ravel()
        self._thresholds = threshold.ravel()
        self._starts = np.arange(len(leaf)) * LEAVES
        self._leaves = leaf.ravel()

    def predict(self, rows: Rows) -> Floats:
        """Return a prediction for each row of features, block by block, so that memory is bounded.

        All trees are walked level by level with array operations instead of branches.
        """
        if len(rows) <= _BLOCK:
            return self._predict(rows)
        parts = [self._predict(rows[at : at + _BLOCK]) for at in range(0, len(rows), _BLOCK)]
        return np.concatenate(parts)

    def _predict(self, rows: Rows) -> Floats:
        more = (rows[:, self._features] > self._thresholds).reshape(len(rows), -1, NODES)
        first = more[:, :, 0]
        second = np.where(first, more[:, :, 2], more[:, :, 1])
        low = np.where(second, more[:, :, 4], more[:, :, 3])
        high = np.where(second, more[:, :, 6], more[:, :, 5])
        leaf = first * 4 + second * 2 + np.where(first, high, low)
        found: Floats = self._leaves[leaf + self._starts].sum(axis=1)
        return found

    def arrays(self) -> dict[str, Array]:
        """Return the trees as a model's arrays."""
        return {
            "trees_feature": Array.of(self.feature, "<i4"),
            "trees_threshold": Array.of(self.threshold, "<f8"),
            "trees_leaf": Array.of(self.leaf, "<f8"),
        }


def forest_of(arrays: dict[str, Array]) -> TreeEnsemble:
    """Return the trees of a model's arrays."""
    return TreeEnsemble(
        arrays["trees_feature"].to_numpy().astype(np.int32),
        arrays["trees_threshold"].to_numpy(),
        arrays["trees_leaf"].to_numpy(),
    )


def joined(forests: list[TreeEnsemble], share: float) -> TreeEnsemble:
    """Return all trees as one, whose prediction is the sum of theirs times `share`."""
    return TreeEnsemble(
        np.concatenate([one.feature for one in forests]),
        np.concatenate([one.threshold for one in forests]),
        np.concatenate([one.leaf for one in forests]) * share,
    )


def tree_of(node: dict[str, Any]) -> tuple[list[int], list[float], list[float]]:
    """Fill one tree, as LightGBM dumps it, up to depth 3: features, thresholds, leaves."""
    feature, threshold, leaf = [0] * NODES, [np.inf] * NODES, [0.0] * LEAVES
    _fill(node, 0, 0, feature, threshold, leaf)
    return feature, threshold, leaf


def _fill(
    node: dict[str, Any],
    place: int,
    depth: int,
    feature: list[int],
    threshold: list[float],
    leaf: list[float],
) -> None:
    if depth == DEPTH:
        leaf[place - NODES] = float(node["leaf_value"])
        return
    inner = "split_feature" in node
    if inner:
        feature[place], threshold[place] = int(node["split_feature"]), float(node["threshold"])
    for side, child in ((1, "left_child"), (2, "right_child")):
        below = node[child] if inner else node
        _fill(below, 2 * place + side, depth + 1, feature, threshold, leaf)
