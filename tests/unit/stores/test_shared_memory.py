"""The in-memory model of a shared store passes the kits."""

import pytest

from prolocutor.testing.shared_memory import SharedMemory
from prolocutor.testing.shared_memory_store import SharedMemoryStore
from prolocutor.testing.shared_store_kit import LoseAnswer, Replica, RunOut, SharedStoreKit
from prolocutor.testing.store_kit import MakeStore, StoreKit


class TestSharedMemory(SharedStoreKit, StoreKit):
    @pytest.fixture
    def database(self) -> SharedMemory:
        return SharedMemory()

    @pytest.fixture
    def make_store(self, database: SharedMemory) -> MakeStore:
        return lambda: SharedMemoryStore(database)

    @pytest.fixture
    def run_out(self, database: SharedMemory) -> RunOut:
        async def run_out(store: Replica) -> None:
            assert isinstance(store, SharedMemoryStore)
            store.replica.alive_until = database.now - 1.0

        return run_out

    @pytest.fixture
    def lose_answer(self) -> LoseAnswer:
        def lose_answer(store: Replica) -> None:
            assert isinstance(store, SharedMemoryStore)
            store.loses_answer = True

        return lose_answer
