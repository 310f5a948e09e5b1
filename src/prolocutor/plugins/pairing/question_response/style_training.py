"""Training of the style model, and the logistic regression on shares of votes that it uses."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack
from sklearn.linear_model import LogisticRegression

from prolocutor.plugins.pairing.question_response.answer_style import StyleModel, term_counts
from prolocutor.plugins.pairing.question_response.trees import Floats

_LEAST_SEEN: Final = 2


class StyleWeights(msgspec.Struct, frozen=True):
    """What was learned of each term of a table; `idf` is 0 for those that are too rare."""

    idf: Floats
    weight: Floats
    offset: float


class TermTable:
    """The terms of texts, counted once for all models that learn from parts of them.

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
            _scaled(part, idf)[:, known], right_of[shown], weight_of[shown], strength=3.0
        )
        weight = np.zeros(len(idf))
        weight[known] = model.coef_[0]
        return StyleWeights(idf, weight, float(model.intercept_[0]))

    def scores(self, rows: NDArray[np.int64], learned: StyleWeights) -> Floats:
        """Return what `Wording.score` gives for the texts of these rows."""
        given, places = np.unique(self._row_of[rows], return_inverse=True)
        each = _scaled(self._table[given], learned.idf) @ learned.weight + learned.offset
        found: Floats = each[places]
        return found

    def wording(self, learned: StyleWeights) -> StyleModel:
        """Return what was learned, for texts of any words."""
        known = np.flatnonzero(learned.idf).tolist()
        idf, weight = learned.idf.tolist(), learned.weight.tolist()
        terms = {self._terms[place]: (idf[place], weight[place]) for place in known}
        return StyleModel(terms, learned.offset)


def _scaled(table: Any, idf: Floats) -> Any:
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
