"""Contract tests of `ConversationStore`: conversations by name, what was said before, deletion."""

from __future__ import annotations

from prolocutor.contracts.store import Store
from prolocutor.testing.sample_turns import a_delivery, open_new_turn, talk
from prolocutor.testing.store_contract.fixtures import (
    TODAY,
    TOMORROW,
    YESTERDAY,
    StoreFixtures,
    store_turn,
    words,
)


class ConversationStoreKit(StoreFixtures):
    """The tests of `ConversationStore`."""

    async def test_conversations_are_listed_by_name_the_latest_first(self, store: Store) -> None:
        await store_turn(store, "ann", YESTERDAY, dialog_name="one")
        await store_turn(store, "ann", TODAY, dialog_name="two")
        await store.close_dialog("ann", "one")
        await store_turn(store, "ann", TOMORROW, dialog_name="one")
        await store_turn(store, "bob", TODAY, dialog_name="his")

        found = await store.conversations("ann")

        assert [(one.name, one.n, one.at) for one in found] == [
            ("one", 6, TOMORROW),
            ("two", 4, TODAY),
        ]
        assert await store.conversations("ann", 6, 1) == found[1:]
        assert await store.conversations("ann", limit=1) == found[:1]
        assert await store.conversations("nobody") == []

    async def test_a_conversation_has_the_first_words_of_the_person(self, store: Store) -> None:
        await store.deliver(a_delivery("ann", "Welcome!"))
        assert [words(one.first) for one in await store.conversations("ann")] == [None]
        await talk(store, "ann", "a", "b")
        await open_new_turn(store, "ann", "c", dialog_name="running")

        found = await store.conversations("ann")

        assert [(one.name, words(one.first)) for one in found] == [("running", "c"), ("main", "a")]
        assert all(one.at for one in found)

    async def test_what_was_said_is_read_backwards(self, store: Store) -> None:
        await talk(store, "ann", "a")
        await talk(store, "bob", "z")
        await open_new_turn(store, "ann", "running")

        found = await store.feed_before("ann")

        assert [(row.n, words(row.message)) for row in found] == [(2, "re: a"), (1, "a")]
        assert await store.feed_before("ann", 2, 5) == found[1:]
        assert await store.feed_before("ann", limit=1) == found[:1]
        assert await store.feed_before("ann", 1) == await store.feed_before("nobody") == []

    async def test_a_conversation_is_deleted_with_all_its_dialogs(self, store: Store) -> None:
        for at in (YESTERDAY, TODAY):
            await store_turn(store, "ann", at, dialog_name="old")
            await store.close_dialog("ann", "old")
        await store_turn(store, "ann", TODAY)
        await store_turn(store, "bob", TODAY, dialog_name="old")

        assert await store.delete_conversation("ann", "old") == 2
        assert await store.delete_conversation("ann", "old") == 0
        assert await store.delete_conversation("nobody", "old") == 0

        assert [one.name for one in await store.conversations("ann")] == ["main"]
        assert [row.dialog_name for row in await store.feed("ann", 0)] == ["main", "main"]
        assert [one.name for one in await store.conversations("bob")] == ["old"]
        again = await open_new_turn(store, "ann", "b", dialog_name="old")
        assert (again.feed, again.feed_id, again.window) == (7, 4, [])

    async def test_a_dialog_in_which_a_turn_runs_is_not_deleted(self, store: Store) -> None:
        await open_new_turn(store, "ann", "a")

        assert await store.delete_conversation("ann", "main") == 0
        assert [one.name for one in await store.conversations("ann")] == ["main"]
