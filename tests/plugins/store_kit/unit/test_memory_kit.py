"""SQLite in memory passes the kit, and so does the model that the kit is checked against."""

import pytest

from prolocutor.plugins.store_kit.store_kit import MakeStore, StoreKit, TurnRecordStoreKit
from prolocutor.stores.sqlite.sqlite_store import MemoryStore
from tests.model_store import ModelStore


class TestMemoryStore(StoreKit, TurnRecordStoreKit):
    @pytest.fixture
    def make_store(self) -> MakeStore:
        return MemoryStore


class TestModelStore(StoreKit):
    @pytest.fixture
    def make_store(self) -> MakeStore:
        return ModelStore
