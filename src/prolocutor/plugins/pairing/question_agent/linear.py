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
from prolocutor.plugins.pairing.calibration import Sigmoid
from prolocutor.plugins.pairing.encoders.encoder_mark import EncoderMark
from prolocutor.plugins.pairing.encoders.meanings import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.method_catalog import ENCODER, LABELS, PairingMethod
from prolocutor.plugins.pairing.model_files import Array, Model, TrainingCard
from prolocutor.plugins.pairing.question_agent.follow_ups import pairings
from prolocutor.plugins.pairing.text import char_grams
from prolocutor.reading.words import words

Terms = dict[str, int]
Vector = tuple[list[int], list[float]]

_BLOCKS: Final = ("words", "grams")


class MeaningWeights(msgspec.Struct, frozen=True):
    """Weights of words together with an encoder's vectors, for texts whose vector is known.

    `weights` has a row for each term and then for each number of a vector, which is multiplied by
    `scale`, and a column for each agent. `intercepts` and `curve` are as of a `LinearRouter`.
    """

    weights: Any
    intercepts: Any
    curve: Sigmoid
    scale: float


class LinearRouter:
    """Routes by learned weights.

    `terms` are the blocks' terms with their places, `idf` the idf of each place, `weights` a row
    of float32 for each place and a column for each agent, `intercepts` one for each agent, `curve`
    turns a score into a probability. `meaning` is used in their place where a vector is known.
    """

    def __init__(
        self,
        agents: Sequence[str],
        terms: Sequence[Terms],
        idf: Sequence[float],
        weights: Any,
        intercepts: Any,
        curve: Sigmoid,
        meaning: MeaningWeights | None = None,
    ) -> None:
        self.agents: Sequence[str] = list(agents)
        self._terms, self._idf, self._curve = terms, idf, curve
        self._weights, self._intercepts = weights, intercepts
        self._meaning = meaning

    def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        return pairings(self, question)

    def probabilities(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return the probability of each agent."""
        reads_meaning = self._meaning is not None and text in vectors
        curve = self._meaning.curve if self._meaning and reads_meaning else self._curve
        return [curve(score) for score in self.scores(text, vectors)]

    def scores(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return each agent's signed distance from its decision boundary."""
        places, values = self.vector(text)
        weights, found, meaning = self._weights, self._intercepts, self._meaning
        if meaning is not None and (vector := vectors.get(text)) is not None:
            weights = meaning.weights
            found = meaning.intercepts + meaning.scale * vector @ weights[self.size :]
        if places:
            found = found + np.asarray(values, np.float32) @ weights[places]
        scores: list[float] = found.tolist()
        return scores

    @property
    def size(self) -> int:
        """The number of terms that it knows."""
        return len(self._idf)

    def vector(self, text: str) -> Vector:
        """Return the places of a text's terms and their weights."""
        return vector_of(text, self._terms, self._idf)

    def reason(self, text: str, agent: str, vectors: Vectors = NO_VECTORS) -> str:
        """Name the three words of the largest weight for an agent."""
        column = self._weights[:, self.agents.index(agent)]
        places, values = vector_of(text, self._terms[:1], self._idf)
        said = {place: term for term, place in self._known(text)}
        gains = [
            (float(column[n]) * value, said[n]) for n, value in zip(places, values, strict=True)
        ]
        best = [term for gain, term in sorted(gains, reverse=True)[:3] if gain > 0]
        return f"by its words: {', '.join(best)}" if best else "by how often it is right"

    def with_meaning(self, meaning: MeaningWeights) -> LinearRouter:
        """Return a router of the same words, which reads vectors too."""
        return LinearRouter(
            self.agents,
            self._terms,
            self._idf,
            self._weights,
            self._intercepts,
            self._curve,
            meaning,
        )

    def to_model(self, card: TrainingCard) -> Model:
        """Return what was learned, to be saved."""
        meaning = self._meaning
        also = {} if meaning is None else {"meaning": _settings_of(meaning)}
        return Model(
            role="router",
            method="linear",
            agents=list(self.agents),
            settings={"slope": self._curve.slope, "offset": self._curve.offset, **also},
            parts=dict(zip(_BLOCKS, map(list, self._terms), strict=True)),
            arrays={
                "idf": Array.of(self._idf, "<f4"),
                "weights": Array.of(self._weights, "<f4"),
                "intercepts": Array.of(self._intercepts, "<f4"),
                **({} if meaning is None else _arrays_of(meaning)),
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
                _meaning_of(model, arrays, start),
            )
        except (KeyError, ValueError, TypeError) as error:
            raise ConfigError(f"the model {model.id} is no linear model: {error!r}") from None

    def _known(self, text: str) -> Iterable[tuple[str, int]]:
        block = self._terms[0]
        return [(term, block[term]) for term in word_terms(text) if term in block]


def _settings_of(meaning: MeaningWeights) -> dict[str, float]:
    return {**msgspec.to_builtins(meaning.curve), "scale": meaning.scale}


def _arrays_of(meaning: MeaningWeights) -> dict[str, Array]:
    return {
        "meaning_weights": Array.of(meaning.weights, "<f4"),
        "meaning_intercepts": Array.of(meaning.intercepts, "<f4"),
    }


def _meaning_of(model: Model, arrays: dict[str, Any], size: int) -> MeaningWeights | None:
    """Return the weights of a model that reads vectors; `ValueError` if they do not fit."""
    mark, settings = EncoderMark.of_model(model), model.settings.get("meaning")
    if mark is None or settings is None:
        return None
    weights, intercepts = arrays["meaning_weights"], arrays["meaning_intercepts"]
    if weights.shape != (size + mark.width, len(model.agents)):
        raise ValueError(f"{weights.shape} weights of words and vectors")
    return MeaningWeights(
        weights, intercepts, msgspec.convert(settings, Sigmoid), float(settings["scale"])
    )


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


METHOD: Final = PairingMethod(
    fit="prolocutor.plugins.pairing.question_agent.linear_training:fit",
    needs=LABELS,
    uses=ENCODER,
    reader=LinearRouter,
)
