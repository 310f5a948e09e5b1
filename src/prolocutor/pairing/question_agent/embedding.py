"""Embedding: a router by cosine between vectors of the question, cards and labelled questions.

The nearest labelled questions vote, and the cards are the prior, as in `knn.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from prolocutor.contracts.pairing import (
    Card,
    Encoder,
    LabelledQuestion,
    Pairing,
    TrainingData,
    UserQuestion,
)
from prolocutor.errors import BadInput, ProlocutorError
from prolocutor.pairing.agent_cards import checked, documents
from prolocutor.pairing.calibration import Sigmoid, fit_sigmoid, logit
from prolocutor.pairing.near_duplicates import near_duplicates
from prolocutor.pairing.question_agent.cards import CardsRouter
from prolocutor.pairing.question_agent.follow_ups import pairings

_NEIGHBOURS: Final = 25
_SHARPNESS: Final = 12.0
_CARDS: Final = 20.0
_WARMTH: Final = 15.0
_MOST_CALIBRATED: Final = 1000
_TOLD: Final = 3
_LEAST: Final = 1e-4


async def fit(training: TrainingData) -> EmbeddingRouter:
    """Encode cards and labelled questions; `BadInput` without an encoder."""
    if training.encoder is None:
        raise BadInput("the router embedding needs an encoder", field="router")
    cards = checked(training.cards)
    texts = [(text, n) for n, card in enumerate(cards) for text in _texts(card)]
    labelled = [one for one in training.labelled if one.agents]
    made = EmbeddingRouter(
        training.encoder,
        cards,
        texts,
        _matrix(await training.encoder.encode([text for text, _ in texts])),
        labelled,
        _matrix(await training.encoder.encode([one.question.text for one in labelled])),
    )
    made.calibrate()
    return made


class EmbeddingRouter:
    """Routes by vectors of length 1; agents without a card are not known.

    Without labels its probabilities are rough. Where the encoder fails, `CardsRouter` routes.
    `fit` makes it.
    """

    def __init__(
        self,
        encoder: Encoder,
        cards: Sequence[Card],
        texts: Sequence[tuple[str, int]],
        vectors: Any,
        labelled: Sequence[LabelledQuestion],
        questions: Any,
    ) -> None:
        self.agents: Sequence[str] = [card.name for card in cards]
        self._stand_in = CardsRouter(cards)
        self._encoder = encoder
        self._texts, self._vectors = texts, vectors
        self._owners = np.array([owner for _, owner in texts])
        self._labelled, self._questions = labelled, questions
        shares = [[one.agents.get(agent, 0.0) for agent in self.agents] for one in labelled]
        self._shares = np.array(shares, np.float32).reshape(len(labelled), len(cards))
        self._weights = np.array([one.weight for one in labelled], np.float32)
        self._curve: Sigmoid | None = None

    async def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        texts = [question.text]
        if question.agent_before is not None:
            texts.append(f"{question.said_before} {question.text}")
        try:
            vectors = _matrix(await self._encoder.encode(texts))
        except ProlocutorError as error:
            first, *rest = self._stand_in.route(question)
            reason = f"the encoder failed ({error}); so {first.reason}"
            return [msgspec.structs.replace(first, reason=reason), *rest]
        return pairings(_Judged(self, dict(zip(texts, vectors, strict=True))), question)

    def judged(self, vector: Any) -> list[float]:
        """Return the probability of each agent for a question's vector."""
        scores = self._scores(vector, np.ones(len(self._labelled), bool))
        if self._curve is None:
            return [float(score) for score in scores]
        return [self._curve(logit(float(score))) for score in scores]

    def reason(self, vector: Any, agent: str) -> str:
        """Quote the nearest question that the agent is right for, else of its card."""
        place = self.agents.index(agent)
        right = np.flatnonzero(self._shares[:, place] > 0)
        if len(right):
            nearest = right[int(np.argmax(self._questions[right] @ vector))]
            return f"right for: {self._labelled[nearest].question.text[:80]}"
        own = np.flatnonzero(self._owners == place)
        nearest = own[int(np.argmax(self._vectors[own] @ vector))]
        return f"its card: {self._texts[nearest][0][:80]}"

    def calibrate(self) -> None:
        """Fit the curve on labelled questions, each scored without its group of near duplicates."""
        groups = np.array(near_duplicates([one.question.text for one in self._labelled]))
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


class _Judged:
    """The vectors of one question's texts as a `TextScorer`."""

    def __init__(self, router: EmbeddingRouter, vectors: dict[str, Any]) -> None:
        self.agents = router.agents
        self._router, self._vectors = router, vectors

    def probabilities(self, text: str) -> list[float]:
        return self._router.judged(self._vectors[text])

    def reason(self, text: str, agent: str) -> str:
        return self._router.reason(self._vectors[text], agent)


def _texts(card: Card) -> list[str]:
    return [*documents(card), card.name]


def _matrix(vectors: Sequence[Sequence[float]]) -> Any:
    return np.array(vectors, np.float32) if len(vectors) else np.zeros((0, 0), np.float32)
