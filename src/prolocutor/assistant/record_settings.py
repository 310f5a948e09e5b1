"""RecordSettings: how long the records of turns are kept."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from prolocutor.durations import DAY, WEEK

SLOW: Final = 2 / 3
"""The share of the deadline beyond which a turn is slow, where no time is set."""


class RecordSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How long the records of turns are kept: `keep` seconds, and at most so many.

    A turn is slow if it took longer than `slow` seconds (None: two thirds of the deadline).
    """

    keep: Annotated[float, Meta(gt=0)] = WEEK
    most: Annotated[int, Meta(ge=0)] = 1_000_000
    slow: Annotated[float, Meta(gt=0, le=DAY)] | None = None

    def slow_beyond(self, deadline: float) -> float:
        """Return the seconds beyond which a turn with this deadline is slow."""
        return deadline * SLOW if self.slow is None else self.slow
