"""Parts of the learned ranker in training: style of answers, forests, a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import lightgbm
import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
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
"""Answers in which a term has to occur to count."""


class StyleWeights(msgspec.Struct, frozen=True):
    """What is learned of terms: the columns that count, their scaling, and a linear model."""

    columns: NDArray[np.int64]
    scaling: TfidfTransformer
    model: LogisticRegression


class TermTable:
    """The terms of texts, counted once for all models of their parts."""

    def __init__(self, texts: Sequence[str]) -> None:
        counting = CountVectorizer(analyzer=lambda text: term_counts(text).elements())
        self._table = counting.fit_transform(texts)
        self._terms = counting.get_feature_names_out()

    def learn(self, rows: NDArray[np.int64], votes: Floats, weights: Floats) -> StyleWeights:
        """Learn which words right answers have: logistic regression on shares of votes."""
        part = self._table[rows]
        columns = np.flatnonzero(part.getnnz(axis=0) >= _LEAST_SEEN)
        scaling = TfidfTransformer(sublinear_tf=True)
        table = scaling.fit_transform(part[:, columns])
        model = LogisticRegression(C=3.0, solver="liblinear", max_iter=200, random_state=0)
        return StyleWeights(columns, scaling, _fit_shares(model, table, votes, weights))

    def scores(self, rows: NDArray[np.int64], learned: StyleWeights) -> Floats:
        """Return the values of `StyleModel.score` for the texts of these rows."""
        part = self._table[rows][:, learned.columns]
        found: Floats = learned.model.decision_function(learned.scaling.transform(part))
        return found

    def wording(self, learned: StyleWeights) -> StyleModel:
        """Return the learned style model, for texts of any words."""
        model = learned.model
        weights = zip(learned.scaling.idf_.tolist(), model.coef_[0].tolist(), strict=True)
        terms = self._terms[learned.columns].tolist()
        return StyleModel(dict(zip(terms, weights, strict=True)), float(model.intercept_[0]))


def _fit_shares(model: Any, table: Any, share: Floats, weights: Floats) -> Any:
    """Fit a classifier to rows of which a share counts as yes, and the rest as no."""
    yes, no = np.flatnonzero(share > 0), np.flatnonzero(share < 1)
    rows, answer = np.concatenate([yes, no]), np.repeat([1, 0], [len(yes), len(no)])
    weight = np.concatenate([(weights * share)[yes], (weights * (1 - share))[no]])
    return model.fit(table[rows], answer, sample_weight=weight)


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


_BLOCK: Final = 2048


class ScaledRows(msgspec.Struct, frozen=True):
    """Rows of features, standardised once for all models of their parts.

    Means and deviations are those of all rows, which say nothing of labels.
    """

    mean: Floats
    deviation: Floats
    table: Singles

    @classmethod
    def standardize(cls, rows: Rows) -> ScaledRows:
        """Return the rows, standardised block by block."""
        mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
        table = np.empty(rows.shape, np.float32)
        scale = LinearScore(mean, deviation, np.ones_like(mean), 0.0)
        for start in range(0, len(rows), _BLOCK):
            table[start : start + _BLOCK] = scale.terms(rows[start : start + _BLOCK])
        return cls(mean, deviation, table)

    def learn(self, part: NDArray[np.int64], target: Floats, weights: Floats) -> LinearScore:
        """Fit a logistic regression with a quadratic penalty to shares of votes, 0 to 1.

        It learns from the rows `part`; `target` and `weights` have a value for each row of all.
        """
        model = LogisticRegression(C=0.03, solver="newton-cholesky")
        _fit_shares(model, self.table[part], target[part], weights[part])
        weight = model.coef_[0].astype(float)
        return LinearScore(self.mean, self.deviation, weight, float(model.intercept_[0]))
