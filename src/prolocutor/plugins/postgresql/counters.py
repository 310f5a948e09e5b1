"""PostgresqlCounters: the counters of quotas in the database, on the line for hints and beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Final

from prolocutor.plugins.postgresql.membership import Membership
from prolocutor.plugins.postgresql.replicas.shared_counters import CounterTotals, CounterUse

WITHIN: Final = 5.0
TIDY: Final = 60.0
"""Seconds between two deletions of counters that are empty."""


class PostgresqlCounters:
    """The counters of all replicas, by three statements at most, which do not wait for a disk."""

    def __init__(self, membership: Membership) -> None:
        self._membership = membership
        self._tidied = 0.0

    async def count_together(
        self, uses: Sequence[CounterUse], opened: Mapping[str, int]
    ) -> CounterTotals:
        """Add this replica's counts; return the sums of all replicas."""
        fetch, number = self._membership.fetch, await self._membership.needed()
        ahead: dict[str, float] = {}
        if uses:
            names, spent = [one.name for one in uses], [one.spent for one in uses]
            periods = [one.period for one in uses]
            rows = await fetch("add_to_counters", names, spent, periods, within=WITHIN)
            ahead = {row[0]: row[1] for row in rows}
        if opened:
            numbers = list(opened.values())
            await fetch("set_open", number, list(opened), numbers, within=WITHIN)
        elsewhere: dict[str, int] = {}
        replicas = 1
        for kind, name, value in await fetch("counter_totals", number, within=WITHIN):
            if kind == "ahead":
                ahead[name] = value
            elif kind == "open":
                elsewhere[name] = round(value)
            else:
                replicas = max(1, round(value))
        if monotonic() > self._tidied + TIDY:
            self._tidied = monotonic()
            await fetch("forget_counters", within=WITHIN)
        return CounterTotals(ahead=ahead, open_elsewhere=elsewhere, replicas=replicas)
