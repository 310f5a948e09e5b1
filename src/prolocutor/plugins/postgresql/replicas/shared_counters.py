"""Counters shared by replicas: the counts of each, and of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec


class CounterUse(msgspec.Struct, frozen=True):
    """A replica's counts since its last report: `spent` of a counter's `period` seconds."""

    name: str
    spent: float
    period: float


class CounterTotals(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of all replicas.

    - `ahead`: the seconds until a counter is empty, for reported counters and counters more than
      half full.
    - `open_elsewhere`: the number of open sockets of a name at other replicas, by their reports.
    - `replicas`: how many live.
    """

    ahead: Mapping[str, float] = {}
    open_elsewhere: Mapping[str, int] = {}
    replicas: int = 1


class SharedCounters(Protocol):
    """Counters in a shared store. They need not survive a crash of the database."""

    async def count_together(
        self, uses: Sequence[CounterUse], opened: Mapping[str, int]
    ) -> CounterTotals:
        """Add the counts of this replica, and return the counts of all.

        `opened`: how many of a name are open here now; 0 takes the name back, and so does the end
        of this replica.
        """
