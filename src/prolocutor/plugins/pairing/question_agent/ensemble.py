"""Ensemble: the mean of the linear router and of nearest neighbours, which learn online."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import Card, Pairing, UserQuestion
from prolocutor.plugins.pairing.encoders.meanings import NO_VECTORS, Vectors
from prolocutor.plugins.pairing.method_catalog import ENCODER, LABELS, PairingMethod
from prolocutor.plugins.pairing.model_files import Model, TrainingCard
from prolocutor.plugins.pairing.question_agent.follow_ups import pairings
from prolocutor.plugins.pairing.question_agent.knn import KnnRouter
from prolocutor.plugins.pairing.question_agent.latent_index import LatentIndex
from prolocutor.plugins.pairing.question_agent.linear import LinearRouter
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel


class EnsembleRouter:
    """Routes by the mean of two probabilities; online labels go to the neighbours.

    `index` finds the neighbours of a text without a vector; None where words alone find them.
    """

    def __init__(
        self, linear: LinearRouter, neighbours: KnnRouter, index: LatentIndex | None = None
    ) -> None:
        self._linear, self._neighbours, self._index = linear, neighbours, index

    @property
    def agents(self) -> Sequence[str]:
        """The agents of both."""
        known = self._neighbours.agents
        return [*known, *(agent for agent in self._linear.agents if agent not in known)]

    def learn(
        self, question: str | UserQuestion, agents: Mapping[str, float] | Iterable[str]
    ) -> RouterLabel:
        """Learn which agents are right for a question; the next `route` sees it."""
        return self._neighbours.learn(question, agents)

    def learn_all(self, lessons: Iterable[RouterLabel]) -> None:
        """Learn stored labels; they are not stored again."""
        self._neighbours.learn_all(lessons)

    def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        return pairings(self, question)

    def probabilities(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return the mean of both; of the one that knows an agent, if only one does."""
        linear, neighbours = (
            dict(zip(one.agents, one.probabilities(text, vectors), strict=True))
            for one in (self._linear, self._neighbours)
        )
        return [
            (
                linear.get(agent, neighbours.get(agent, 0.0))
                + neighbours.get(agent, linear.get(agent, 0.0))
            )
            / 2
            for agent in self.agents
        ]

    def reason(self, text: str, agent: str, vectors: Vectors = NO_VECTORS) -> str:
        """Quote the most similar question that the agent was right for."""
        return self._neighbours.reason(text, agent, vectors)

    def to_model(self, card: TrainingCard) -> Model:
        """Return what both learned, to be saved."""
        linear, neighbours = self._linear.to_model(card), self._neighbours.to_model(card)
        return msgspec.structs.replace(
            linear,
            method="ensemble",
            parts=linear.parts | neighbours.parts,
            arrays=linear.arrays
            | neighbours.arrays
            | (self._index.arrays() if self._index else {}),
            settings=linear.settings | {"linear_agents": linear.agents},
            agents=list(self.agents),
        )

    @classmethod
    def of_model(
        cls,
        model: Model,
        cards: Sequence[Card] = (),
        *,
        keep: Callable[[RouterLabel], Any] | None = None,
    ) -> EnsembleRouter:
        """Make the router of a model; `ConfigError` if the model is another's."""
        known = model.settings.get("linear_agents", model.agents)
        linear = LinearRouter.of_model(msgspec.structs.replace(model, agents=known))
        index = LatentIndex.of_model(model, linear, len(model.parts.get("lessons", ())))
        return cls(linear, KnnRouter.of_model(model, cards, keep=keep, index=index), index)


METHOD: Final = PairingMethod(
    fit="prolocutor.plugins.pairing.question_agent.linear_training:fit_ensemble",
    needs=LABELS,
    uses=ENCODER,
    reader=EnsembleRouter,
)
