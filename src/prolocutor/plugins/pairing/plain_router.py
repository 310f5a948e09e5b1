"""PlainRouter: whom to ask, from Python alone, without an assistant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from prolocutor.contracts.pairing import Card, Pairing, UserQuestion
from prolocutor.plugins.pairing.encoders.meanings import (
    NO_VECTORS,
    PROBES,
    Vectors,
    check_encoder,
    make_mark,
)
from prolocutor.plugins.pairing.method_catalog import load_encoder
from prolocutor.plugins.pairing.model_files import load_model, save_model, training_card
from prolocutor.plugins.pairing.question_agent.follow_ups import pairings
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel

Agents = Mapping[str, float] | Iterable[str]
"""The names of the agents that are right, or how right each is, 0 to 1; none: nobody is."""


class PlainRouter:
    """The router `learned`, used directly; `encoder` is a folder with an ONNX model.

    `from_cards` and `load` make it. Its calls block, and are not for several threads at once.
    """

    def __init__(self, learned: LearnedRouter, encoder: Any = None) -> None:
        self._learned, self._encoder = learned, encoder

    @classmethod
    def from_cards(
        cls, cards: Iterable[Card] | Mapping[str, str], *, encoder: str | Path | None = None
    ) -> PlainRouter:
        """Make a router of cards, or of descriptions by name."""
        if isinstance(cards, Mapping):
            cards = [Card(name=name, description=said) for name, said in cards.items()]
        router = cls(LearnedRouter(list(cards)), None if encoder is None else load_encoder(encoder))
        router._learn_meaning()
        return router

    @classmethod
    def load(cls, folder: str | Path, *, encoder: str | Path | None = None) -> PlainRouter:
        """Read a model written by `save` or `prolocutor train router`."""
        made = None if encoder is None else load_encoder(encoder)
        model = load_model(folder)
        check_encoder(model, made, has_endpoint=False)
        return cls(LearnedRouter.of_model(model), made)

    @property
    def agents(self) -> list[str]:
        """The names of the agents."""
        return list(self._learned.agents)

    def route(self, text: str) -> list[Pairing]:
        """Return a pairing for every agent, the likeliest first."""
        vectors = NO_VECTORS if self._encoder is None else self._vectors([text])
        return pairings(self._learned, UserQuestion(text=text), vectors)

    def learn(self, text: str, agents: Agents) -> None:
        """Learn which agents are right for a question; the next `route` sees it."""
        self._learned.learn(text, agents)

    def learn_all(self, labels: Iterable[tuple[str, Agents]]) -> None:
        """Learn many questions, together with all earlier ones."""
        new = []
        for text, agents in labels:
            shares = dict(agents) if isinstance(agents, Mapping) else dict.fromkeys(agents, 1.0)
            new.append(RouterLabel(text, shares or dict.fromkeys(self.agents, 0.0)))
        self._learned.relearn([*self._learned.lessons, *new])
        self._learn_meaning()

    def save(self, folder: str | Path) -> str:
        """Write a model for `load` and assistants, and return its id."""
        self._learned.relearn(self._learned.lessons)
        self._learn_meaning()
        model = self._learned.to_model(training_card(len(self._learned.lessons)))
        if self._encoder is not None:
            mark = make_mark(self._encoder, self._encoder.encode_now(PROBES))
            model = mark.mark_model(model)
        return save_model(Path(folder), model)

    def _learn_meaning(self) -> None:
        if self._encoder is not None:
            self._learned.learn_meaning(self._vectors(self._learned.texts))

    def _vectors(self, texts: list[str]) -> Vectors:
        found = np.array(self._encoder.encode_now(texts), np.float32)
        return dict(zip(texts, found, strict=True))
