"""Llm: a router by the choice of a chat endpoint among cards; on any failure cards choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import Card, Complete, Pairing, TrainingData, UserQuestion
from prolocutor.errors import BadInput
from prolocutor.plugins.pairing.endpoints import (
    UnusableChoice,
    blend_probabilities,
    choices,
    cut,
    prompt,
)
from prolocutor.plugins.pairing.method_catalog import CHAT, PairingMethod
from prolocutor.plugins.pairing.question_agent.cards import CardsRouter, check_cards

MODEL_TIMEOUT: Final = 1.5
"""Seconds that a model may take: half a second less than services usually have."""

_TASK: Final = (
    "You decide which of several agents is to answer a question. Each agent is known by its name, "
    "a description and examples of what people ask it. Judge the question, together with the turn "
    "before it where it goes on from that, and name the agents that are likely to answer it right, "
    'the best first, as {"agents": [{"name": "...", "probability": 0.0}]}. Use the names exactly '
    "as they are given. The probability is how often, of a hundred such cases, the agent would be "
    "right. If no agent fits, the list is empty."
)
_MOST_AGENTS: Final = 40
_LONGEST_DESCRIPTION: Final = 400
_LONGEST_EXAMPLE: Final = 120
_MOST_EXAMPLES: Final = 3


def fit(training: TrainingData) -> LlmRouter:
    """Make the router of cards and a chat endpoint; `BadInput` if there is none."""
    if training.complete is None:
        raise BadInput("the router llm needs a chat endpoint to ask", field="router")
    return LlmRouter(training.cards, training.complete, seconds=training.seconds or MODEL_TIMEOUT)


class LlmRouter:
    """Routes by a chat model: `complete` takes messages (`role`, `content`), returns its text.

    Among many agents the model is offered the forty likeliest by cards. Its probabilities are
    bounded and blended with the cards'; they are not calibrated by labels.
    """

    def __init__(
        self, cards: Sequence[Card], complete: Complete, *, seconds: float = MODEL_TIMEOUT
    ) -> None:
        self._cards = {card.name: card for card in check_cards(cards)}
        self._complete, self._seconds = complete, seconds
        self._guess = CardsRouter(cards)
        self.agents: Sequence[str] = list(self._cards)

    async def route(self, question: UserQuestion) -> list[Pairing]:
        """Return a pairing for every agent, the best first."""
        guessed = self._guess.route(question)
        offered = [one.agent for one in guessed[:_MOST_AGENTS]]
        try:
            named = await choices(
                self._complete,
                prompt(_TASK, self._material(question, offered)),
                offered,
                [question.text, question.said_before, question.answered_before],
                self._seconds,
            )
        except UnusableChoice as why:
            first, *rest = guessed
            reason = f"{why}; so {first.reason}"
            return [msgspec.structs.replace(first, reason=reason), *rest]
        found = blend_probabilities(named, {one.agent: one.probability for one in guessed})
        order = sorted(found, key=found.__getitem__, reverse=True)
        reason = "the model chose it" if named else "the model says that nobody fits"
        return [
            Pairing(agent, found[agent], reason if not n else "") for n, agent in enumerate(order)
        ]

    def _material(self, question: UserQuestion, offered: Sequence[str]) -> dict[str, Any]:
        material: dict[str, Any] = {
            "agents": [_card_for_model(self._cards[name]) for name in sorted(offered)],
            "question": cut(question.text),
        }
        if question.meant:
            material["question_means"] = cut(question.meant)
        if question.agent_before is not None:
            material["turn_before"] = {
                "question": cut(question.said_before),
                "agent": question.agent_before,
                "answer": cut(question.answered_before),
            }
        return material


def _card_for_model(card: Card) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": card.name}
    if card.description:
        shown["description"] = cut(card.description, _LONGEST_DESCRIPTION)
    if card.examples:
        shown["examples"] = [cut(one, _LONGEST_EXAMPLE) for one in card.examples[:_MOST_EXAMPLES]]
    return shown


METHOD: Final = PairingMethod(fit=fit, needs=CHAT)
