"""RecentFigures: what became of the calls of each service in the last day."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import combinations
from operator import add
from typing import Final

import msgspec

from prolocutor.contracts.observer import BOUNDS, FAILURES, ServiceRecord, TurnRecord

STEP: Final = 900
"""Seconds of one slot."""

GOOD: Final = 0.5
"""The probability, or confidence, from which on an answer counts as good."""

KEPT: Final = 97
"""Slots that are kept: a day and what has begun of the next."""

_TIMED: Final = frozenset({"done", "late"})
"""The outcomes that count for durations."""

ServiceKey = tuple[str, str]
"""Stage and name of a service."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """The latest failure of one kind: when (UNIX seconds), its text, and the turn that it was in.

    `utt_id` is the id of the reply.
    """

    at: float
    code: str
    error: str
    turn_id: str
    dialog_id: str
    utt_id: str


class ServiceTally(msgspec.Struct):
    """What became of one service in some turns.

    `asked`, `won` and `declined` count turns, `failed` those in which it failed or was late, by the
    code of the error. `answered` are those in which a skill gave a good answer.
    `buckets` count its seconds where it was done or late, by `BOUNDS`. `up` and `down` are thumbs
    on replies that it won.
    """

    asked: int = 0
    won: int = 0
    declined: int = 0
    answered: int = 0
    failed: Counter[str] = msgspec.field(default_factory=Counter)
    buckets: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    cost: float = 0.0
    up: int = 0
    down: int = 0

    def add(self, other: ServiceTally) -> None:
        """Add the figures of other turns."""
        self.asked += other.asked
        self.won += other.won
        self.declined += other.declined
        self.answered += other.answered
        self.failed.update(other.failed)
        self.buckets = list(map(add, self.buckets, other.buckets))
        self.cost += other.cost
        self.up += other.up
        self.down += other.down

    def failures(self) -> int:
        """Return in how many turns it failed or was late."""
        return sum(self.failed.values())

    def within(self, share: float) -> float | None:
        """Return the seconds within which this share of the answers came; None without any.

        Between the bounds of its bucket it is interpolated.
        """
        wanted, seen = share * sum(self.buckets), 0
        if not wanted:
            return None
        lower = 0.0
        for bound, count in zip((*BOUNDS, BOUNDS[-1]), self.buckets, strict=True):
            if count and seen + count >= wanted:
                return lower + (bound - lower) * (wanted - seen) / count
            seen += count
            lower = bound
        return lower


class _Slot(msgspec.Struct):
    number: int
    turns: int = 0
    services: dict[ServiceKey, ServiceTally] = {}
    together: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)


class RecentFigures:
    """An observer that counts what became of each service in the turns of the last day.

    Its memory does not grow with the traffic: there are 97 slots of a quarter of an hour. `since`
    is when it began.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.since = clock()
        self.ended = 0
        """The number of turns so far."""
        self._slots: deque[_Slot] = deque(maxlen=KEPT)
        self._latest: dict[ServiceKey, dict[str, Trouble]] = {}

    def turn_ended(self, record: TurnRecord) -> None:
        """Count the services of one turn."""
        slot = self._slot(int((record.started + record.seconds) // STEP))
        slot.turns += 1
        self.ended += 1
        answers, winners = _answers(record)
        tallies = slot.services
        for one in record.services:
            started = one.started
            if started is None:
                continue
            stage, name, outcome, ended = one.stage, one.name, one.outcome, one.ended
            key = (stage, name)
            tally = tallies.get(key)
            if tally is None:
                tally = tallies[key] = ServiceTally()
            tally.asked += 1
            if outcome in FAILURES:
                code = one.code or outcome
                tally.failed[code] += 1
                self._latest.setdefault(key, {})[code] = _trouble(one, code, record)
            if ended is not None and outcome in _TIMED:
                tally.buckets[bisect_left(BOUNDS, ended - started)] += 1
            tally.cost += one.cost
            if stage == "skills":
                tally.answered += name in answers
                tally.declined += one.declined
                tally.won += name in winners
            elif stage == "last_chance":
                tally.won += record.by == "last_chance"
        if len(answers) > 1:
            slot.together.update(combinations(sorted(answers), 2))

    def breaker_changed(self, service: str, state: str) -> None:
        """Do nothing: only turns are counted."""

    def turns(self, since: float) -> int:
        """Return the number of turns since a time (UNIX seconds)."""
        return sum(slot.turns for slot in self._after(since))

    def tally(self, key: ServiceKey, since: float) -> ServiceTally:
        """Return what became of a service since a time."""
        whole = ServiceTally()
        for slot in self._after(since):
            if (part := slot.services.get(key)) is not None:
                whole.add(part)
        return whole

    def series(self, key: ServiceKey, since: float, step: int) -> list[tuple[float, ServiceTally]]:
        """Return the figures of a service by steps of so many seconds, with when each begins."""
        steps: dict[int, ServiceTally] = {}
        for slot in self._after(since):
            if (part := slot.services.get(key)) is not None:
                steps.setdefault(slot.number * STEP // step, ServiceTally()).add(part)
        return [(number * float(step), tally) for number, tally in steps.items()]

    def troubles(self, key: ServiceKey) -> list[Trouble]:
        """Return the latest failure of each kind, the newest first."""
        return sorted(self._latest.get(key, {}).values(), key=lambda one: one.at, reverse=True)

    def together(self, agent: str, since: float) -> dict[str, int]:
        """Return in how many of the turns that an agent answered each other one did as well."""
        found: Counter[str] = Counter()
        for slot in self._after(since):
            for (one, other), number in slot.together.items():
                if agent in (one, other):
                    found[other if agent == one else one] += number
        return found

    def _after(self, since: float) -> Iterable[_Slot]:
        return [slot for slot in self._slots if (slot.number + 1) * STEP > since]

    def _slot(self, number: int) -> _Slot:
        """Return the slot of this number; the last one where the clock was put back."""
        if not self._slots or self._slots[-1].number < number:
            self._slots.append(_Slot(number))
        return self._slots[-1]


def _answers(record: TurnRecord) -> tuple[set[str], set[str]]:
    """Return the skills that answered well, and those whose answers were chosen.

    An answer is good if the ranker finds it likely to be right; without ranker, if its skill does.
    """
    scores = record.scores
    answers = {
        _slot_of(one.get("hypothesis_id", ""))
        for one in record.hypotheses
        if scores.get(one.get("hypothesis_id", ""), one.get("confidence") or 0.0) >= GOOD
    }
    return answers, {_slot_of(one) for one in record.chosen} or {record.active_skill}


def _slot_of(hypothesis_id: str) -> str:
    """Return the skill whose hypothesis this is: the id is `<skill>.<position>`."""
    return hypothesis_id.rpartition(".")[0]


def _trouble(one: ServiceRecord, code: str, record: TurnRecord) -> Trouble:
    return Trouble(
        at=record.started + (record.seconds if one.ended is None else one.ended),
        code=code,
        error=one.error or "",
        turn_id=record.turn_id,
        dialog_id=record.dialog_id,
        utt_id=record.utt_id,
    )
