"""The in-memory model of a shared store passes the kits."""

import pytest

from prolocutor.plugins.postgresql.testing.shared_store_kit import (
    LoseAnswer,
    Replica,
    RunOut,
    SharedStoreKit,
)
from prolocutor.plugins.store_kit.store_kit import MakeStore, StoreKit
from tests.model_store.shared_model_store import SharedModelStore
from tests.model_store.shared_state import SharedModel


class TestSharedMemory(SharedStoreKit, StoreKit):
    @pytest.fixture
    def database(self) -> SharedModel:
        return SharedModel()

    @pytest.fixture
    def make_store(self, database: SharedModel) -> MakeStore:
        return lambda: SharedModelStore(database)

    @pytest.fixture
    def run_out(self, database: SharedModel) -> RunOut:
        async def run_out(store: Replica) -> None:
            assert isinstance(store, SharedModelStore)
            store.replica.alive_until = database.now - 1.0

        return run_out

    @pytest.fixture
    def lose_answer(self) -> LoseAnswer:
        def lose_answer(store: Replica) -> None:
            assert isinstance(store, SharedModelStore)
            store.loses_answer = True

        return lose_answer
