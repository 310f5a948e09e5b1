"""Contract tests of `TurnRecordStore`: the records of turns, and the search for dialogs by them."""

from __future__ import annotations

import time
from typing import Any, Final

from prolocutor.clocks import DAY
from prolocutor.contracts.store import Store
from prolocutor.contracts.turn_record_store import (
    SPAN_SECONDS,
    ConversationCounts,
    ConversationQuery,
    DialogOrder,
    DialogPlace,
    TurnPlace,
    TurnQuery,
)
from prolocutor.testing.sample_turns import (
    ALL,
    SLOW,
    a_record,
    find_record_store,
    found,
    keep_turn,
    say,
    wait_until_indexed,
)
from prolocutor.testing.store_fixtures import StoreFixtures

HOSTILE: Final = ('"', "'", "NEAR(a b)", "a* OR b", "said:x", "\0", "%", "a-b", "((", "é", "日本語")


class TurnRecordStoreKit(StoreFixtures):
    """The tests of a store with records of turns (`KeepsTurnRecords`)."""

    async def test_a_turn_is_kept_as_it_was(self, store: Store) -> None:
        record = await keep_turn(store, "ann", "what is 2 + 2?", reply="4", cost=0.25)

        kept = await find_record_store(store).turn(record.utt_id)

        assert kept is not None
        assert (kept.dialog_id, kept.flags, kept.rating) == (record.dialog_id, [], None)
        assert kept.record is not None
        assert kept.record.services == record.services
        for name in ("turn_id", "user", "channel", "started", "seconds", "by", "chosen", "asked",
                     "reasons", "remarks", "faults", "cost", "scores", "version", "changes",
                     "utt_id", "dialog_id", "attempt", "confidence"):  # fmt: skip
            assert getattr(kept.record, name) == getattr(record, name), name
        assert await find_record_store(store).turn("f" * 32) is None

    async def test_what_was_not_recorded_is_none(self, store: Store) -> None:
        opened = await say(store, "ann", "hello")

        kept = await find_record_store(store).turn(opened.opening.bot_utt_id)
        (turn,) = await find_record_store(store).turns(opened.dialog_id, None, 10)

        assert kept is not None
        assert (kept.record, kept.flags) == (None, None)
        assert (turn.said, turn.reply, turn.seconds, turn.flags) == ("hello", "hi", None, None)
        assert (turn.spoke, turn.stopped) == (["greeter"], False)

    async def test_dialogs_are_listed_with_the_latest_turn_first(self, store: Store) -> None:
        for place, user in enumerate(("ann", "bob", "cy", "ann")):
            await keep_turn(store, user, f"input {place}", at=1000.0 + place, seconds=place + 0.5)

        shown = await found(store)

        assert [one.user for one in shown] == ["ann", "cy", "bob"]
        ann = shown[0]
        assert (ann.said, ann.reply, ann.spoke) == ("input 3", "hi", ["greeter"])
        assert (ann.at, ann.turns, ann.slowest, ann.flags) == (1003.0, 2, 3.5, ["slow"])
        assert (ann.channel, ann.active, ann.hit) == ("kit", True, None)

    async def test_dialogs_are_found_by_what_happened_in_them(self, store: Store) -> None:
        await keep_turn(store, "ann", "the weather in Oslo", at=1000.0, seconds=9.0)
        await keep_turn(store, "bob", "a refund please", at=2000.0, by="fallback", skill="llm")
        await keep_turn(store, "cy", "trains to Bergen", at=3000.0, outcome="failed", channel="x")

        cases: list[tuple[dict[str, Any], list[str]]] = [
            ({}, ["cy", "bob", "ann"]),
            ({"flag": "slow"}, ["ann"]),
            ({"flag": "none"}, ["bob"]),
            ({"flag": "failed"}, ["cy"]),
            ({"flag": "down"}, []),
            ({"agent": "llm"}, ["bob"]),
            ({"agent": "greeter"}, ["cy", "ann"]),
            ({"agent": "nobody"}, []),
            ({"agent": "greeter", "flag": "failed"}, ["cy"]),
            ({"user": "ann"}, ["ann"]),
            ({"user": "an"}, []),
            ({"channel": "x"}, ["cy"]),
            ({"since": 2000.0}, ["cy", "bob"]),
            ({"until": 2000.0}, ["ann"]),
            ({"since": 1500.0, "until": 2500.0}, ["bob"]),
            ({"since": 2001.0, "until": 2002.0}, []),
            ({"words": "refund"}, ["bob"]),
            ({"words": "REFU"}, ["bob"]),
            ({"words": "oslo weather"}, ["ann"]),
            ({"words": "oslo refund"}, []),
            ({"words": "hi"}, ["cy", "bob", "ann"]),
            ({"words": "hi", "flag": "none"}, ["bob"]),
            ({"words": "hi", "agent": "greeter", "user": "ann"}, ["ann"]),
            ({"words": "..."}, []),
            ({"ids": []}, []),
        ]
        for conditions, users in cases:
            query = ConversationQuery(**conditions)
            assert [one.user for one in await found(store, query)] == users, conditions
            count = await find_record_store(store).counts(query)
            if query.flag is None:
                assert count.all == len(users), conditions
        ids = [one.dialog_id for one in await found(store)][1:]
        assert [one.user for one in await found(store, ConversationQuery(ids=ids))] == [
            "bob", "ann",
        ]  # fmt: skip
        assert await find_record_store(store).counts(ALL) == ConversationCounts(
            all=3, none=1, failed=1, slow=1
        )

    async def test_dialogs_are_sorted_by_their_figures(self, store: Store) -> None:
        for user, seconds, turns in (("ann", 3.0, 1), ("bob", 9.0, 2), ("cy", 9.0, 3)):
            for place in range(turns):
                await keep_turn(store, user, f"input {place}", seconds=seconds)

        orders: dict[DialogOrder, list[str]] = {
            "slowest": ["cy", "bob", "ann"],
            "turns": ["cy", "bob", "ann"],
        }
        for order, users in orders.items():
            seen: list[str] = []
            after: DialogPlace | None = None
            for _ in users:
                query = ConversationQuery(order=order)
                page = await find_record_store(store).conversations(query, after, 1)
                seen += [item.user for item in page.items]
                after = page.next
            assert (seen, after) == (users, None), order

    async def test_the_latest_turns_of_all_dialogs_come_first(self, store: Store) -> None:
        for place, user in enumerate(("ann", "bob", "ann")):
            await keep_turn(store, user, f"input {place}", at=1000.0 + place, reply=f"no. {place}")

        page = await find_record_store(store).latest_turns(TurnQuery(), None, 2)

        shown = [(item.record.user, item.record.text, item.record.response) for item in page.items]
        assert shown == [("ann", "input 2", "no. 2"), ("bob", "input 1", "no. 1")]

    async def test_turns_are_found_by_their_flags_and_the_service_that_failed(
        self, store: Store
    ) -> None:
        await keep_turn(store, "ann", "a", at=1000.0, seconds=9.0)
        await keep_turn(store, "bob", "b", at=2000.0, by="fallback")
        await keep_turn(store, "cy", "c", at=3000.0, outcome="failed")
        await keep_turn(store, "dan", "d", at=4000.0, outcome="late", seconds=9.0)

        cases: list[tuple[TurnQuery, list[str]]] = [
            (TurnQuery(flags=("slow",)), ["dan", "ann"]),
            (TurnQuery(flags=("slow", "none")), ["dan", "bob", "ann"]),
            (TurnQuery(flags=("down",)), []),
            (TurnQuery(failed="greeter"), ["dan", "cy"]),
            (TurnQuery(failed="greeter", code="late"), ["dan"]),
            (TurnQuery(failed="nobody"), []),
        ]
        for query, users in cases:
            page = await find_record_store(store).latest_turns(query, None, 10)
            assert ([item.record.user for item in page.items], page.next) == (users, None), query

    async def test_pages_of_turns_have_each_once_while_turns_come_and_go(
        self, store: Store
    ) -> None:
        for place in range(5):
            await keep_turn(store, f"user {place}", "hello", at=1000.0 + place, outcome="failed")
        for query in (TurnQuery(), TurnQuery(failed="greeter")):
            seen: list[str] = []
            after: TurnPlace | None = None
            while True:
                page = await find_record_store(store).latest_turns(query, after, 2)
                seen += [item.record.user for item in page.items]
                after = page.next
                if after is None:
                    break
                await keep_turn(store, "late", "hello again", at=time.time(), outcome="failed")
            await store.delete_person("late")
            assert seen == [f"user {place}" for place in (4, 3, 2, 1, 0)]

    async def test_a_list_of_turns_goes_on_after_a_deleted_one(self, store: Store) -> None:
        for place in range(3):
            await keep_turn(store, f"user {place}", "hello", at=1000.0 + place)
        first = await find_record_store(store).latest_turns(TurnQuery(), None, 2)

        await store.delete_person("user 1")

        rest = await find_record_store(store).latest_turns(TurnQuery(), first.next, 2)
        assert [item.record.user for item in rest.items] == ["user 0"]

    async def test_a_dialog_is_found_by_an_hour_in_its_middle(self, store: Store) -> None:
        for at in (1000.0, 5000.0, 9000.0):
            await keep_turn(store, "ann", "hello", at=at)

        for since, until, users in ((4000.0, 6000.0, ["ann"]), (6000.0, 8000.0, [])):
            query = ConversationQuery(since=since, until=until)
            assert [one.user for one in await found(store, query)] == users

    async def test_pages_have_each_dialog_once_while_turns_come_in(self, store: Store) -> None:
        for place in range(7):
            await keep_turn(store, f"user {place}", "hello there", at=1000.0 + place // 2)
        for words in (None, "hello"):
            query = ConversationQuery(words=words)
            seen: list[str] = []
            after: DialogPlace | None = None
            while True:
                await wait_until_indexed(store)
                page = await find_record_store(store).conversations(query, after, 2)
                seen += [item.user for item in page.items]
                after = page.next
                if after is None:
                    break
                await keep_turn(store, "user 6", "hello again", at=time.time())
            assert seen == [f"user {place}" for place in (6, 5, 4, 3, 2, 1, 0)]

    async def test_words_lead_to_the_turn(self, store: Store) -> None:
        hit = await keep_turn(store, "ann", "find the needle", at=1000.0)
        await keep_turn(store, "ann", "something else", at=2000.0)

        (one,) = await found(store, ConversationQuery(words="needle"))

        assert (one.hit, one.said, one.turns) == (hit.utt_id, "find the needle", 2)

    async def test_no_search_fails(self, store: Store) -> None:
        await keep_turn(store, "ann", " ".join(HOSTILE).replace("\0", ""))
        for words in HOSTILE:
            for query in (ConversationQuery(words=words), ConversationQuery(user=words)):
                await found(store, query)
                await find_record_store(store).counts(query)
        (one,) = await found(store, ConversationQuery(words="日本語"))
        assert one.user == "ann"

    async def test_thumbs_count_and_may_be_changed(self, store: Store) -> None:
        record = await keep_turn(store, "ann", "hello")
        await keep_turn(store, "ann", "bye")
        flags, figures = [], []
        for rating in (-1, 1, "no", {"stars": 3}):
            await store.rate_utterance(record.utt_id, rating, "ann", "2024-02-29 12:00:00.000000")
            (one,) = await found(store)
            (span,) = await find_record_store(store).figures(0.0, time.time() + 1)
            (hour,) = await find_record_store(store).hours(0.0, time.time() + 1)
            flags.append((one.flags, (await find_record_store(store).counts(ALL)).down, hour.down))
            figures.append((span.up, span.down))

        assert flags == [(["down"], 1, 1), ([], 0, 0), (["down"], 1, 1), ([], 0, 0)]
        assert figures == [(0, 1), (1, 0), (0, 1), (0, 0)]
        kept = await find_record_store(store).turn(record.utt_id)
        assert kept is not None
        assert kept.rating == {"stars": 3}
        turns = await find_record_store(store).turns(record.dialog_id, None, 10)
        assert [turn.rating for turn in turns] == [{"stars": 3}, None]

    async def test_hours_and_agents_are_counted(self, store: Store) -> None:
        at = 7200.0 + 100
        await keep_turn(store, "ann", "a", at=at, cost=0.5)
        await keep_turn(store, "bob", "b", at=at + 10, outcome="late", by="fallback")
        await keep_turn(store, "bob", "c", at=at + 3600, seconds=5.0)

        hours = await find_record_store(store).hours(0.0, 1e6)
        spans = await find_record_store(store).figures(0.0, 1e6, "greeter")

        figures = [
            (hour.at, hour.turns, hour.bad, hour.none, hour.failed, hour.slow) for hour in hours
        ]
        assert figures == [
            (7200, 2, 1, 1, 1, 0), (10_800, 1, 0, 0, 0, 1),
        ]  # fmt: skip
        assert [span.at for span in spans] == [
            at // SPAN_SECONDS * SPAN_SECONDS,
            (at + 3600) // SPAN_SECONDS * SPAN_SECONDS,
        ]
        first = spans[0]
        assert (first.asked, first.won, first.failed, first.kinds) == (2, 1, 1, {"late": 1})
        assert (first.cost, sum(first.buckets), len(first.buckets)) == (0.5, 2, 15)
        assert first.latest["late"].at == at + 10
        assert await find_record_store(store).figures(0.0, 1e6, "nobody") == []
        (total,) = await find_record_store(store).totals(0.0, 1e6)
        assert (total.agent, total.asked, total.kinds) == ("greeter", 3, {"late": 1})
        assert total.buckets == [
            sum(each) for each in zip(*[span.buckets for span in spans], strict=True)
        ]
        assert round(total.seconds - sum(span.seconds for span in spans), 6) == 0
        steps = await find_record_store(store).totals(7200.0, 14_400.0, 3600)
        assert [(step.at, step.agent, step.asked) for step in steps] == [
            (7200, "greeter", 2), (10_800, "greeter", 1),
        ]  # fmt: skip
        (last,) = await find_record_store(store).totals(10_800.0, 1e6)
        assert (last.at, last.asked, last.latest) == (10_800, 1, {})
        assert await find_record_store(store).hours(0.0, 7200.0) == []

    async def test_a_dialog_is_read_in_pages_from_both_ends(self, store: Store) -> None:
        records = [await keep_turn(store, "ann", f"input {n}") for n in range(5)]
        keeper, id_ = find_record_store(store), records[0].dialog_id

        first = await keeper.turns(id_, None, 2)
        second = await keeper.turns(id_, first[-1].position, 2)
        last = await keeper.turns(id_, None, 2, newest=True)
        earlier = await keeper.turns(id_, last[0].position - 1, 2, newest=True)

        assert [one.said for one in (*first, *second)] == [f"input {n}" for n in range(4)]
        assert [one.said for one in (*earlier, *last)] == [f"input {n}" for n in (1, 2, 3, 4)]
        assert [one.utt_id for one in first] == [record.utt_id for record in records[:2]]
        assert (first[0].turn_id, first[0].by) == (records[0].turn_id, "selector")
        head = await keeper.head(id_)
        assert head is not None
        assert (head.user, head.name, head.channel, head.active) == ("ann", "main", "kit", True)
        assert await keeper.turns("f" * 32, None, 2) == []
        assert await keeper.head("f" * 32) is None

    async def test_nothing_of_a_deleted_person_is_left(self, store: Store) -> None:
        record = await keep_turn(store, "ann", "my secret wish", outcome="failed")
        other = await keep_turn(store, "bob", "hello")
        late = a_record(await say(store, "ann", "more of it"))
        await found(store)  # so that words are indexed

        await store.delete_person("ann")
        await find_record_store(store).add([record, late], slow=SLOW)  # what was on its way

        keeper = find_record_store(store)
        assert [one.user for one in await found(store)] == ["bob"]
        assert await found(store, ConversationQuery(words="secret")) == []
        assert await keeper.counts(ALL) == ConversationCounts(all=1)
        assert await keeper.turn(record.utt_id) is None
        assert await keeper.head(record.dialog_id) is None
        (hour,) = await keeper.hours(0.0, time.time() + 1)
        assert (hour.turns, hour.failed) == (1, 0)
        (span,) = await keeper.figures(0.0, time.time() + 1)
        assert (span.asked, span.failed, span.latest) == (1, 0, {})
        assert (await keeper.turn(other.utt_id)) is not None

    async def test_nothing_of_a_deleted_dialog_is_left(self, store: Store) -> None:
        record = await keep_turn(store, "ann", "long ago", at=1000.0, day="2024-02-28")
        await keep_turn(store, "bob", "hello")

        assert await store.delete_older("2024-03-01 00:00:00.000000") == 1

        assert [one.user for one in await found(store)] == ["bob"]
        assert await find_record_store(store).turn(record.utt_id) is None
        assert await found(store, ConversationQuery(words="ago")) == []

    async def test_old_records_go_and_their_dialogs_stay(self, store: Store) -> None:
        old = await keep_turn(store, "ann", "old", at=1000.0)
        new = await keep_turn(store, "ann", "new", at=1000.0 + 3 * DAY)
        keeper = find_record_store(store)

        while await keeper.tend(now=1000.0 + 3 * DAY, keep=DAY, most=100):
            pass

        kept = [await keeper.turn(one.utt_id) for one in (old, new)]
        assert [one is not None and one.record is not None for one in kept] == [False, True]
        (one,) = await found(store)
        assert one.turns == 2
        first, second = await keeper.turns(old.dialog_id, None, 10)
        assert (first.said, first.flags, second.flags) == ("old", None, [])

    async def test_no_more_records_are_kept_than_are_wanted(self, store: Store) -> None:
        records = [await keep_turn(store, f"user {n}", "x", at=1000.0 + n) for n in range(5)]
        keeper = find_record_store(store)

        while await keeper.tend(now=2000.0, keep=DAY, most=2):
            pass

        kept = [await keeper.turn(record.utt_id) for record in records]
        assert [one is not None and one.record is not None for one in kept] == [
            False, False, False, True, True,
        ]  # fmt: skip

    async def test_a_batch_is_kept_at_once_and_again_changes_nothing(self, store: Store) -> None:
        records = [a_record(await say(store, "ann", f"{n}"), at=1000.0 + n) for n in range(3)]
        keeper = find_record_store(store)
        await keeper.add(records, slow=SLOW)
        await keeper.add([], slow=SLOW)

        (one,) = await found(store)

        assert (one.turns, one.at) == (3, 1002.0)
