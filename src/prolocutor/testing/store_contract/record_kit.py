"""Contract tests of `RecordStore`: documents of a person, by kind and key."""

from __future__ import annotations

from prolocutor.contracts.store import Store
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

    async def test_records_are_deleted_with_their_person(self, store: Store) -> None:
        await store.put_record("ann", "device", "a", b"1")
        await store.put_record("", "device", "a", b"1")

        assert await store.delete_person("ann") is True
        assert await store.delete_person("ann") is False

        assert await store.records("ann", "device") == {}
        assert await store.records("", "device") == {"a": b"1"}
