"""What has become of one service in one turn, and of one wave of skills."""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from prolocutor.contracts.observer import Outcome
from prolocutor.errors import ServiceError
from prolocutor.pipeline.prepared import ServiceStep

Standing = Literal["waiting", "held", "asked", "settled"]
"""`waiting` for other services, `held` until it is selected, `asked` and not through, `settled`."""


class WaveNote(msgspec.Struct, frozen=True):
    """How one candidate annotator is through with one wave."""

    outcome: Outcome
    error: ServiceError | None = None


class SkillWave(msgspec.Struct, eq=False):
    """Skills that were selected together; `open` counts those that have not settled.

    `notes` has each candidate annotator that was called for the wave, None until it is through.
    """

    skills: list[str]
    open: int = 0
    notes: dict[int, WaveNote | None] = {}


class LedgerEntry(msgspec.Struct, eq=False):
    """What has become of one service in one turn; times are those that transitions were given.

    `missing` counts what it still waits for, `calls` the calls that were made. A skill has the
    `wave` in which it was selected.
    """

    step: ServiceStep
    missing: int
    standing: Standing = "waiting"
    outcome: Outcome | None = None
    error: ServiceError | None = None
    started: float | None = None
    ended: float | None = None
    calls: int = 0
    wave: SkillWave | None = None


class LedgerWatch(Protocol):
    """Takes note of what becomes of the services of one turn."""

    def asked(self, entry: LedgerEntry) -> None:
        """Take note that a service is asked, for the first time in the turn."""

    def settled(self, entry: LedgerEntry) -> None:
        """Take note that a service has settled, asked or not."""


class LedgerWatches:
    """Two watches of one ledger."""

    def __init__(self, first: LedgerWatch, second: LedgerWatch) -> None:
        self._both = (first, second)

    def asked(self, entry: LedgerEntry) -> None:
        """Pass it on to both."""
        for watch in self._both:
            watch.asked(entry)

    def settled(self, entry: LedgerEntry) -> None:
        """Pass it on to both."""
        for watch in self._both:
            watch.settled(entry)


def watched_by(first: LedgerWatch | None, second: LedgerWatch | None) -> LedgerWatch | None:
    """Return a watch that passes on to both, as far as they are there."""
    return LedgerWatches(first, second) if first and second else first or second
