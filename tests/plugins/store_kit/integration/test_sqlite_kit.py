"""The SQLite store passes the kit (`relaxed`, which is quicker; only the waiting differs)."""

from pathlib import Path

import pytest

from prolocutor.plugins.store_kit.archive_kit import ConversationStoreKit
from prolocutor.plugins.store_kit.store_kit import DurableStoreKit, MakeStore, TurnRecordStoreKit
from prolocutor.stores.sqlite import reader
from prolocutor.stores.sqlite.sqlite_store import SqliteStore


class TestSqliteStore(DurableStoreKit, TurnRecordStoreKit):
    @pytest.fixture
    def make_store(self, tmp_path: Path) -> MakeStore:
        return lambda: SqliteStore(tmp_path / "dialogs.db", durability="relaxed")


class TestConversationsOfManyNames(ConversationStoreKit):
    @pytest.fixture
    def make_store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeStore:
        monkeypatch.setattr(reader, "MANY_NAMES", 0)
        return lambda: SqliteStore(tmp_path / "dialogs.db", durability="relaxed")
