"""Contract tests of `RecordStore`: documents of a person, by kind and key."""

from __future__ import annotations

from prolocutor.contracts.store import NewRecord, Store
from prolocutor.testing.sample_turns import a_closing, open_new_turn
from prolocutor.testing.store_contract.fixtures import StoreFixtures


class RecordStoreKit(StoreFixtures):
    """The tests of `RecordStore`."""

    async def test_records_are_found_by_person_and_kind(self, store: Store) -> None:
        await store.put_record("ann", "device", "a", b'{"n":1}')
        await store.put_record("ann", "program", "a", b'{"n":2}')
        await store.put_record("", "device", "a", b'{"n":3}')

        assert await store.records("ann", "device") == {"a": b'{"n":1}'}
        assert await store.records("ann", "program") == {"a": b'{"n":2}'}
        assert await store.records("", "device") == {"a": b'{"n":3}'}
        assert await store.records("bob", "device") == {}

    async def test_records_are_in_the_order_of_their_first_writing(self, store: Store) -> None:
        for key in ("b", "c", "a"):
            await store.put_record("ann", "device", key, b"1")
        await store.put_record("ann", "device", "b", b"2")

        found = await store.records("ann", "device")

        assert list(found.items()) == [("b", b"2"), ("c", b"1"), ("a", b"1")]

    async def test_a_record_can_be_deleted_once(self, store: Store) -> None:
        await store.put_record("ann", "device", "a", b"1")

        assert await store.delete_record("ann", "device", "a") is True
        assert await store.delete_record("ann", "device", "a") is False
        assert await store.delete_record("nobody", "device", "a") is False
        assert await store.records("ann", "device") == {}

    async def test_records_of_a_kind_are_found_after_a_number(self, store: Store) -> None:
        for user, key in (("ann", "a"), ("", "b"), ("bob", "c")):
            await store.put_record(user, "lesson", key, b"1")
        await store.put_record("ann", "device", "d", b"1")

        found = await store.records_since("lesson")

        assert [(one.user, one.key, one.body) for one in found] == [
            ("ann", "a", b"1"), ("", "b", b"1"), ("bob", "c", b"1"),
        ]  # fmt: skip
        assert await store.records_since("lesson", found[0].number) == found[1:]
        assert await store.records_since("lesson", limit=1) == found[2:]
        assert await store.record_count("lesson") == 3

    async def test_records_of_a_turn_are_deleted_with_its_conversation(self, store: Store) -> None:
        opened = await open_new_turn(store)
        closing = a_closing(opened, records=[NewRecord("lesson", "a", b"1")])
        await store.close_turn(closing)
        said = opened.opening
        await store.put_record("bob", "lesson", "b", b"2", said.bot_utt_id)
        await store.put_record("bob", "lesson", "c", b"3", "nothing")
        found = await store.records_since("lesson")
        await store.delete_conversation(said.user, said.dialog_name)

        assert [(one.user, one.key) for one in found] == [
            (said.user, "a"), ("bob", "b"), ("bob", "c"),
        ]  # fmt: skip
        assert await store.records_since("lesson") == found[2:]

    async def test_ratings_of_replies_are_found_after_a_number(self, store: Store) -> None:
        opened = [await open_new_turn(store, user) for user in ("ann", "bob")]
        for one, rating in zip(opened, (1, "down"), strict=True):
            await store.close_turn(a_closing(one))
            await store.rate_utterance(one.opening.utt_id, 5, "ann", "")
            await store.rate_utterance(one.opening.bot_utt_id, rating, "ann", "")

        found = await store.ratings_since()

        assert [(one.user, one.question, one.rating) for one in found] == [
            ("ann", opened[0].opening.text, 1), ("bob", opened[1].opening.text, "down"),
        ]  # fmt: skip
        assert [one.utt_id for one in found] == [one.opening.bot_utt_id for one in opened]
        assert await store.ratings_since(found[0].number) == found[1:]
        count = await store.rating_count()
        await store.delete_person("ann")
        assert await store.ratings_since() == found[1:]
        assert await store.rating_count() < count

    async def test_records_are_deleted_with_their_person(self, store: Store) -> None:
        await store.put_record("ann", "device", "a", b"1")
        await store.put_record("", "device", "a", b"1")

        assert await store.delete_person("ann") is True
        assert await store.delete_person("ann") is False

        assert await store.records("ann", "device") == {}
        assert await store.records("", "device") == {"a": b"1"}
