"""Routing: what a router says of a turn, found once for all selectors that want to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from prolocutor.contracts.pairing import Pairing, Router
from prolocutor.pairing.dialog_view import given, question_of
from prolocutor.pairing.reloading import Source, latest

_TURNS: Final = 1000


class Routed(msgspec.Struct, frozen=True):
    """Who is likely to be right, the best first, and the version of the router that says so."""

    pairings: Sequence[Pairing]
    version: str

    @property
    def prior(self) -> dict[str, float]:
        """The probabilities by agent."""
        return {one.agent: one.probability for one in self.pairings}


class Routing:
    """Asks a router once a turn: to ask a chat endpoint twice would cost twice.

    What it said is remembered for the latest turns alone, by their ids.
    """

    def __init__(self, router: Source[Router]) -> None:
        self._router: Source[Router] = router
        self._known: dict[str, Routed] = {}

    async def of(self, request: Mapping[str, Any]) -> Routed:
        """Return what the router says of the turn that a service is asked in."""
        turn = str(request.get("turn_id", ""))
        if turn and (known := self._known.get(turn)) is not None:
            return known
        router: Any = latest(self._router)
        routed = Routed(await given(router.method.route(question_of(request))), router.version)
        if turn:
            self._known[turn] = routed
            if len(self._known) > _TURNS:
                del self._known[next(iter(self._known))]
        return routed
