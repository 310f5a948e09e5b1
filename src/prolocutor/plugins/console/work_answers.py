"""The agents' answers in a turn, and the other agents of a router's choice."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from prolocutor.assistant.assistant import Assistant
from prolocutor.catalog import Catalog
from prolocutor.contracts.pairing import (
    Card,
    Pairing,
    Router,
    TrainingData,
    UserQuestion,
)
from prolocutor.dialog.dialog import BotUtterance, HumanUtterance
from prolocutor.errors import ProlocutorError
from prolocutor.plan.pipeline import Skill

_LIKELY: Final = 9
_CARDS: Final = "cards"
ROUTERS: Final = Catalog[Any]("router", "prolocutor.routers")


class OfferedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's answer; `right` is the ranker's probability if a ranker judged it."""

    agent: str
    right: float | None
    confidence: float
    text: str


class WorkAnswers:
    """The agents' answers to a question at the time, and other likely agents.

    `cards` are the cards of skills from other sources than the services.
    """

    def __init__(self, assistant: Assistant, cards: Mapping[str, Card]) -> None:
        self._assistant, self._known = assistant, cards
        self._router = next((one for one in assistant.models if one.role == "router"), None)
        self._cards: Router | None = None

    @property
    def names(self) -> list[str]:
        """The agents of the assistant."""
        return [one.name for one in self._skills()]

    async def answers(self, utt_id: str) -> tuple[str, list[OfferedAnswer]]:
        """Return the question of a reply, and the agents' answers, the likeliest right first."""
        said, reply = _said_to(await self._assistant.store.turn(utt_id))
        if said is None:
            return "", []
        scores = _scores(reply)
        best: dict[str, OfferedAnswer] = {}
        for one in said.hypotheses:
            agent = one.hypothesis_id.rpartition(".")[0] or one.skill_name
            offered = OfferedAnswer(
                agent=agent, right=scores.get(agent), confidence=one.confidence, text=one.text
            )
            if agent not in best or best[agent].confidence < one.confidence:
                best[agent] = offered
        order = sorted(best.values(), key=lambda one: (-(one.right or 0.0), -one.confidence))
        return said.text, order

    async def likely(self, texts: Sequence[str]) -> list[list[str]]:
        """Return for each text the agents chosen by the router in use, the likeliest first."""
        return await asyncio.to_thread(lambda: [self._route(text) for text in texts])

    def _route(self, text: str) -> list[str]:
        question = UserQuestion(text=text)
        known = set(self.names)
        found: object = None
        if self._router is not None:
            try:
                found = self._router.source.latest.method.route(question)
            except (ProlocutorError, ValueError):
                found = None
        if not isinstance(found, Sequence):
            found = self._route_by_cards(question)
        pairs: Sequence[Pairing] = found
        return [one.agent for one in pairs if one.agent in known][:_LIKELY]

    def _skills(self) -> list[Skill]:
        steps = self._assistant.engine.prepared.every()
        return [one.service for one in steps if isinstance(one.service, Skill)]

    def _card(self, skill: Skill) -> Card:
        known = self._known.get(skill.name)
        return _make_card(skill.name, skill.card_members) if known is None else known

    def _route_by_cards(self, question: UserQuestion) -> Sequence[Pairing]:
        """Route by the cards, if such a router is installed."""
        if self._cards is None:
            if _CARDS not in ROUTERS.names():
                return []
            cards = [self._card(one) for one in self._skills()]
            self._cards = ROUTERS.load(_CARDS).fit(TrainingData(cards=cards))
        return cast("Sequence[Pairing]", self._cards.route(question))


def _said_to(
    turn: Sequence[HumanUtterance | BotUtterance],
) -> tuple[HumanUtterance | None, BotUtterance | None]:
    said = next((one for one in turn if isinstance(one, HumanUtterance)), None)
    reply = next((one for one in turn if isinstance(one, BotUtterance)), None)
    return said, reply


def _scores(reply: BotUtterance | None) -> dict[str, float]:
    """Return the ranker's probability of each agent's best answer, from the reply's attributes."""
    pairing = {} if reply is None else reply.attributes.get("pairing")
    ranked = pairing.get("ranked") if isinstance(pairing, Mapping) else None
    scores: dict[str, float] = {}
    for one in ranked if isinstance(ranked, list) else ():
        if isinstance(one, list) and len(one) == 2 and isinstance(one[1], int | float):
            scores.setdefault(str(one[0]), float(one[1]))
    return scores


def _make_card(name: str, members: Mapping[str, Any]) -> Card:
    examples = members.get("examples")
    return Card(
        name=name,
        description=str(members.get("description") or ""),
        examples=[str(one) for one in examples] if isinstance(examples, list) else [],
    )
