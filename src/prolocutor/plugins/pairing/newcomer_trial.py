"""NewcomerTrial: which new agents a turn asks, by chance, but the same ones in every run of it."""

from __future__ import annotations

import random
from collections.abc import Iterable

import msgspec

from prolocutor.contracts.pairing import Pairing
from prolocutor.plugins.pairing.calibration import Sigmoid, logit
from prolocutor.plugins.pairing.question_agent.newcomers import NewcomerSettings

_PLAIN = Sigmoid()


class NewcomerTrial(msgspec.Struct, frozen=True):
    """The draws of one turn, by its id: the same turn run again asks the same agents.

    `alone`: one agent alone is asked in a turn, so that nothing judges its answer.
    """

    turn: str
    settings: NewcomerSettings
    alone: bool = False

    def prior(self, routed: Pairing) -> float:
        """Return the probability by which an agent is asked.

        Of a new one it is as high as it may well be (an upper confidence bound: the mean and one
        standard deviation of the logit), because a ranker judges what it answers. Where it is asked
        alone, it is a draw from what is known of it while it is tried out (Thompson sampling), and
        the mean afterwards.
        """
        if routed.doubt <= 0 or self.settings.ask <= 0:
            return routed.probability
        deviates = routed.doubt
        if self.alone:
            deviates *= self._chance(routed.agent).gauss(0.0, 1.0) if routed.tried else 0.0
        return _PLAIN(logit(routed.probability) + deviates)

    def wanted(self, routed: Iterable[Pairing]) -> frozenset[str]:
        """Return the new agents that are to be asked in addition."""
        return frozenset(
            one.agent
            for one in routed
            if one.tried and self._chance(one.agent, "ask").random() < self.settings.ask
        )

    def _chance(self, *about: str) -> random.Random:
        return random.Random("\0".join((self.turn, *about)))
