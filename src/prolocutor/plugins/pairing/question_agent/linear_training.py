"""Training of `linear` and of `ensemble` with its latent index; the models need no scikit-learn.

The router is support vector machines, one agent against the rest. The index is a truncated singular
value decomposition: the directions along which questions differ most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Iterable, Sequence
from heapq import nlargest
from itertools import chain
from math import log
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.decomposition import TruncatedSVD
from sklearn.svm import LinearSVC

from prolocutor.contracts.pairing import LabelledQuestion, TrainingData
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.curve_fitting import fit_sigmoid
from prolocutor.plugins.pairing.encoders.meanings import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.folds import folds_of
from prolocutor.plugins.pairing.question_agent.ensemble import EnsembleRouter
from prolocutor.plugins.pairing.question_agent.knn import KnnRouter
from prolocutor.plugins.pairing.question_agent.latent_index import LatentIndex, direction_of
from prolocutor.plugins.pairing.question_agent.linear import (
    LinearRouter,
    MeaningWeights,
    Terms,
    Vector,
    char_terms,
    vector_of,
    word_terms,
)
from prolocutor.plugins.pairing.question_agent.meant_methods import MeantRouter, meant_fit
from prolocutor.plugins.pairing.question_agent.router_label import router_label_of
from prolocutor.plugins.pairing.question_agent.similarity_index import (
    MeaningIndex,
    SimilarityIndex,
    WordIndex,
)
from prolocutor.reading.near_duplicates import near_duplicates

_COST: Final = 0.1
_FOLDS: Final = 3
_RIGHT: Final = 0.5
_LEAST_SURE: Final = 0.2
_MOST_TERMS: Final = 60_000
_NEVER: Final = -2.0
_NEAREST: Final = 3
_DIRECTIONS: Final = 100
_STEPS: Final = 4
_LEAST_COUNT: Final = 2
_SCALE: Final = 1.0
_FEWEST: Final = 300


def fit(training: TrainingData) -> LinearRouter | Awaitable[MeantRouter]:
    """Learn from labelled questions, with an encoder's vectors if there is one.

    `BadInput` if there are fewer than two.
    """
    return learned(training) if training.encoder is None else meant_fit(training, learned)


def learned(training: TrainingData, vectors: Vectors = NO_VECTORS) -> LinearRouter:
    """Learn from labelled questions and their vectors, if there are some."""
    labelled = [one for one in training.labelled if one.agents]
    if len(labelled) < 2:
        what = (
            f"{len(labelled)} labelled questions are too few to train on; label some, or use cards"
        )
        raise BadInput(what, field="data")
    if not any(word_terms(one.question.text) for one in labelled):
        raise BadInput("no question has a word in it to learn from", field="data")
    agents = list(
        dict.fromkeys(
            chain((card.name for card in training.cards), *(one.agents for one in labelled))
        )
    )
    plain = _trained(labelled, agents, _curve(labelled, agents, training.seed))
    if not vectors:
        return plain
    curve = _curve(labelled, agents, training.seed, vectors)
    return _trained(labelled, agents, curve, vectors, plain)


def fit_ensemble(training: TrainingData) -> EnsembleRouter | Awaitable[MeantRouter]:
    """Return a linear router and the nearest neighbours of the same labels.

    Both read an encoder's vectors if there is one.
    """
    if training.encoder is None:
        return learned_ensemble(training)
    return meant_fit(training, learned_ensemble)


def learned_ensemble(training: TrainingData, vectors: Vectors = NO_VECTORS) -> EnsembleRouter:
    """Return the router; vectors are those of the labelled questions."""
    linear = learned(training, vectors)
    labels = [router_label_of(one) for one in training.labelled if one.agents]
    texts = [one.text for one in labels]
    latent = fit_latent_index(linear, texts)
    index: SimilarityIndex | None = latent
    if vectors:
        index = MeaningIndex.of_texts(texts, vectors, latent or WordIndex())
    neighbours = KnnRouter(training.cards, index=index)
    neighbours.learn_all(labels)
    return EnsembleRouter(linear, neighbours, latent)


def fit_latent_index(linear: LinearRouter, texts: Sequence[str]) -> LatentIndex | None:
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


def _curve(
    labelled: Sequence[LabelledQuestion],
    agents: Sequence[str],
    seed: int,
    vectors: Vectors = NO_VECTORS,
) -> Sigmoid:
    """Fit the curve to what parts of the questions say of the rest.

    The agents that score highest count alone: the many others, far off, would bend it to their
    favour.
    """
    groups = near_duplicates([one.question.text for one in labelled])
    if len(set(groups)) < _FOLDS:
        return Sigmoid(2.0, 0.0)
    folds = folds_of(groups, _FOLDS, seed)
    scores: list[float] = []
    right: list[float] = []
    weights: list[float] = []
    for fold in range(_FOLDS):
        known = [one for one, its in zip(labelled, folds, strict=True) if its != fold]
        router = _trained(known, agents, Sigmoid(), vectors)
        for one in (one for one, its in zip(labelled, folds, strict=True) if its == fold):
            found = zip(router.scores(one.question.text, vectors), agents, strict=True)
            for score, agent in nlargest(_NEAREST, found):
                scores.append(score)
                right.append(one.agents.get(agent, 0.0))
                weights.append(one.weight)
    return fit_sigmoid(scores, right, weights)


def _trained(
    labelled: Sequence[LabelledQuestion],
    agents: Sequence[str],
    curve: Sigmoid,
    vectors: Vectors = NO_VECTORS,
    plain: LinearRouter | None = None,
) -> LinearRouter:
    """Learn the weights of words, or with vectors those of both; `plain` is for texts without."""
    texts = [one.question.text for one in labelled]
    terms, idf = _terms_of(texts)
    matrix = matrix_of([vector_of(text, terms, idf) for text in texts], len(idf))
    if not vectors:
        weights, intercepts = _machines(matrix, labelled, agents)
        return LinearRouter(agents, terms, idf, weights, intercepts, curve)
    meant = csr_matrix(_SCALE * np.array([vectors[text] for text in texts]))
    both = MeaningWeights(
        *_machines(hstack([matrix, meant], "csr"), labelled, agents), curve, _SCALE
    )
    if plain is not None:
        return plain.with_meaning(both)
    no_weights = np.zeros((len(idf), len(agents)), np.float32)
    return LinearRouter(agents, terms, idf, no_weights, both.intercepts, curve, both)


def _machines(
    matrix: Any, labelled: Sequence[LabelledQuestion], agents: Sequence[str]
) -> tuple[Any, Any]:
    """Return weights, a column for each agent, and intercepts."""
    weights = np.zeros((matrix.shape[1], len(agents)), np.float32)
    intercepts = np.full(len(agents), _NEVER, np.float32)
    for column, agent in enumerate(agents):
        shares = np.array([one.agents.get(agent, 0.0) for one in labelled])
        right = shares >= _RIGHT
        if right.all() or not right.any():
            intercepts[column] = -_NEVER if right.all() else _NEVER
            continue
        sure = np.maximum(np.abs(2 * shares - 1), _LEAST_SURE)
        machine = LinearSVC(C=_COST, random_state=0)
        machine.fit(matrix, right, sample_weight=sure * [one.weight for one in labelled])
        weights[:, column] = machine.coef_[0]
        intercepts[column] = machine.intercept_[0]
    return weights, intercepts


def _terms_of(texts: Sequence[str]) -> tuple[list[Terms], list[float]]:
    """Return the terms of each block, the commonest if there are very many, and their idf."""
    terms: list[Terms] = []
    idf: list[float] = []
    for read in (word_terms, char_terms):
        counts = _document_counts(read(text) for text in texts)
        block: Terms = {}
        for term, count in counts.most_common(_MOST_TERMS):
            block[term] = len(idf)
            idf.append(log((1 + len(texts)) / (1 + count)) + 1)
        terms.append(block)
    return terms, idf


def _document_counts(documents: Iterable[Iterable[str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(dict.fromkeys(document, 1))
    return counts


def matrix_of(vectors: Iterable[Vector], width: int) -> Any:
    """Return a sparse row for each vector."""
    places: list[int] = []
    values: list[float] = []
    ends = [0]
    for own_places, own_values in vectors:
        places += own_places
        values += own_values
        ends.append(len(places))
    return csr_matrix((values, places, ends), shape=(len(ends) - 1, width))
