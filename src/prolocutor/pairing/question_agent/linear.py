"""Linear: a router by learned weights of words and character n-grams, one agent against the rest.

Two blocks of TF-IDF, each of length 1: words alone and in pairs, and the n-grams of characters
within words. `linear_training` makes it; routing needs NumPy alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import log, sqrt
from typing import Any, Final

import msgspec
import numpy as np

from prolocutor.contracts.pairing import Card, Pairing, UserQuestion
from prolocutor.errors import ConfigError
from prolocutor.pairing.calibration import Sigmoid
from prolocutor.pairing.model_files import Array, Model, TrainingCard
from prolocutor.pairing.question_agent.follow_ups import pairings
from prolocutor.pairing.text import char_grams, words

Terms = dict[str, int]
Vector = tuple[list[int], list[float]]

_BLOCKS: Final = ("words", "grams")


class LinearRouter:
    """Routes by learned weights.

    `terms` are the blocks' terms with their places, `idf` the idf of each place, `weights` a row
    of float32 for each place and a column for each agent, `intercepts` one for each agent, `curve`
    turns a score into a probability.
    """

    def __init__(
        self,
        agents: Sequence[str],
        terms: Sequence[Terms],
        idf: Sequence[float],
        weights: Any,
        intercepts: Any,
        curve: Sigmoid,
    ) -> None:
        self.agents: Sequence[str] = list(agents)
        self._terms, self._idf, self._curve = terms, idf, curve
        self._weights, self._intercepts = weights, intercepts

    def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        return pairings(self, question)

    def probabilities(self, text: str) -> list[float]:
        """Return the probability of each agent."""
        return [self._curve(score) for score in self.scores(text)]

    def scores(self, text: str) -> list[float]:
        """Return each agent's signed distance from its decision boundary."""
        places, values = self.vector(text)
        found = self._intercepts
        if places:
            found = found + np.asarray(values, np.float32) @ self._weights[places]
        scores: list[float] = found.tolist()
        return scores

    @property
    def size(self) -> int:
        """The number of terms that it knows."""
        return len(self._idf)

    def vector(self, text: str) -> Vector:
        """Return the places of a text's terms and their weights."""
        return vector_of(text, self._terms, self._idf)

    def reason(self, text: str, agent: str) -> str:
        """Name the three words of the largest weight for an agent."""
        column = self._weights[:, self.agents.index(agent)]
        places, values = vector_of(text, self._terms[:1], self._idf)
        said = {place: term for term, place in self._known(text)}
        gains = [
            (float(column[n]) * value, said[n]) for n, value in zip(places, values, strict=True)
        ]
        best = [term for gain, term in sorted(gains, reverse=True)[:3] if gain > 0]
        return f"by its words: {', '.join(best)}" if best else "by how often it is right"

    def to_model(self, card: TrainingCard) -> Model:
        """Return what was learned, to be saved."""
        return Model(
            role="router",
            method="linear",
            agents=list(self.agents),
            settings={"slope": self._curve.slope, "offset": self._curve.offset},
            parts=dict(zip(_BLOCKS, map(list, self._terms), strict=True)),
            arrays={
                "idf": Array.of(self._idf, "<f4"),
                "weights": Array.of(self._weights, "<f4"),
                "intercepts": Array.of(self._intercepts, "<f4"),
            },
            card=card,
        )

    @classmethod
    def of_model(cls, model: Model, cards: Sequence[Card] = ()) -> LinearRouter:
        """Make the router of a model, of which cards change nothing.

        `ConfigError` if the model is another's.
        """
        try:
            arrays = {name: one.to_numpy() for name, one in model.arrays.items()}
            terms: list[Terms] = []
            start = 0
            for name in _BLOCKS:
                block: list[str] = model.parts[name]
                terms.append({term: place for place, term in enumerate(block, start)})
                start += len(block)
            if arrays["weights"].shape != (start, len(model.agents)):
                raise ValueError(f"{arrays['weights'].shape} weights")
            return cls(
                model.agents,
                terms,
                arrays["idf"].tolist(),
                arrays["weights"],
                arrays["intercepts"],
                msgspec.convert(model.settings, Sigmoid),
            )
        except (KeyError, ValueError, TypeError) as error:
            raise ConfigError(f"the model {model.id} is no linear model: {error!r}") from None

    def _known(self, text: str) -> Iterable[tuple[str, int]]:
        block = self._terms[0]
        return [(term, block[term]) for term in word_terms(text) if term in block]


def vector_of(text: str, terms: Sequence[Terms], idf: Sequence[float]) -> Vector:
    """Return the places of a text's terms and their weights, each block of length 1."""
    places: list[int] = []
    values: list[float] = []
    for block, found in zip(terms, (word_terms(text), char_terms(text)), strict=False):
        square = 0.0
        block_values = []
        for term, count in Counter(found).items():
            place = block.get(term)
            if place is None:
                continue
            value = idf[place] if count == 1 else idf[place] * (1 + log(count))
            square += value * value
            places.append(place)
            block_values.append(value)
        length = sqrt(square) or 1.0
        values += [value / length for value in block_values]
    return places, values


def word_terms(text: str) -> list[str]:
    """Return the words and the pairs of neighbouring words."""
    found = words(text)
    return [*found, *map(" ".join, pairwise(found))]


def char_terms(text: str) -> Iterable[str]:
    """Return the character n-grams of 2 to 5 within words."""
    return char_grams(text, 2, 5)
