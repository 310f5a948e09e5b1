"""Embedding: a router by cosine between vectors of the question, cards and labelled questions.

The nearest labelled questions vote, and the cards are the prior, as in `knn.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from prolocutor.contracts.pairing import Card, TrainingData
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.pairing.agent_cards import checked, documents
from prolocutor.plugins.pairing.calibration import Sigmoid, logit
from prolocutor.plugins.pairing.curve_fitting import fit_sigmoid
from prolocutor.plugins.pairing.encoders.meanings import (
    NO_VECTORS,
    Vectors,
    trained_meanings,
    vectors_of,
)
from prolocutor.plugins.pairing.method_catalog import ENCODER, LABELS, PairingMethod
from prolocutor.plugins.pairing.model_files import Array, Model, TrainingCard
from prolocutor.plugins.pairing.question_agent.cards import CardsRouter
from prolocutor.plugins.pairing.question_agent.meant_methods import MeantRouter
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel, router_label_of
from prolocutor.reading.near_duplicates import near_duplicates

_NEIGHBOURS: Final = 25
_SHARPNESS: Final = 12.0
_CARDS: Final = 20.0
_WARMTH: Final = 15.0
_MOST_CALIBRATED: Final = 1000
_TOLD: Final = 3
_LEAST: Final = 1e-4
_ARRAY: Final = "embedding_questions"

_NAME: Final = "embedding"


async def fit(training: TrainingData) -> MeantRouter:
    """Encode cards and labelled questions; `BadInput` without an encoder."""
    if training.encoder is None:
        raise BadInput("the router embedding needs an encoder", field="router")
    cards = checked(training.cards)
    labels = [router_label_of(one) for one in training.labelled if one.agents]
    fixed = card_texts(cards)
    vectors = await vectors_of(training.encoder, [*fixed, *(one.text for one in labels)])
    made = EmbeddingRouter(cards, labels, _matrix([vectors[one.text] for one in labels]))
    made.calibrate(vectors)
    return MeantRouter(made, await trained_meanings(training.encoder, fixed))


class EmbeddingRouter:
    """Scores by vectors of length 1; agents without a card are not known.

    `questions` has a row for each label. Without labels its probabilities are rough. Where there is
    no vector, `CardsRouter` scores. `fit`, `of_model` and `of_cards` make it.
    """

    def __init__(
        self,
        cards: Sequence[Card],
        labels: Sequence[RouterLabel] = (),
        questions: Any = None,
        curve: Sigmoid | None = None,
    ) -> None:
        self.agents: Sequence[str] = [card.name for card in cards]
        self.fixed_texts: Sequence[str] = card_texts(cards)
        self._stand_in = CardsRouter(cards)
        self._texts = [(text, n) for n, card in enumerate(cards) for text in _texts(card)]
        self._owners = np.array([owner for _, owner in self._texts])
        self._vectors: Any = None
        self._labels = labels
        self._questions = np.zeros((0, 0), np.float32) if questions is None else questions
        shares = [[one.agents.get(agent, 0.0) for agent in self.agents] for one in labels]
        self._shares = np.array(shares, np.float32).reshape(len(labels), len(cards))
        self._weights = np.array([one.weight for one in labels], np.float32)
        self._curve = curve

    def probabilities(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return the probability of each agent; `vectors` are of the text and of all cards."""
        if text not in vectors:
            return self._stand_in.probabilities(text)
        self._know(vectors)
        scores = self._scores(vectors[text], np.ones(len(self._labels), bool))
        if self._curve is None:
            return [float(score) for score in scores]
        return [self._curve(logit(float(score))) for score in scores]

    def reason(self, text: str, agent: str, vectors: Vectors = NO_VECTORS) -> str:
        """Quote the nearest question that the agent is right for, else of its card."""
        if text not in vectors:
            return self._stand_in.reason(text, agent)
        self._know(vectors)
        vector, place = vectors[text], self.agents.index(agent)
        right = np.flatnonzero(self._shares[:, place] > 0)
        if len(right):
            nearest = right[int(np.argmax(self._questions[right] @ vector))]
            return f"right for: {self._labels[nearest].text[:80]}"
        own = np.flatnonzero(self._owners == place)
        nearest = own[int(np.argmax(self._vectors[own] @ vector))]
        return f"its card: {self._texts[nearest][0][:80]}"

    def to_model(self, card: TrainingCard) -> Model:
        """Return what was learned, to be saved."""
        curve = {} if self._curve is None else {"curve": msgspec.to_builtins(self._curve)}
        return Model(
            role="router",
            method=_NAME,
            agents=list(self.agents),
            settings=curve,
            parts={"lessons": msgspec.to_builtins(self._labels)},
            arrays={_ARRAY: Array.of(self._questions, "<f4")},
            card=card,
        )

    @classmethod
    def of_model(cls, model: Model, cards: Sequence[Card] = ()) -> EmbeddingRouter:
        """Make the router of a model, for the agents that have cards; `ConfigError` if not its."""
        try:
            labels = msgspec.convert(model.parts["lessons"], list[RouterLabel])
            questions = model.arrays[_ARRAY].to_numpy()
            if len(questions) != len(labels):
                raise ValueError(f"{len(questions)} vectors for {len(labels)} labels")
            curve = model.settings.get("curve")
            known = None if curve is None else msgspec.convert(curve, Sigmoid)
        except (KeyError, ValueError) as error:
            raise ConfigError(f"the model {model.id} is no model of embedding: {error}") from None
        return cls(checked(cards), labels, questions, known)

    @classmethod
    def of_cards(cls, cards: Sequence[Card]) -> EmbeddingRouter:
        """Make the router that has learned nothing yet."""
        return cls(checked(cards))

    def calibrate(self, vectors: Vectors) -> None:
        """Fit the curve on labelled questions, each scored without its group of near duplicates."""
        self._know(vectors)
        groups = np.array(near_duplicates([one.text for one in self._labels]))
        if len(set(groups.tolist())) < _TOLD:
            return
        scores: list[float] = []
        right: list[float] = []
        weights: list[float] = []
        step = max(1, len(groups) // _MOST_CALIBRATED)
        for place in range(0, len(groups), step):
            found = self._scores(self._questions[place], groups != groups[place])
            for agent in np.argsort(-found)[:_TOLD]:
                scores.append(logit(float(found[agent])))
                right.append(float(self._shares[place, agent]))
                weights.append(float(self._weights[place]))
        self._curve = fit_sigmoid(scores, right, weights)

    def _know(self, vectors: Vectors) -> None:
        """Take the vectors of cards, which are the same in every turn."""
        if self._vectors is None:
            self._vectors = _matrix([vectors[text] for text, _ in self._texts])

    def _scores(self, vector: Any, known: Any) -> Any:
        """Return the votes of the nearest labelled questions, mixed with the cards' softmax."""
        guess = self._by_cards(vector)
        if not known.any():
            return guess
        near = np.where(known, self._questions @ vector, -1.0)
        places = np.argsort(-near)[:_NEIGHBOURS]
        places = places[known[places]]
        votes = self._weights[places] * np.exp(_SHARPNESS * (near[places] - near[places[0]]))
        said = votes @ self._shares[places] / max(float(votes.sum()), _LEAST)
        total = float(self._weights[known].sum())
        return (total * said + _CARDS * guess) / (total + _CARDS)

    def _by_cards(self, vector: Any) -> Any:
        """Return a softmax over the nearest text of each card."""
        best = np.full(len(self.agents), -1.0)
        np.maximum.at(best, self._owners, self._vectors @ vector)
        warm = np.exp(_WARMTH * (best - best.max()))
        return warm / warm.sum()


def card_texts(cards: Sequence[Card]) -> list[str]:
    """Return the texts of cards whose vectors are read."""
    return [text for card in cards for text in _texts(card)]


def _texts(card: Card) -> list[str]:
    return [*documents(card), card.name]


def _matrix(vectors: Sequence[Any]) -> Any:
    return np.array(vectors, np.float32) if len(vectors) else np.zeros((0, 0), np.float32)


METHOD: Final = PairingMethod(fit=fit, needs=LABELS | ENCODER, reader=EmbeddingRouter)
