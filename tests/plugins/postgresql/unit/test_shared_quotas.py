"""Replicas let through together what a quota allows, and none waits for the store."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.plugins.postgresql.replicas.shared_quotas import SharedQuotas
from prolocutor.web.quotas import OpenCounters, RateCounters
from tests.model_store.shared_model_store import SharedModelStore
from tests.model_store.shared_state import SharedModel


class Replicas:
    """Some replicas of one store, each with one kind of counters, on one clock."""

    def __init__(self, number: int, limit: int, sockets: int = 10) -> None:
        self.database = SharedModel()
        self.stores = [SharedModelStore(self.database) for _ in range(number)]
        self.rates = [RateCounters(limit, 60.0, self.clock) for _ in range(number)]
        self.sockets = [OpenCounters(sockets) for _ in range(number)]
        self.quotas = [
            SharedQuotas(
                store.counters, {"person:turns": rate}, {"sockets": opened}, clock=self.clock
            )
            for store, rate, opened in zip(self.stores, self.rates, self.sockets, strict=True)
        ]

    def clock(self) -> float:
        return self.database.now

    async def join(self) -> None:
        for store in self.stores:
            await store.open()
            await store.join(1e9)
        await self.report()

    async def report(self) -> None:
        for quotas in self.quotas:
            await quotas.report()

    def ask(self, replica: int, name: str = "ann", cost: int = 1) -> bool:
        rates = self.rates[replica]
        if rates.wait(name, cost):
            return False
        rates.count(name, cost)
        return True


async def test_a_flood_at_all_replicas_in_one_moment_passes_the_limit_once() -> None:
    replicas = Replicas(3, 60)
    await replicas.join()

    passed = sum(replicas.ask(number % 3) for number in range(600))
    await replicas.report()
    await replicas.report()
    passed += sum(replicas.ask(number % 3) for number in range(600))

    assert 50 <= passed <= 63


async def test_uploads_of_megabytes_at_all_replicas_pass_as_at_one() -> None:
    replicas = Replicas(3, 10_000_000)
    await replicas.join()
    passed = 0
    for number in range(60):
        passed += replicas.ask(number % 3, cost=900_000)
        if number % 6 == 5:
            await replicas.report()

    assert 9 <= passed <= 14


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 5), st.booleans()), max_size=200))
def test_no_order_of_requests_and_reports_lets_much_more_pass(
    asked: list[tuple[int, float, bool]],
) -> None:
    async def story() -> None:
        replicas = Replicas(3, 24)
        await replicas.join()
        passed: list[float] = []
        for replica, pause, reports in asked:
            replicas.database.now += pause
            if pause >= 1.0 or reports:
                await replicas.report()
            through = sum(replicas.ask(replica) for _ in range(5))
            passed += [replicas.clock()] * through
        for at in passed:
            # one full counter, what flows off in a minute, and the tolerance: a part of each
            assert sum(at - 60 <= one <= at for one in passed) <= 2 * 24 + 24

    asyncio.run(story())


async def test_all_replicas_hear_of_a_counter_that_is_full() -> None:
    replicas = Replicas(2, 20)
    await replicas.join()
    for _ in range(200):
        replicas.ask(0)
        await replicas.quotas[0].report()

    await replicas.quotas[1].report()

    assert not replicas.ask(1)
    assert replicas.ask(1, "bob")
    replicas.database.now += 60.0
    assert replicas.ask(1)


async def test_where_the_store_is_away_each_replica_lets_its_part_through() -> None:
    replicas = Replicas(2, 40)
    await replicas.join()
    replicas.database.away = True

    assert sum(replicas.ask(0) for _ in range(100)) == 20
    replicas.database.now += 61.0
    assert replicas.ask(0)


async def test_one_replica_alone_has_the_whole_quota_and_reports_nothing() -> None:
    replicas = Replicas(1, 40)
    await replicas.join()

    assert sum(replicas.ask(0) for _ in range(100)) == 40
    await replicas.report()
    assert replicas.database.empty_at == {}


async def test_sockets_at_all_replicas_count_together_and_those_of_the_dead_do_not() -> None:
    replicas = Replicas(2, 5, sockets=8)
    await replicas.join()
    first, second = replicas.sockets
    opened = []
    for _ in range(20):
        for sockets in (first, second):
            if not sockets.wait("ann"):
                one = sockets.count_open("ann")
                one.__enter__()
                opened.append(one)
        await replicas.report()

    assert 8 <= len(opened) <= 9
    replicas.stores[0].replica.dead = True
    await replicas.quotas[1].report()
    assert second.open["ann"] <= 5
    assert second.wait("ann") == 0.0


async def test_reports_go_out_by_themselves() -> None:
    replicas = Replicas(2, 10)
    await replicas.join()
    first = replicas.quotas[0]
    first.start()
    for _ in range(3):
        replicas.ask(0)

    async with asyncio.timeout(60):
        while not replicas.database.empty_at:  # noqa: ASYNC110
            await asyncio.sleep(0)
    await first.aclose()

    assert "ann" not in str(replicas.database.empty_at)


@pytest.mark.parametrize("replica", [0, 1])
async def test_nothing_is_lost_when_a_report_fails(replica: int) -> None:
    replicas = Replicas(2, 10)
    await replicas.join()
    for _ in range(5):
        replicas.ask(replica)
    replicas.database.away = True
    with pytest.raises(Exception, match="reach"):
        await replicas.quotas[replica].report()
    replicas.database.away = False
    replicas.ask(replica)
    await replicas.report()

    (found,) = replicas.database.empty_at.values()
    assert found[0] - replicas.clock() >= 30.0
