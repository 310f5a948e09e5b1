"""Contract tests of `FeedStore`: rows, message ids, closings, rounds."""

from __future__ import annotations

from prolocutor.contracts.store import NO_ASK_CLOSING, FeedRow, Store
from prolocutor.testing.sample_turns import (
    a_closing,
    a_delivery,
    a_message,
    a_new_dialog,
    an_entry,
    open_new_turn,
    talk,
)
from prolocutor.testing.store_fixtures import (
    TODAY,
    TOMORROW,
    YESTERDAY,
    StoreFixtures,
    store_turn,
    words,
)

ASK = b'{"ask":"yesno"}'


class FeedStoreKit(StoreFixtures):
    """The tests of `FeedStore`."""

    async def test_the_feed_has_all_that_was_said_in_order(self, store: Store) -> None:
        (turn,) = await talk(store, "ann", "a")
        await talk(store, "bob", "z")
        await open_new_turn(store, "ann", "b")

        rows = await store.feed("ann", 0)

        assert [(row.n, words(row.message)) for row in rows] == [(1, "a"), (2, "re: a"), (3, "b")]
        assert {row.dialog_id for row in rows} == {turn.dialog_id}
        assert await store.feed_end("ann") == 3

    async def test_the_feed_continues_after_a_row(self, store: Store) -> None:
        await talk(store, "ann", "a", "b", "c")

        rows = await store.feed("ann", 2, 3)

        assert [row.n for row in rows] == [3, 4, 5]
        assert await store.feed("ann", 6) == []

    async def test_an_unknown_person_has_an_empty_feed(self, store: Store) -> None:
        assert await store.feed("nobody", 0) == []
        assert await store.feed_end("nobody") == 0

    # Numbers of messages

    async def test_message_ids_start_at_zero_for_each_dialog_name(self, store: Store) -> None:
        await talk(store, "ann", "a")
        other = await open_new_turn(store, "ann", "b", dialog_name="other")
        await store.close_turn(a_closing(other, messages=[a_message("c"), a_message("d")]))
        opened = await open_new_turn(store, "ann", "e")

        rows = await store.feed("ann", 0)

        assert [(row.dialog_name, row.id) for row in rows] == [
            ("main", 0),
            ("main", 1),
            ("other", 0),
            ("other", 1),
            ("other", 2),
            ("main", 2),
        ]
        assert (opened.feed, opened.feed_id) == (6, 2)

    async def test_message_ids_continue_in_the_next_dialog_of_that_name(self, store: Store) -> None:
        await talk(store, "ann", "a")
        await store.close_dialog("ann", "main")
        opened = await open_new_turn(store, "ann", "b")

        assert opened.feed_id == 2
        assert [row.id for row in await store.feed("ann", 0)] == [0, 1, 2]

    async def test_a_reply_continues_the_message_ids_of_a_closed_dialog(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann", "a")
        await store.close_dialog("ann", "main")
        await store.close_turn(a_closing(opened))

        assert (await open_new_turn(store, "ann", "b")).feed_id == 2
        assert [row.id for row in await store.feed_tail("ann", "main")] == [0, 1, 2]

    async def test_a_message_id_is_not_reused(self, store: Store) -> None:
        old = await store_turn(store, "ann", YESTERDAY)
        await store_turn(store, "ann", TOMORROW, dialog_name="other")

        assert await store.delete_older(TODAY) == 1
        opened = await open_new_turn(store, "ann", "b")
        await store.close_turn(a_closing(opened))

        assert opened.dialog_id != old
        assert [row.id for row in await store.feed_tail("ann", "main")] == [2, 3]
        assert [row.id for row in await store.feed_tail("ann", "other")] == [0, 1]

    async def test_message_ids_of_a_person_who_was_deleted_start_at_zero(
        self, store: Store
    ) -> None:
        await talk(store, "ann", "a")
        await store.delete_person("ann")

        assert (await open_new_turn(store, "ann", "b")).feed_id == 0

    async def test_many_dialog_names_have_their_own_message_ids(self, store: Store) -> None:
        names = [f"name {n}" for n in range(12)]
        for _ in range(2):
            for name in names:
                opened = await open_new_turn(store, "ann", dialog_name=name)
                await store.close_turn(a_closing(opened))

        for name in names:
            assert [row.id for row in await store.feed_tail("ann", name)] == [0, 1, 2, 3]

    # Closings

    async def test_the_last_message_of_a_turn_has_its_closing(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann", "a")
        said = [a_message("b"), a_message("c")]
        await store.close_turn(a_closing(opened, messages=said, closing=ASK))
        await talk(store, "ann", "d")

        closings = [row.closing for row in await store.feed("ann", 0)]

        assert closings == [None, None, ASK, None, NO_ASK_CLOSING]

    async def test_a_turn_without_a_message_leaves_one_row_with_its_closing(
        self, store: Store
    ) -> None:
        opened = await open_new_turn(store, "ann", "stop")
        await store.close_turn(a_closing(opened, messages=[]))
        await talk(store, "ann", "hi")

        _, silent, *rest = await store.feed("ann", 0)

        assert silent == FeedRow(2, opened.dialog_id, None, "main", None, NO_ASK_CLOSING)
        assert [(row.n, row.id) for row in rest] == [(3, 1), (4, 2)]

    # The tail of one dialog name

    async def test_the_tail_has_the_last_rows_of_one_name(self, store: Store) -> None:
        await talk(store, "ann", "a", "b")
        await talk(store, "bob", "x")
        other = await open_new_turn(store, "ann", "other", dialog_name="other")
        await store.close_turn(a_closing(other))
        await store.close_dialog("ann", "main")
        await open_new_turn(store, "ann", "c")

        assert await _tail(store, limit=3) == [(2, "b"), (3, "re: b"), (4, "c")]
        assert await _tail(store, limit=99) == [
            (0, "a"),
            (1, "re: a"),
            (2, "b"),
            (3, "re: b"),
            (4, "c"),
        ]
        assert await _tail(store, limit=0) == []
        assert await store.feed_tail("ann", "nothing") == []
        assert await store.feed_tail("nobody", "main") == []

    async def test_the_tail_continues_after_a_message(self, store: Store) -> None:
        await talk(store, "ann", "a", "b")
        await open_new_turn(store, "ann", "c")

        assert await _tail(store, after=1, limit=2) == [(2, "b"), (3, "re: b")]
        assert await _tail(store, after=3) == [(4, "c")]
        assert await _tail(store, after=4) == []
        assert await _tail(store, after=99) == []
        assert await _tail(store, after=-1, limit=1) == [(0, "a")]

    async def test_the_tail_includes_turns_without_a_message(self, store: Store) -> None:
        await store.close_turn(a_closing(await open_new_turn(store, "ann", "stop"), messages=[]))
        await store.close_turn(a_closing(await open_new_turn(store, "ann", "stop"), messages=[]))

        every = [(0, "stop"), (None, None), (1, "stop"), (None, None)]
        assert await _tail(store) == every
        assert await _tail(store, limit=1) == every[3:]
        assert await _tail(store, after=0) == every[1:]
        assert await _tail(store, after=1) == every[3:]

    # Rounds

    async def test_a_dialog_has_the_round_of_its_last_turn(self, store: Store) -> None:
        first = await open_new_turn(store, "ann", "a")
        await store.close_turn(a_closing(first, round=b'{"left":1}'))
        second = await open_new_turn(store, "ann", "b")
        await store.close_turn(a_closing(second))
        third = await open_new_turn(store, "ann", "c")
        resumed = await store.resume_turn(third.opening.turn_id, 4, 0)
        await store.close_turn(a_closing(resumed, round=b"{}"))

        assert (first.round, second.round, third.round, resumed.round) == (
            b"{}",
            b'{"left":1}',
            b'{"left":1}',
            b'{"left":1}',
        )
        assert await store.round("ann", "main") == b"{}"

    async def test_each_dialog_has_a_round_of_its_own(self, store: Store) -> None:
        await store.close_turn(a_closing(await open_new_turn(store, "ann"), round=b'{"left":1}'))
        other = await open_new_turn(store, "ann", dialog_name="other")
        await store.close_turn(a_closing(other, round=b'{"left":2}'))

        assert await store.round("ann", "main") == b'{"left":1}'
        assert await store.round("ann", "other") == b'{"left":2}'
        assert await store.round("ann", "nothing") == b"{}"
        assert await store.round("nobody", "main") == b"{}"

    async def test_a_round_ends_with_its_dialog(self, store: Store) -> None:
        await store.close_turn(a_closing(await open_new_turn(store, "ann"), round=b'{"left":1}'))
        await store.close_dialog("ann", "main")

        assert await store.round("ann", "main") == b"{}"
        assert (await open_new_turn(store, "ann")).round == b"{}"

    # What is said unasked

    async def test_a_delivery_is_in_the_feed(self, store: Store) -> None:
        (turn,) = await talk(store, "ann", "a")

        assert await store.deliver(a_delivery("ann", "b", "c", closing=ASK, round=b'{"left":3}'))

        rows = await store.feed("ann", 2)
        assert rows == [
            FeedRow(3, turn.dialog_id, a_message("b"), "main", 2, None),
            FeedRow(4, turn.dialog_id, a_message("c"), "main", 3, ASK),
        ]
        opened = await open_new_turn(store, "ann", "d")
        assert (opened.feed, opened.feed_id, opened.length) == (5, 4, 2)
        assert (opened.round, opened.dialog_id) == (b'{"left":3}', turn.dialog_id)

    async def test_a_delivery_makes_the_person_and_the_dialog(self, store: Store) -> None:
        delivery = a_delivery("ann", "b", new_dialog=a_new_dialog(b'{"a":1}'))

        assert await store.deliver(delivery)

        opened = await open_new_turn(store, "ann", "d", window=8)
        assert (opened.dialog_id, opened.id) == (
            delivery.new_dialog.dialog_id,
            delivery.new_dialog.id,
        )
        assert (opened.feed, opened.feed_id, opened.length) == (2, 1, 0)
        assert opened.dialog_attributes == b'{"a":1}'
        dialog = await store.dialog(opened.dialog_id)
        assert dialog is not None
        assert (dialog.human.id, dialog.bot.id) == (
            delivery.new_dialog.human_id,
            delivery.new_dialog.bot_id,
        )
        assert (dialog.channel_type, dialog.date_start) == ("assistant", delivery.date_time)

    async def test_a_delivery_without_messages_or_round_makes_nothing(self, store: Store) -> None:
        await store.schedule(an_entry("ann"))

        assert await store.deliver(a_delivery("ann", entry=an_entry("ann")))

        assert await store.feed_end("ann") == 0
        assert await store.active_dialog_id("ann") is None
        assert await store.entries("ann") == []

    async def test_a_delivery_without_messages_can_open_a_round(self, store: Store) -> None:
        assert await store.deliver(a_delivery("ann", round=b'{"left":3}'))

        assert await store.round("ann", "main") == b'{"left":3}'
        assert await store.feed("ann", 0) == []


async def _tail(
    store: Store, limit: int = 10, after: int | None = None
) -> list[tuple[int | None, str | None]]:
    rows = await store.feed_tail("ann", "main", limit, after)
    return [(row.id, words(row.message)) for row in rows]
