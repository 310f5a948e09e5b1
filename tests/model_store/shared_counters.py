"""ModelCounters: counters of quotas in a database in memory, as one replica sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from prolocutor.plugins.postgresql.replicas.shared_store import CounterTotals, CounterUse
from tests.model_store.shared_state import ModelReplica, SharedModel


class ModelCounters:
    """The model of `contracts/shared_store.py`.

    `replica` returns the one that counts, or raises `StoreError` where the database is away.
    """

    def __init__(self, database: SharedModel, replica: Callable[[], ModelReplica]) -> None:
        self._database = database
        self._replica = replica

    async def count_together(
        self, uses: Sequence[CounterUse], opened: Mapping[str, int]
    ) -> CounterTotals:
        """Add what was counted here, and return what all have counted."""
        database, now, me = self._database, self._database.now, self._replica()
        for use in uses:
            before, _ = database.empty_at.get(use.name, (now, 0.0))
            database.empty_at[use.name] = max(before, now) + use.spent, use.period
        for name, number in opened.items():
            database.open_at.setdefault(name, {})[me] = number
        reported = {use.name for use in uses}
        return CounterTotals(
            ahead={
                name: empty_at - now
                for name, (empty_at, period) in database.empty_at.items()
                if name in reported or empty_at - now > period / 2
            },
            open_elsewhere={
                name: found
                for name, numbers in database.open_at.items()
                if (found := sum(n for one, n in numbers.items() if one is not me and not one.dead))
            },
            replicas=sum(
                not replica.dead and replica.alive_until > now for replica in database.replicas
            ),
        )
