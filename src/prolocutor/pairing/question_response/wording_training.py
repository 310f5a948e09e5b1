"""Learning on shares of votes: what right answers sound like, and logistic regression for it."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.linear_model import LogisticRegression

from prolocutor.pairing.question_response.trees import Floats
from prolocutor.pairing.question_response.wording import (
    Wording,
    inverse_frequencies,
    term_counts,
)


def learn_wording(texts: Sequence[str], votes: Floats, weights: Floats) -> Wording:
    """Learn which words right answers have: logistic regression on shares of votes."""
    counted = [term_counts(text) for text in texts]
    idf = inverse_frequencies(counted)
    place = {term: number for number, term in enumerate(idf)}
    data: list[float] = []
    columns: list[int] = []
    ends = [0]
    for terms in counted:
        known = [
            (place[term], (1 + log(n)) * idf[term]) for term, n in terms.items() if term in idf
        ]
        norm = sqrt(sum(value * value for _, value in known)) or 1.0
        columns += [column for column, _ in known]
        data += [value / norm for _, value in known]
        ends.append(len(columns))
    table = csr_matrix((data, columns, ends), shape=(len(counted), len(place)))
    model = soft_regression(table, votes, weights, strength=3.0)
    learned = model.coef_[0].tolist()
    return Wording(
        {term: (idf[term], learned[number]) for term, number in place.items()},
        float(model.intercept_[0]),
    )


def soft_regression(
    table: Any, target: Floats, weights: Floats, strength: float
) -> LogisticRegression:
    """Fit a logistic regression to targets between 0 and 1: each row counts as yes and as no."""
    solver = "liblinear" if isinstance(table, csr_matrix) else "lbfgs"
    model = LogisticRegression(C=strength, solver=solver, max_iter=200, random_state=0)
    twice = vstack([table, table]) if solver == "liblinear" else np.concatenate([table, table])
    answer = np.concatenate([np.ones(len(target)), np.zeros(len(target))])
    shares = np.concatenate([target * weights, (1 - target) * weights]) + 1e-6
    return model.fit(twice, answer, sample_weight=shares)
