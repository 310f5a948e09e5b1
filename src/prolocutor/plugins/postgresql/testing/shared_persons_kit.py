"""Contract tests of persons at several replicas: tickets, holds, claims, changes by others."""

from __future__ import annotations

import asyncio
import time
from typing import cast

import pytest

from prolocutor.contracts.store import OpenedTurn
from prolocutor.errors import PersonBusy, StoreError, TakenOver
from prolocutor.plugins.postgresql.replicas.shared_store import CounterUse
from prolocutor.plugins.postgresql.testing.shared_fixtures import (
    LEASE,
    PATIENCE,
    Replica,
    RunOut,
    SharedStoreFixtures,
    read_words,
    whose_turn,
)
from prolocutor.testing.sample_turns import (
    a_closing,
    a_delivery,
    an_entry,
    an_opening,
    open_new_turn,
    talk,
)
from prolocutor.testing.store_fixtures import (
    TODAY,
    MakeStore,
    load_dialog,
    open_for_test,
    texts,
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


class SharedPersonsKit(SharedStoreFixtures):
    """The tests of waiting for a person, and of changes seen by all replicas."""

    # -- waiting ----------------------------------------------------------------------------

    async def test_words_of_one_person_come_in_the_order_in_which_they_queued_up(
        self, three: list[Replica]
    ) -> None:
        running = await open_new_turn(three[0], "ann", "first")
        openings = [an_opening("ann", str(number)) for number in range(60)]
        for number, opening in enumerate(openings):
            store = three[number % 3]
            if number % 2:
                await store.take_ticket("ann", opening.turn_id)
            else:
                with pytest.raises(PersonBusy):
                    await store.open_turn(opening)
        await three[0].close_turn(a_closing(running))
        left = set(range(60))
        came: list[int] = []
        while left:
            number, opened = await whose_turn(three, openings, skip=set(range(60)) - left)
            came.append(number)
            left.discard(number)
            await three[number % 3].close_turn(a_closing(opened))

        assert came == list(range(60))

    async def test_tickets_of_the_dead_and_tickets_handed_back_block_nobody(
        self, three: list[Replica], run_out: RunOut
    ) -> None:
        dead, other, third = three
        await talk(third, "ann", "a")
        running = await open_new_turn(third, "ann", "b")
        await dead.take_ticket("ann", "of the dead")
        await other.take_ticket("ann", "handed back")
        last = an_opening("ann", "c")
        with pytest.raises(PersonBusy):
            await third.open_turn(last)
        await third.close_turn(a_closing(running))
        with pytest.raises(PersonBusy):
            await third.open_turn(last)
        await run_out(dead)
        await third.inherit()
        with pytest.raises(PersonBusy):
            await third.open_turn(last)
        await other.withdraw("ann", "handed back")
        await other.withdraw("ann", "never taken")
        await other.take_ticket("nobody", "t")

        assert isinstance(await third.open_turn(last), OpenedTurn)
        assert {replica.waiting for replica in await third.replicas()} == {0}

    async def test_a_person_who_is_held_has_no_turn_elsewhere(
        self, three: list[Replica], run_out: RunOut
    ) -> None:
        one, other, third = three
        await talk(one, "ann", "a")
        await one.hold("ann", "h")
        opening = an_opening("ann", "b")
        with pytest.raises(PersonBusy):
            await other.open_turn(opening)
        with pytest.raises(PersonBusy):
            await third.hold("ann", "i")
        with pytest.raises(PersonBusy):
            await third.deliver(a_delivery("ann", "x"))
        assert await one.deliver(a_delivery("ann", "held"))
        await one.release("ann", "another ticket")
        with pytest.raises(PersonBusy):
            await other.open_turn(opening)
        await one.release("ann", "h")
        opened = await other.open_turn(opening)
        assert isinstance(opened, OpenedTurn)
        await other.close_turn(a_closing(opened, "c"))
        await third.hold("ann", "i")
        await run_out(third)
        await one.inherit()
        (last,) = await talk(one, "ann", "d")
        for late in (
            third.deliver(a_delivery("ann", "late")),
            third.close_dialog("ann", "main"),
            third.delete_person("ann"),
        ):
            with pytest.raises(TakenOver):
                await late

        assert texts(last)[-2:] == ["b", "c"]
        assert await read_words(one, "ann") == ["a", "re: a", "held", "b", "c", "d", "re: d"]

    async def test_what_is_no_turn_waits_for_the_turn_of_another_replica(
        self, three: list[Replica]
    ) -> None:
        one, other, _ = three
        opened = await open_new_turn(one, "ann", "a")
        for busy in (
            other.deliver(a_delivery("ann", "x")),
            other.close_dialog("ann", "main"),
            other.delete_person("ann"),
            other.hold("ann", "h"),
        ):
            with pytest.raises(PersonBusy):
                await busy
        await one.close_turn(a_closing(opened))
        await other.hold("ann", "h")
        assert await other.deliver(a_delivery("ann", "x"))
        assert await other.close_dialog("ann", "main") == opened.dialog_id
        assert await other.delete_person("ann")
        await other.release("ann", "h")

        (new,) = await talk(one, "ann", "b")
        assert (new.length, new.dialog_id != opened.dialog_id) == (0, True)

    async def test_a_person_who_is_unknown_can_be_held(self, three: list[Replica]) -> None:
        one, other, _ = three
        await one.hold("zoe", "h")
        with pytest.raises(PersonBusy):
            await other.hold("zoe", "i")
        with pytest.raises(PersonBusy):
            await other.open_turn(opening := an_opening("zoe"))
        await one.release("zoe", "h")
        with pytest.raises(PersonBusy):
            await other.open_turn(opening)
        await other.withdraw("zoe", "i")

        assert isinstance(await other.open_turn(opening), OpenedTurn)

    # -- what others changed ----------------------------------------------------------------

    async def test_what_another_replica_changed_is_seen_in_the_next_turn(
        self, three: list[Replica]
    ) -> None:
        one, other, third = three
        (first,) = await talk(one, "ann", "a", human_attributes={"n": 1}, bot_attributes={"m": 1})
        (second,) = await talk(other, "ann", "b", human_attributes={"n": 2})
        await third.rate_utterance(second.opening.bot_utt_id, 5, None, TODAY)
        await third.rate_dialog(first.dialog_id, 4, None, TODAY)
        await third.deliver(a_delivery("ann", "ring", round=b'{"left":3}'))
        seen = await open_new_turn(one, "ann", "c")
        await one.close_turn(a_closing(seen))
        await other.close_dialog("ann", "main")
        anew = await open_new_turn(third, "ann", "d")
        await third.close_turn(a_closing(anew))
        await one.delete_person("ann")
        unknown = await open_new_turn(other, "ann", "e")

        assert texts(seen) == ["a", "re: a", "b", "re: b"]
        assert b'"n":2' in seen.human.state
        assert b'"m":1' in seen.bot.state
        assert b'"rating":5' in seen.window[-1].state.replace(b" ", b"")
        assert (seen.rating, seen.round) == (b"4", b'{"left":3}')
        assert (anew.length, anew.dialog_id != seen.dialog_id) == (0, True)
        assert b'"n":2' in anew.human.state
        assert b'"n":2' not in unknown.human.state
        assert (unknown.length, unknown.feed > anew.feed) == (0, True)
        assert len((await load_dialog(one, unknown.dialog_id)).utterances) == 0

    async def test_an_entry_is_claimed_by_one_replica_and_delivered_once(
        self, three: list[Replica], run_out: RunOut
    ) -> None:
        one, other, third = three
        now = third.clock()
        assert abs(now - time.time()) < 3600.0
        due = [an_entry(f"user-{number}", "k", now - 10.0) for number in range(9)]
        later = an_entry("user-0", "later", now + 3600.0)
        for entry in [*due, later]:
            await one.schedule(entry)
        claimed = await asyncio.gather(*(store.claim_due(limit=4) for store in three))
        assert sorted(entry.user for some in claimed for entry in some) == [
            entry.user for entry in due
        ]
        assert sorted(map(len, claimed)) == [1, 4, 4]
        again = [await store.claim_due() for store in three]
        assert again == list(claimed)
        await run_out(one)
        await other.inherit()
        rest = await other.claim_due()
        assert sorted(entry.user for entry in rest) == sorted(
            entry.user for some in claimed[:2] for entry in some
        )
        rung = [
            await other.deliver(a_delivery(entry.user, "ring", entry=entry)) for entry in rest
        ] + [
            await third.deliver(a_delivery(entry.user, "ring", entry=entry)) for entry in claimed[2]
        ]
        assert all(rung)
        assert not await third.deliver(a_delivery("user-0", "ring", entry=due[0]))

        assert [await store.claim_due() for store in (other, third)] == [[], []]
        assert await read_words(other, "user-0") == ["ring"]
        assert await other.entries("user-0") == [later]

    async def test_the_ends_of_many_feeds_come_in_one_query(self, three: list[Replica]) -> None:
        await talk(three[0], "ann", "a", "b")
        await talk(three[1], "bob", "c")

        assert await three[2].feed_ends(["ann", "bob", "zoe"]) == {"ann": 4, "bob": 2}
        assert await three[2].feed_ends([]) == {}

    async def test_hints_reach_the_other_replicas(self, three: list[Replica]) -> None:
        woken: list[asyncio.Queue[str]] = [asyncio.Queue() for _ in three]
        for store, queue in zip(three, woken, strict=True):
            store.on_wake(queue.put_nowait)
        await talk(three[0], "ann", "a")
        three[0].wake("ann")
        async with asyncio.timeout(PATIENCE):
            heard = [await _first_name(queue) for queue in woken[1:]]

        assert heard == ["ann", "ann"]

    async def test_a_closed_shared_store_raises_a_store_error(self, make_store: MakeStore) -> None:
        async with open_for_test(make_store) as store:
            replica = cast("Replica", store)
            await replica.join(LEASE)
        for call in (
            replica.beat(),
            replica.inherit(),
            replica.claim_due(),
            replica.hold("a", "b"),
        ):
            with pytest.raises(StoreError):
                await call


async def _first_name(queue: asyncio.Queue[str]) -> str:
    while not (name := await queue.get()):
        pass
    return name
