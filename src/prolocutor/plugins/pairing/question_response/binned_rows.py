"""BinnedRows: the features of all answers, binned once for every forest that learns from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import lightgbm
import numpy as np
from numpy.typing import NDArray

from prolocutor.plugins.pairing.question_response.trees import (
    DEPTH,
    LEAVES,
    Floats,
    Rows,
    TreeEnsemble,
    tree_of,
)

_TREES: Final = 100
_BOOSTING: Final[dict[str, Any]] = {
    "objective": "cross_entropy",
    "learning_rate": 0.12,
    "max_depth": DEPTH,
    "num_leaves": LEAVES,
    "min_data_in_leaf": 20,
    "extra_trees": True,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "verbose": -1,
}


class BinnedRows:
    """Rows of features with weights, of which parts are learned from; the bins are those of all."""

    def __init__(self, rows: Rows, weights: Floats) -> None:
        self._whole = lightgbm.Dataset(rows, np.zeros(len(rows)), weight=weights, params=_BOOSTING)
        self._whole.construct()

    def forests(
        self, part: NDArray[np.int64], targets: Sequence[Floats], seed: int
    ) -> list[TreeEnsemble]:
        """Return a forest for each target, learned from the rows `part` (numbers, ascending).

        A target has a value in [0, 1] for every row of all.
        """
        rows = self._whole.subset(part.tolist(), params=_BOOSTING).construct()
        made = []
        for number, target in enumerate(targets):
            rows.set_label(target[part])
            made.append(_forest(rows, len(targets) * seed + number))
        return made


def _forest(rows: Any, seed: int) -> TreeEnsemble:
    booster = lightgbm.train({**_BOOSTING, "seed": seed}, rows, _TREES)
    trees = [tree_of(one["tree_structure"]) for one in booster.dump_model()["tree_info"]]
    feature, threshold, leaf = zip(*trees, strict=True)
    return TreeEnsemble(np.array(feature, dtype=np.int32), np.array(threshold), np.array(leaf))
