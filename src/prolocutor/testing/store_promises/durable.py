"""What beside that every store keeps that remembers when it was closed."""

from __future__ import annotations

import asyncio

import pytest

from prolocutor.contracts.store import Answered
from prolocutor.dialog import agent_state
from prolocutor.errors import StoreError
from prolocutor.testing.sample_turns import (
    a_beginning,
    a_delivery,
    an_ending,
    an_entry,
    begin,
    talk,
)
from prolocutor.testing.store_promises.opened import (
    TODAY,
    YESTERDAY,
    MakeStore,
    OpenedStore,
    dialog_of,
    one_turn,
    opened,
    states,
    words,
)


class DurableKit(OpenedStore):
    """All promises, over closing and opening."""

    async def test_everything_is_there_after_opening_it_again(self, make_store: MakeStore) -> None:
        async with opened(make_store) as store:
            await talk(store, "ann", *"abcdefghi", human_attributes={"n": 1})
            for n in range(20):
                begun = await begin(store, "ann", str(n), request_key=str(n), request_hash=b"h")
                await store.finish(an_ending(begun, f"re: {n}", human_attributes={"n": n}))
            begun = (await talk(store, "ann", "last", bot_attributes={"n": 0}))[0]
            await store.rate_utterance(begun.beginning.utt_id, 1, None, TODAY)
            await store.rate_dialog(begun.dialog_id, 2, None, TODAY)
            before = await begin(store, "ann", "x", window=8)
            dialog = agent_state.encode_dialog(await dialog_of(store, begun.dialog_id))
            feed = await store.feed("ann", 0)

        async with opened(make_store) as store:
            same = agent_state.encode_dialog(await dialog_of(store, begun.dialog_id))
            await store.finish(an_ending(await store.resume(before.beginning.turn_id, 0, 0)))
            again = await begin(store, "ann", "y", window=10)
            answered = await store.begin(a_beginning("ann", request_key="7", request_hash=b"h"))
            await store.finish(an_ending(again))
            rows = await store.feed("ann", 0)
            ids = await store.dialog_ids()

        assert states(again)[:8] == states(before)
        assert (again.human, again.bot) == (before.human, before.bot)
        assert (again.length, again.feed) == (before.length + 2, before.feed + 2)
        assert again.dialog_attributes == before.dialog_attributes
        assert isinstance(answered, Answered)
        assert answered.reply == b'{"response":"re: 7"}'
        assert rows[: len(feed)] == feed
        assert ids == [begun.dialog_id]
        assert same == dialog

    async def test_a_turn_cut_off_is_found_and_counted(self, make_store: MakeStore) -> None:
        async with opened(make_store) as store:
            await talk(store, "ann", "a")
            begun = await begin(store, "ann", "b", request_key="k", request_hash=b"h")
        async with opened(make_store) as store:
            await store.resume(begun.beginning.turn_id, 4, 0)

        async with opened(make_store) as store:
            (one,) = await store.unfinished()
            again = await store.begin(a_beginning("ann", request_key="k", request_hash=b"h"))
            resumed = await store.resume(one.turn_id, 4, 0)
            await store.finish(an_ending(resumed, "at last"))
            rows = await store.feed("ann", 0)

        assert one.attempts == 2
        assert again == Answered(turn_id=one.turn_id, reply=None)
        assert (resumed.attempt, resumed.beginning) == (3, begun.beginning)
        assert [words(row.message) for row in rows] == ["a", "re: a", "b", "at last"]

    async def test_feed_numbers_never_come_again_after_opening_it_again(
        self, make_store: MakeStore
    ) -> None:
        async with opened(make_store) as store:
            await talk(store, "ann", "a", "b")
            await store.delete_person("ann")

        async with opened(make_store) as store:
            begun = await begin(store, "bob")

        assert begun.feed == 5

    async def test_rounds_agenda_and_records_are_there_after_opening_it_again(
        self, make_store: MakeStore
    ) -> None:
        async with opened(make_store) as store:
            begun = await begin(store, "ann", "a")
            entries = [an_entry("ann", "a", 5.0), an_entry("ann", "b", 3.0)]
            ending = an_ending(begun, messages=[], round=b'{"left":2}', entries=entries)
            await store.finish(ending)
            await store.deliver(a_delivery("ann", "b", dialog_name="other"))
            await store.put_record("ann", "device", "a", b"1")
            feed = await store.feed("ann", 0)

        async with opened(make_store) as store:
            assert await store.feed("ann", 0) == feed
            assert await store.feed_tail("ann", "main") == feed[:2]
            assert await store.entries("ann") == entries[::-1]
            assert await store.records("ann", "device") == {"a": b"1"}
            again = await begin(store, "ann", "c")
            other = await begin(store, "ann", "d", dialog_name="other")

        assert (again.round, again.feed, again.feed_id) == (b'{"left":2}', 4, 1)
        assert (other.feed, other.feed_id) == (5, 1)

    async def test_numbers_of_messages_never_come_again_after_opening_it_again(
        self, make_store: MakeStore
    ) -> None:
        async with opened(make_store) as store:
            await one_turn(store, "ann", YESTERDAY)
            await store.delete_older(TODAY)

        async with opened(make_store) as store:
            begun = await begin(store, "ann")

        assert (begun.feed, begun.feed_id) == (3, 2)

    async def test_what_was_handed_over_is_kept_when_it_is_closed(
        self, make_store: MakeStore
    ) -> None:
        async with opened(make_store) as store:
            turns = [asyncio.ensure_future(begin(store, f"u{n}")) for n in range(10)]
            await asyncio.sleep(0)
        await asyncio.gather(*turns)

        async with opened(make_store) as store:
            assert len(await store.unfinished()) == 10
            begun = await asyncio.gather(
                *(store.resume(one.turn_id, 4, 0) for one in await store.unfinished())
            )
            await asyncio.gather(*(store.finish(an_ending(one)) for one in begun))
            assert len(await store.dialog_ids()) == 10

    async def test_a_closed_store_says_so(self, make_store: MakeStore) -> None:
        async with opened(make_store) as store:
            pass

        with pytest.raises(StoreError):
            await begin(store)
