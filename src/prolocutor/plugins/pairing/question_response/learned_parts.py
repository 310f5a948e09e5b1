"""Parts of the learned ranker in training: style of answers, forests, a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any, Final

import lightgbm
import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack
from sklearn.linear_model import LogisticRegression

from prolocutor.plugins.pairing.question_response.learned import (
    DEPTH,
    LEAVES,
    Floats,
    LinearScore,
    Rows,
    Singles,
    StyleModel,
    TreeEnsemble,
    term_counts,
    unpack_tree,
)

_LEAST_SEEN: Final = 2
"""Times that a term has to occur to count."""


class StyleWeights(msgspec.Struct, frozen=True):
    """The learned weight of each term of a table; `idf` is 0 for rare terms."""

    idf: Floats
    weight: Floats
    offset: float


class TermTable:
    """The terms of texts, counted once for all models of their parts.

    Equal texts share a row of the table: agents say the same again and again.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        different = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        self._row_of = np.array([different[text] for text in texts], dtype=np.int64)
        places: dict[str, int] = {}
        data: list[float] = []
        columns: list[int] = []
        ends = [0]
        for text in different:
            for term, times in term_counts(text).items():
                columns.append(places.setdefault(term, len(places)))
                data.append(1 + log(times))
            ends.append(len(columns))
        self._terms = list(places)
        self._table = csr_matrix((data, columns, ends), shape=(len(different), len(places)))

    def learn(self, rows: NDArray[np.int64], votes: Floats, weights: Floats) -> StyleWeights:
        """Learn which words right answers have: logistic regression on shares of votes."""
        given = self._row_of[rows]
        times = np.bincount(given, minlength=self._table.shape[0])
        shown = np.flatnonzero(times)
        part = self._table[shown]
        seen = np.bincount(
            part.indices,
            weights=np.repeat(times[shown], np.diff(part.indptr)),
            minlength=len(self._terms),
        )
        idf = np.where(seen >= _LEAST_SEEN, 1 + np.log((1 + len(rows)) / (1 + seen)), 0.0)
        known = np.flatnonzero(idf)
        weight_of, right_of = np.zeros(len(times)), np.zeros(len(times))
        np.add.at(weight_of, given, weights)
        np.add.at(right_of, given, weights * votes)
        model = soft_regression(
            _scale_terms(part, idf)[:, known], right_of[shown], weight_of[shown], strength=3.0
        )
        weight = np.zeros(len(idf))
        weight[known] = model.coef_[0]
        return StyleWeights(idf, weight, float(model.intercept_[0]))

    def scores(self, rows: NDArray[np.int64], learned: StyleWeights) -> Floats:
        """Return the values of `Wording.score` for the texts of these rows."""
        given, places = np.unique(self._row_of[rows], return_inverse=True)
        each = _scale_terms(self._table[given], learned.idf) @ learned.weight + learned.offset
        found: Floats = each[places]
        return found

    def wording(self, learned: StyleWeights) -> StyleModel:
        """Return the learned style model, for texts of any words."""
        known = np.flatnonzero(learned.idf).tolist()
        idf, weight = learned.idf.tolist(), learned.weight.tolist()
        terms = {self._terms[place]: (idf[place], weight[place]) for place in known}
        return StyleModel(terms, learned.offset)


def _scale_terms(table: Any, idf: Floats) -> Any:
    """Weigh terms by their rarity, and bring each row to length 1."""
    made = table.copy()
    made.data = made.data * idf[made.indices]
    norms = np.sqrt(made.multiply(made).sum(axis=1)).A1
    lengths = np.repeat(np.where(norms > 0, norms, 1.0), np.diff(made.indptr))
    made.data = made.data / lengths
    return made


def soft_regression(table: Any, right: Floats, weights: Floats, strength: float) -> Any:
    """Fit a logistic regression to rows of which `right` of `weights` count as yes, the rest as
    no."""
    model = LogisticRegression(C=strength, solver="liblinear", max_iter=200, random_state=0)
    answer = np.concatenate([np.ones(len(right)), np.zeros(len(right))])
    shares = np.concatenate([right, weights - right]) + 1e-6
    return model.fit(vstack([table, table]), answer, sample_weight=shares)


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
    trees = [unpack_tree(one["tree_structure"]) for one in booster.dump_model()["tree_info"]]
    feature, threshold, leaf = zip(*trees, strict=True)
    return TreeEnsemble(np.array(feature, dtype=np.int32), np.array(threshold), np.array(leaf))


_PENALTY: Final = 1 / 0.03
_MOST_STEPS: Final = 20
_SMALL: Final = 1e-4
_BLOCK: Final = 2048


class ScaledRows(msgspec.Struct, frozen=True):
    """Rows of features, standardised once for all models of their parts.

    `table` has a column of ones at the end. Means and deviations are those of all rows, which say
    nothing of labels.
    """

    mean: Floats
    deviation: Floats
    table: Singles

    @classmethod
    def standardize(cls, rows: Rows) -> ScaledRows:
        """Return the rows, standardised block by block."""
        mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
        table = np.ones((len(rows), rows.shape[1] + 1), np.float32)
        scale = LinearScore(mean, deviation, np.ones_like(mean), 0.0)
        for start in range(0, len(rows), _BLOCK):
            table[start : start + _BLOCK, :-1] = scale.terms(rows[start : start + _BLOCK])
        return cls(mean, deviation, table)

    def learn(
        self,
        part: NDArray[np.int64],
        target: Floats,
        weights: Floats,
        start: LinearScore | None = None,
    ) -> LinearScore:
        """Fit a logistic regression with a quadratic penalty to shares of votes, 0 to 1.

        It learns from the rows `part`; `target` and `weights` have a value for each row of all.
        `start` is a similar model. With a hundred features and very many rows a step costs one
        product of matrices (iteratively reweighted least squares): six of them, or three from a
        near model.
        """
        penalty = np.full(self.table.shape[1], _PENALTY)
        penalty[-1] = 1e-6
        found = np.zeros(len(penalty))
        if start is not None:
            found[:-1], found[-1] = start.weight, start.offset
        for _ in range(_MOST_STEPS):
            slope, bend = self._slopes(part, target, weights, found)
            slope += penalty * found
            bend[np.diag_indices(len(penalty))] += penalty
            step = np.linalg.solve(bend, slope)
            found -= step
            if np.abs(step).max() < _SMALL:
                break
        return LinearScore(self.mean, self.deviation, found[:-1], float(found[-1]))

    def _slopes(
        self, part: NDArray[np.int64], target: Floats, weights: Floats, found: Floats
    ) -> tuple[Floats, Floats]:
        """Return the first and second derivatives of the loss, summed up block by block."""
        slope, bend = np.zeros(len(found)), np.zeros((len(found), len(found)))
        at = found.astype(np.float32)
        for start in range(0, len(part), _BLOCK):
            numbers = part[start : start + _BLOCK]
            block = self.table[numbers]
            right = 1 / (1 + np.exp(-np.clip(block @ at, -30, 30).astype(float)))
            slope += block.T @ (weights[numbers] * (right - target[numbers])).astype(np.float32)
            block *= np.sqrt(weights[numbers] * right * (1 - right)).astype(np.float32)[:, None]
            bend += block.T @ block
        return slope, bend
