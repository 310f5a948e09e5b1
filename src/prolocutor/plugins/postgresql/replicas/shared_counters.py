"""What replicas count together: what each has counted, and what all have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec


class CounterUse(msgspec.Struct, frozen=True):
    """What a replica counted since its last report: `spent` seconds of a counter that holds
    `period` seconds."""

    name: str
    spent: float
    period: float


class CounterTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What all replicas have counted.

    `ahead`: the seconds until a counter is empty, of those reported now, and of all that are more
    than half full. `open_elsewhere`: how many of a name are open at other replicas, as far as
    those said so. `replicas`: how many live.
    """

    ahead: Mapping[str, float] = {}
    open_elsewhere: Mapping[str, int] = {}
    replicas: int = 1


class SharedCounters(Protocol):
    """Counters in a store that replicas share. They need not survive a crash of the database."""

    async def count_together(
        self, uses: Sequence[CounterUse], opened: Mapping[str, int]
    ) -> CounterTotals:
        """Add what was counted here, and return what all have counted.

        `opened`: how many of a name are open here now; 0 takes the name back, and so does the end
        of this replica.
        """
