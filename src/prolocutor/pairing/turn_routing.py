"""Dialog view: the agent state as routers and rankers read it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, Pairing, Router, UserQuestion
from prolocutor.pairing.model_reloading import MethodSource, latest

WINDOW: Final = 3
"""Utterances that a question is made of: the last whole turn, and what is said now."""


def question_of(state: Mapping[str, Any]) -> UserQuestion:
    """Return what is asked, and apart from it the last whole turn; `state` is agent state JSON."""
    *before, said = state["utterances"]
    if len(before) < 2 or "active_skill" not in before[-1]:
        return UserQuestion(text=said["text"])
    asked, replied = before[-2:]
    return UserQuestion(
        text=said["text"],
        said_before=asked["text"],
        answered_before=replied["text"],
        agent_before=replied["active_skill"],
    )


def answers_of(hypotheses: Sequence[Mapping[str, Any]]) -> list[AgentAnswer]:
    """Return the answers that hypotheses are, in their order."""
    return [
        AgentAnswer(agent=slot_of(one), text=one["text"], confidence=float(one["confidence"]))
        for one in hypotheses
    ]


async def awaited(
    pairings: Sequence[Pairing] | Awaitable[Sequence[Pairing]],
) -> Sequence[Pairing]:
    """Return pairings, awaited where the method is async."""
    return await pairings if isinstance(pairings, Awaitable) else pairings


def slot_of(hypothesis: Mapping[str, Any]) -> str:
    """Return the skill whose hypothesis this is, whatever name it gave itself."""
    return str(hypothesis["hypothesis_id"]).rpartition(".")[0]


_TURNS: Final = 1000


class RoutingResult(msgspec.Struct, frozen=True):
    """Who is likely to be right, the best first, and the version of the router that says so."""

    pairings: Sequence[Pairing]
    version: str

    @property
    def prior(self) -> dict[str, float]:
        """The probabilities by agent."""
        return {one.agent: one.probability for one in self.pairings}


class TurnRouting:
    """Asks a router once a turn: to ask a chat endpoint twice would cost twice.

    What it said is remembered for the latest turns alone, by their ids.
    """

    def __init__(self, router: MethodSource[Router]) -> None:
        self._router: MethodSource[Router] = router
        self._known: dict[str, RoutingResult] = {}

    async def of(self, request: Mapping[str, Any]) -> RoutingResult:
        """Return what the router says of the turn that a service is asked in."""
        turn = str(request.get("turn_id", ""))
        if turn and (known := self._known.get(turn)) is not None:
            return known
        router: Any = latest(self._router)
        routed = RoutingResult(
            await awaited(router.method.route(question_of(request))), router.version
        )
        if turn:
            self._known[turn] = routed
            if len(self._known) > _TURNS:
                del self._known[next(iter(self._known))]
        return routed
