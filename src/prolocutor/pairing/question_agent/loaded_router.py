"""LoadedRouter: a router from a model's folder, for the agents that the assistant has now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from prolocutor.contracts.pairing import Card, Pairing, UserQuestion
from prolocutor.errors import ConfigError
from prolocutor.pairing.encoders.encoder_wiring import EncoderWiring, meanings_of
from prolocutor.pairing.encoders.text_vectors import NO_VECTORS, Vectors
from prolocutor.pairing.method_catalog import read_method
from prolocutor.pairing.model_files import Model, agents_that_differ, load_model
from prolocutor.pairing.question_agent.cards import CardsRouter
from prolocutor.pairing.question_agent.follow_ups import pairings
from prolocutor.pairing.question_agent.meant_router import MeaningScorer, MeantRouter


class LoadedRouter(msgspec.Struct, frozen=True):
    """A router, its model (whose `id` is the version), and warnings to show."""

    router: PresentRouter | MeantRouter
    model: Model
    warnings: list[str]


def load_router_model(
    folder: str | Path, cards: Sequence[Card], wired: EncoderWiring | None = None
) -> LoadedRouter:
    """Read a router's model; removed agents are left out, new ones scored by their cards.

    `wired` is the encoder for a model that was trained with one; `ConfigError` without it.
    """
    model = load_model(folder)
    if model.role != "router":
        raise ConfigError(f"is the model of a {model.role}, not of a router", file=str(folder))
    scorer = read_method(model, "router", cards, Path(folder))
    warnings = agents_that_differ(model, {card.name: card for card in cards})
    present = PresentRouter(scorer, cards, model.agents)
    meanings = meanings_of(model, wired, getattr(scorer, "fixed_texts", ()))
    router = present if meanings is None else MeantRouter(present, meanings)
    return LoadedRouter(router, model, warnings)


class PresentRouter:
    """Routes among the agents that have cards, by a model where it knows them, else by cards."""

    def __init__(self, scorer: MeaningScorer, cards: Sequence[Card], known: Sequence[str]) -> None:
        self.agents: Sequence[str] = [card.name for card in cards]
        self._scorer = scorer
        self._cards = CardsRouter(cards) if set(self.agents) - set(known) else None
        self._known = frozenset(known)

    def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every present agent, the best first."""
        return pairings(self, question)

    def probabilities(self, text: str, vectors: Vectors = NO_VECTORS) -> list[float]:
        """Return the probability of each agent."""
        shares = self._scorer.probabilities(text, vectors)
        found = dict(zip(self._scorer.agents, shares, strict=True))
        if self._cards is None:
            return [found[agent] for agent in self.agents]
        guessed = zip(self.agents, self._cards.probabilities(text), strict=True)
        return [found[agent] if agent in self._known else guess for agent, guess in guessed]

    def reason(self, text: str, agent: str, vectors: Vectors = NO_VECTORS) -> str:
        """Return why an agent goes with a text."""
        if self._cards is not None and agent not in self._known:
            return self._cards.reason(text, agent)
        return self._scorer.reason(text, agent, vectors)
