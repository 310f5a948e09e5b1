"""Training of the latent index: the directions along which questions differ most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from sklearn.decomposition import TruncatedSVD

from prolocutor.pairing.question_agent.latent import LatentIndex, direction_of
from prolocutor.pairing.question_agent.linear import LinearRouter
from prolocutor.pairing.question_agent.linear_training import matrix_of

_DIRECTIONS: Final = 100
_STEPS: Final = 4
_LEAST_COUNT: Final = 2
_FEWEST: Final = 300


def fit(linear: LinearRouter, texts: Sequence[str]) -> LatentIndex | None:
    """Learn directions of the texts of lessons 0, 1, ...; None of fewer than 300.

    Terms of a single text have no direction: it could be any.
    """
    if len(texts) < _FEWEST:
        return None
    vectors = [linear.vector(text) for text in texts]
    matrix = matrix_of(vectors, linear.size)
    kept = np.flatnonzero(matrix.getnnz(axis=0) >= _LEAST_COUNT)
    if len(kept) < _DIRECTIONS:
        return None
    found = TruncatedSVD(_DIRECTIONS, n_iter=_STEPS, random_state=0).fit(matrix[:, kept])
    directions = np.ascontiguousarray(found.components_.T, "<f4")
    rows = np.full(linear.size, -1, "<i4")
    rows[kept] = np.arange(len(kept))
    lessons = np.zeros((len(texts), _DIRECTIONS), "<f4")
    for number, (places, values) in enumerate(vectors):
        if places and (vector := direction_of(places, values, rows, directions)) is not None:
            lessons[number] = vector
    return LatentIndex(linear, rows, directions, lessons)
