"""The question and answers of a turn, and its routing, which is computed once a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import AgentAnswer, Pairing, Router, UserQuestion
from prolocutor.dialog.rounds import read_follow_up
from prolocutor.plugins.pairing.method_catalog import await_result
from prolocutor.plugins.pairing.model_reloading import MethodSource, latest

WINDOW: Final = 3
"""Utterances that a question is made of: the last whole turn, and the new input."""


def read_question(state: Mapping[str, Any]) -> UserQuestion:
    """Return the question of a turn; `state` is agent state JSON."""
    *before, said = state["utterances"]
    words = said.get("orig_text") or said["text"]
    if len(before) < 2 or "active_skill" not in before[-1]:
        return UserQuestion(text=words)
    found = read_follow_up(said.get("annotations") or {})
    asked, replied = before[-2:]
    return UserQuestion(
        text=words,
        said_before=asked["text"],
        answered_before=replied["text"],
        agent_before=replied["active_skill"],
        meant="" if found is None else found.text,
        meant_surely=0.0 if found is None else min(1.0, max(0.0, found.confidence)),
    )


def answers_of(hypotheses: Sequence[Mapping[str, Any]]) -> list[AgentAnswer]:
    """Return hypotheses as answers, in their order."""
    return [
        AgentAnswer(
            agent=hypothesis_slot(one), text=one["text"], confidence=float(one["confidence"])
        )
        for one in hypotheses
    ]


def hypothesis_slot(hypothesis: Mapping[str, Any]) -> str:
    """Return the slot of a hypothesis: the skill's name in the assistant, not its own claim."""
    return str(hypothesis["hypothesis_id"]).rpartition(".")[0]


_TURNS: Final = 1000
"""Turns whose routing is remembered."""


class RoutingResult(msgspec.Struct, frozen=True):
    """The pairings of a turn, the best first, and the version of the router."""

    pairings: Sequence[Pairing]
    version: str

    @property
    def faults(self) -> list[str]:
        """What went wrong in routing."""
        return [one.fault for one in self.pairings[:1] if one.fault]

    @property
    def prior(self) -> dict[str, float]:
        """The probabilities by agent."""
        return {one.agent: one.probability for one in self.pairings}


class TurnRouting:
    """Routes each turn once for all selectors: a chat endpoint would cost twice.

    Results of the latest 1,000 turns are cached by turn id.
    """

    def __init__(self, router: MethodSource[Router]) -> None:
        self._router: MethodSource[Router] = router
        self._known: dict[str, RoutingResult] = {}

    def known_result(self, request: Mapping[str, Any]) -> RoutingResult | None:
        """Return the cached result of a turn, or None."""
        return self._known.get(str(request.get("turn_id", "")))

    async def route_turn(self, request: Mapping[str, Any]) -> RoutingResult:
        """Return the routing result of the turn of `request`."""
        turn = str(request.get("turn_id", ""))
        if (known := self.known_result(request)) is not None:
            return known
        router: Any = latest(self._router)
        pairings = await await_result(router.method.route(read_question(request)))
        routed = RoutingResult(
            _replace_agents(pairings, request.get("instead") or {}), router.version
        )
        if turn:
            self._known[turn] = routed
            if len(self._known) > _TURNS:
                del self._known[next(iter(self._known))]
        return routed


class RoutingInUse:
    """The routing of a turn by one of several routers, as one may be tried out on some people."""

    def __init__(self, routings: Sequence[TurnRouting]) -> None:
        self._routings = routings

    async def route_turn(self, request: Mapping[str, Any]) -> RoutingResult:
        """Return the routing result of a turn; where no router was asked, the first one is."""
        for one in self._routings:
            if (known := one.known_result(request)) is not None:
                return known
        return await self._routings[0].route_turn(request)


def _replace_agents(
    pairings: Sequence[Pairing], instead: Mapping[str, str | None]
) -> Sequence[Pairing]:
    """Return pairings of the turn's agents.

    A stand-in gets the pairing of the replaced agent, so both get the same questions;
    its own pairing does not count.
    """
    if not instead:
        return pairings
    standing_in = {*instead.values()}
    placed: list[Pairing] = []
    for one in pairings:
        name = instead.get(one.agent, one.agent)
        if name is not None and (one.agent in instead or name not in standing_in):
            placed.append(one if name == one.agent else msgspec.structs.replace(one, agent=name))
    return placed
