"""RecentFigures: the outcomes of the calls of each service in the last day."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import combinations_with_replacement
from typing import Final

import msgspec

from prolocutor.contracts.observer import FAILURES, ServiceRecord, TurnRecord
from prolocutor.contracts.turn_record_store import AgentSpan
from prolocutor.stores.agent_figures import add_span, count_service, new_span, winners

SLOT_SECONDS: Final = 900
"""Seconds of one slot."""

GOOD_PROBABILITY: Final = 0.5
"""The probability, or confidence, from which on an answer counts as good."""

MAX_SLOTS: Final = 97
"""Slots that are kept: a day and what has begun of the next."""

ServiceKey = tuple[str, str]
"""Stage and name of a service."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """The latest failure of a kind: its text and its turn.

    `at` is when that turn started, in UNIX seconds; `utt_id` is the id of the reply.
    """

    at: float
    code: str
    error: str
    turn_id: str
    dialog_id: str
    utt_id: str


class _Slot(msgspec.Struct):
    number: int
    turns: int = 0
    services: dict[ServiceKey, AgentSpan] = {}
    together: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    """Turns that two skills answered well, by their names; of one and itself all that it did."""


class RecentFigures:
    """An observer of the outcomes of each service in the turns of the last day.

    Its memory does not grow with the traffic: there are 97 slots of a quarter of an hour. `since`
    is the time when it began.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.since = clock()
        self.ended = 0
        """The number of turns so far."""
        self._slots: deque[_Slot] = deque(maxlen=MAX_SLOTS)
        self._latest: dict[ServiceKey, dict[str, Trouble]] = {}

    def turn_ended(self, record: TurnRecord) -> None:
        """Count the services of a turn."""
        slot = self._slot(int((record.started + record.seconds) // SLOT_SECONDS))
        slot.turns += 1
        self.ended += 1
        won, tallies = winners(record), slot.services
        for one in record.services:
            if one.started is None:
                continue
            stage, name, outcome = one.stage, one.name, one.outcome
            key = (stage, name)
            tally = tallies.get(key)
            if tally is None:
                tally = tallies[key] = new_span()
            count_service(tally, one, record)
            if outcome in FAILURES:
                code = one.code or outcome
                self._latest.setdefault(key, {})[code] = _trouble(one, code, record)
            if stage == "skills":
                tally.won += name in won
            elif stage == "last_chance":
                tally.won += record.by == "last_chance"
        slot.together.update(combinations_with_replacement(sorted(_answers(record)), 2))

    def turns(self, since: float) -> int:
        """Return the number of turns since a time (UNIX seconds)."""
        return sum(slot.turns for slot in self._slots_since(since))

    def tally(self, key: ServiceKey, since: float) -> AgentSpan:
        """Return the outcomes of a service since a time."""
        return total(span for _, span in self.spans(key, since))

    def spans(self, key: ServiceKey, since: float) -> list[tuple[int, AgentSpan]]:
        """Return the start time and the figures of a service for each slot."""
        slots = (
            (slot.number * SLOT_SECONDS, slot.services.get(key))
            for slot in self._slots_since(since)
        )
        return [(at, span) for at, span in slots if span is not None]

    def troubles(self, key: ServiceKey) -> list[Trouble]:
        """Return the latest failure of each kind, the newest first."""
        return sorted(self._latest.get(key, {}).values(), key=lambda one: one.at, reverse=True)

    def together(self, agent: str, since: float) -> dict[str, int]:
        """Return for each agent, itself included, the number of turns with good answers of both."""
        found: Counter[str] = Counter()
        for slot in self._slots_since(since):
            for (one, other), number in slot.together.items():
                if agent in (one, other):
                    found[other if agent == one else one] += number
        return found

    def _slots_since(self, since: float) -> Iterable[_Slot]:
        return [slot for slot in self._slots if (slot.number + 1) * SLOT_SECONDS > since]

    def _slot(self, number: int) -> _Slot:
        """Return the slot of this number; the last slot if the clock was put back."""
        if not self._slots or self._slots[-1].number < number:
            self._slots.append(_Slot(number))
        return self._slots[-1]


def total(spans: Iterable[AgentSpan]) -> AgentSpan:
    """Return the sum of figures."""
    whole = new_span()
    for one in spans:
        add_span(whole, one)
    return whole


def _answers(record: TurnRecord) -> set[str]:
    """Return the skills with good answers.

    An answer is good if the ranker finds it likely to be right; without ranker, if its skill does.
    """
    scores = record.scores
    return {
        one.get("hypothesis_id", "").rpartition(".")[0]
        for one in record.hypotheses
        if scores.get(one.get("hypothesis_id", ""), one.get("confidence") or 0.0)
        >= GOOD_PROBABILITY
    }


def _trouble(one: ServiceRecord, code: str, record: TurnRecord) -> Trouble:
    return Trouble(
        at=record.started,
        code=code,
        error=one.error or "",
        turn_id=record.turn_id,
        dialog_id=record.dialog_id,
        utt_id=record.utt_id,
    )
