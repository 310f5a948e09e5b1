"""The in-memory store passes the kit."""

import pytest

from prolocutor.stores.memory import MemoryStore
from prolocutor.testing.store_kit import MakeStore, StoreKit, TurnRecordStoreKit


class TestMemoryStore(StoreKit, TurnRecordStoreKit):
    @pytest.fixture
    def make_store(self) -> MakeStore:
        return MemoryStore
