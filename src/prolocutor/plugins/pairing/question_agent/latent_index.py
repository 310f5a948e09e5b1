"""LatentIndex: similar questions by subject, also where their words differ.

The terms of a linear router are brought to the directions along which the questions that it learned
from differ most (latent semantic analysis, Deerwester and others 1990); similarity is
the cosine there. `linear_training` makes it; searching needs NumPy alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from typing import Any, Final

import numpy as np

from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.encoders.meanings import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.model_files import Array, Model
from prolocutor.plugins.pairing.question_agent.linear import LinearRouter
from prolocutor.plugins.pairing.question_agent.similarity_index import (
    NEIGHBOURS,
    SECOND,
    Neighbours,
    WordIndex,
    louder,
    nearest_by_cosine,
)

_NAMES: Final = ("latent_rows", "latent_directions", "latent_lessons")


class LatentIndex:
    """Finds the labels that it was trained on by their vectors, and later ones by their words.

    `rows` maps each of the router's terms to its row of `directions`, or -1; `lessons` has a row of
    norm 1 for each label, by number. All are NumPy arrays.
    """

    def __init__(self, linear: LinearRouter, rows: Any, directions: Any, lessons: Any) -> None:
        self._linear = linear
        self._rows, self._directions, self._lessons = rows, directions, lessons
        self._later = WordIndex()

    def add(self, number: int, text: str) -> None:
        """Add a label; the next `nearest` sees it."""
        if number >= len(self._lessons):
            self._later.add(number, text)

    def nearest(self, text: str, vectors: Vectors = NO_VECTORS) -> Neighbours:
        """Return the nearest labels; weights are from 0 to 10, of later ones from 0 to 300.

        So a later label of the very same words outvotes all others (at most 25 x 10), and one of
        half the similarity weighs as much as two others (300 x 0.5^4 = 19).
        """
        later = louder(self._later.nearest(text))
        vector = self._vector(text)
        if vector is None:
            return later
        near = nearest_by_cosine(self._lessons @ vector)
        return nlargest(NEIGHBOURS, [*later, *near], key=SECOND)

    def arrays(self) -> dict[str, Array]:
        """Return what was learned, by name, to be saved."""
        learned = (self._rows, self._directions, self._lessons)
        return {
            name: Array.of(one, "<i4" if name == _NAMES[0] else "<f4")
            for name, one in zip(_NAMES, learned, strict=True)
        }

    @classmethod
    def of_model(cls, model: Model, linear: LinearRouter, lessons: int) -> LatentIndex | None:
        """Make the index of a model that has one; `ConfigError` if its shapes do not fit."""
        if not any(name in model.arrays for name in _NAMES):
            return None
        try:
            rows, directions, known = (model.arrays[name].to_numpy() for name in _NAMES)
            fits = (
                rows.shape == (linear.size,)
                and directions.shape[1:] == known.shape[1:]
                and rows.max(initial=-1) < len(directions)
                and 0 < len(known) <= lessons
            )
        except (KeyError, ValueError) as error:
            raise _misfit(model, repr(error)) from None
        if not fits:
            raise _misfit(model, f"{rows.shape}, {directions.shape}, {known.shape}")
        return cls(linear, rows, directions, known)

    def _vector(self, text: str) -> Any:
        places, values = self._linear.vector(text)
        if not places:
            return None
        return direction_of(places, values, self._rows, self._directions)


def direction_of(places: Sequence[int], values: Sequence[float], rows: Any, directions: Any) -> Any:
    """Return the vector of a text's terms, of length 1; None if no direction knows any of them."""
    found = rows[places]
    known = found >= 0
    vector = np.asarray(values, np.float32)[known] @ directions[found[known]]
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else None


def _misfit(model: Model, what: str) -> ConfigError:
    return ConfigError(f"the model {model.id} has latent arrays that do not fit: {what}")
