"""Contract tests of a durable store: its data are there after closing and opening."""

from __future__ import annotations

import asyncio

import pytest

from prolocutor.background import BackgroundTasks
from prolocutor.contracts.store import AnsweredRequest
from prolocutor.dialog import agent_state
from prolocutor.errors import StoreError
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
    YESTERDAY,
    MakeStore,
    StoreFixtures,
    load_dialog,
    open_for_test,
    resumable,
    states,
    store_turn,
    words,
)


class DurabilityKit(StoreFixtures):
    """The tests with a closing and another opening of a store."""

    async def test_everything_is_there_after_reopening(self, make_store: MakeStore) -> None:
        async with open_for_test(make_store) as store:
            await talk(store, "ann", *"abcdefghi", human_attributes={"n": 1})
            for n in range(20):
                opened = await open_new_turn(
                    store, "ann", str(n), request_key=str(n), request_hash=b"h"
                )
                await store.close_turn(a_closing(opened, f"re: {n}", human_attributes={"n": n}))
            opened = (await talk(store, "ann", "last", bot_attributes={"n": 0}))[0]
            await store.rate_utterance(opened.opening.utt_id, 1, None, TODAY)
            await store.rate_dialog(opened.dialog_id, 2, None, TODAY)
            before = await open_new_turn(store, "ann", "x", window=8)
            dialog = agent_state.encode_dialog(await load_dialog(store, opened.dialog_id))
            feed = await store.feed("ann", 0)

        async with open_for_test(make_store) as store:
            same = agent_state.encode_dialog(await load_dialog(store, opened.dialog_id))
            await store.close_turn(a_closing(await store.resume_turn(before.opening.turn_id, 0, 0)))
            again = await open_new_turn(store, "ann", "y", window=10)
            answered = await store.open_turn(an_opening("ann", request_key="7", request_hash=b"h"))
            await store.close_turn(a_closing(again))
            rows = await store.feed("ann", 0)
            ids = await store.dialog_ids()

        assert states(again)[:8] == states(before)
        assert (again.human, again.bot) == (before.human, before.bot)
        assert (again.length, again.feed) == (before.length + 2, before.feed + 2)
        assert again.dialog_attributes == before.dialog_attributes
        assert isinstance(answered, AnsweredRequest)
        assert answered.reply == b'{"response":"re: 7"}'
        assert rows[: len(feed)] == feed
        assert ids == [opened.dialog_id]
        assert same == dialog

    async def test_a_turn_that_was_cut_off_is_found_and_its_attempts_are_counted(
        self, make_store: MakeStore
    ) -> None:
        async with open_for_test(make_store) as store:
            await talk(store, "ann", "a")
            opened = await open_new_turn(store, "ann", "b", request_key="k", request_hash=b"h")
        async with open_for_test(make_store) as store:
            await store.resume_turn(opened.opening.turn_id, 4, 0)

        async with open_for_test(make_store) as store:
            (one,) = await store.unfinished_turns()
            again = await store.open_turn(an_opening("ann", request_key="k", request_hash=b"h"))
            resumed = await store.resume_turn(one.turn_id, 4, 0)
            await store.close_turn(a_closing(resumed, "at last"))
            rows = await store.feed("ann", 0)

        assert one.attempts == 2
        assert again == AnsweredRequest(turn_id=one.turn_id, reply=None)
        assert (resumed.attempt, resumable(resumed)) == (3, resumable(opened))
        assert [words(row.message) for row in rows] == ["a", "re: a", "b", "at last"]

    async def test_feed_numbers_are_not_reused_after_reopening(self, make_store: MakeStore) -> None:
        async with open_for_test(make_store) as store:
            await talk(store, "ann", "a", "b")
            await store.delete_person("ann")

        async with open_for_test(make_store) as store:
            opened = await open_new_turn(store, "bob")

        assert opened.feed == 5

    async def test_rounds_agenda_and_records_are_there_after_reopening(
        self, make_store: MakeStore
    ) -> None:
        async with open_for_test(make_store) as store:
            opened = await open_new_turn(store, "ann", "a")
            entries = [an_entry("ann", "a", 5.0), an_entry("ann", "b", 3.0)]
            ending = a_closing(opened, messages=[], round=b'{"left":2}', entries=entries)
            await store.close_turn(ending)
            await store.deliver(a_delivery("ann", "b", dialog_name="other"))
            await store.put_record("ann", "device", "a", b"1")
            feed = await store.feed("ann", 0)

        async with open_for_test(make_store) as store:
            assert await store.feed("ann", 0) == feed
            assert await store.feed_tail("ann", "main") == feed[:2]
            assert await store.entries("ann") == entries[::-1]
            assert await store.records("ann", "device") == {"a": b"1"}
            again = await open_new_turn(store, "ann", "c")
            await store.close_turn(a_closing(again))
            other = await open_new_turn(store, "ann", "d", dialog_name="other")

        assert (again.round, again.feed, again.feed_id) == (b'{"left":2}', 4, 1)
        assert (other.feed, other.feed_id) == (6, 1)

    async def test_message_ids_are_not_reused_after_reopening(self, make_store: MakeStore) -> None:
        async with open_for_test(make_store) as store:
            await store_turn(store, "ann", YESTERDAY)
            await store.delete_older(TODAY)

        async with open_for_test(make_store) as store:
            opened = await open_new_turn(store, "ann")

        assert (opened.feed, opened.feed_id) == (3, 2)

    async def test_what_was_submitted_is_stored_when_the_store_is_closed(
        self, make_store: MakeStore
    ) -> None:
        async with open_for_test(make_store) as store:
            tasks = BackgroundTasks("turn")
            turns = [tasks.start(open_new_turn(store, f"u{n}"), awaited=True) for n in range(10)]
            await asyncio.sleep(0)
        await asyncio.gather(*turns)

        async with open_for_test(make_store) as store:
            assert len(await store.unfinished_turns()) == 10
            opened = await asyncio.gather(
                *(store.resume_turn(turn.turn_id, 4, 0) for turn in await store.unfinished_turns())
            )
            await asyncio.gather(*(store.close_turn(a_closing(one)) for one in opened))
            assert len(await store.dialog_ids()) == 10

    async def test_a_closed_store_raises_a_store_error(self, make_store: MakeStore) -> None:
        async with open_for_test(make_store) as store:
            pass

        with pytest.raises(StoreError):
            await open_new_turn(store)
