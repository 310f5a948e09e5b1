"""Contract tests of counters of quotas that replicas share."""

from __future__ import annotations

import asyncio

import pytest

from prolocutor.contracts.shared_counters import CounterUse
from prolocutor.testing.store_contract.shared_fixtures import (
    Replica,
    RunOut,
    SharedStoreFixtures,
)


class SharedCountersKit(SharedStoreFixtures):
    """The tests of counting together."""

    async def test_what_replicas_count_at_once_adds_up(self, three: list[Replica]) -> None:
        uses = [CounterUse("a", 2.0, 600.0), CounterUse("b", 1.0, 600.0)]

        await asyncio.gather(
            *(one.counters.count_together(uses, {}) for one in three for _ in range(5))
        )

        totals = await three[0].counters.count_together([CounterUse("a", 0.0, 600.0)], {})
        assert totals.ahead["a"] == pytest.approx(30.0, abs=25.0)
        assert totals.ahead["a"] > 5.0
        assert totals.replicas == 3

    async def test_a_counter_that_is_more_than_half_full_is_heard_of(
        self, three: list[Replica]
    ) -> None:
        uses = [CounterUse("full", 4000.0, 6000.0), CounterUse("empty", 10.0, 6000.0)]
        await three[0].counters.count_together(uses, {})

        totals = await three[1].counters.count_together([], {})

        assert list(totals.ahead) == ["full"]
        assert 3000.0 < totals.ahead["full"] <= 4000.0

    async def test_what_is_open_elsewhere_counts_until_it_is_taken_back_or_the_replica_is_gone(
        self, three: list[Replica], run_out: RunOut
    ) -> None:
        first, second, third = three
        await first.counters.count_together([], {"a": 3, "b": 1})
        await second.counters.count_together([], {"a": 2})

        seen = [(await one.counters.count_together([], {})).open_elsewhere for one in three]
        await first.counters.count_together([], {"b": 0})
        await run_out(second)
        await third.inherit()
        last = (await third.counters.count_together([], {})).open_elsewhere

        assert seen == [{"a": 2}, {"a": 3, "b": 1}, {"a": 5, "b": 1}]
        assert last == {"a": 3}
