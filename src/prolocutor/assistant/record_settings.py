"""RecordSettings: how long the records of turns are kept."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from prolocutor.bounds import about
from prolocutor.durations import DAY, WEEK

SLOW: Final = 2 / 3
"""The share of the deadline beyond which a turn is slow, where no time is set."""


class RecordSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How long the records of turns are kept, and how many."""

    expected: ClassVar[str] = "a map of keep, most and slow, or false"

    keep: Annotated[float, Meta(gt=0), about("How long they are kept.", duration=True)] = WEEK
    most: Annotated[int, Meta(ge=0), about("How many are kept.", unit="records")] = 1_000_000
    slow: Annotated[
        Annotated[float, Meta(gt=0, le=DAY)] | None,
        about(
            "Beyond so long a turn is slow; by default two thirds of the deadline.", unit="seconds"
        ),
    ] = None

    @classmethod
    def from_short(cls, value: object) -> RecordSettings | None:
        """Return the usual settings for true, None (no records) for false."""
        if not isinstance(value, bool):
            raise ValueError(cls.expected)
        return cls() if value else None

    def slow_beyond(self, deadline: float) -> float:
        """Return the seconds beyond which a turn with this deadline is slow."""
        return deadline * SLOW if self.slow is None else self.slow
