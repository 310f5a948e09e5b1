"""StoreKit: the contract tests of a store, to be inherited.

    class TestMyStore(DurableStoreKit):  # or StoreKit, if nothing is stored once it is closed
        @pytest.fixture
        def make_store(self, tmp_path):
            return lambda: MyStore(tmp_path / "dialogs")

A store with records of turns (`KeepsTurnRecords`) inherits `TurnRecordStoreKit` as well.
Each call of `make_store()` within a test returns an unopened store, on the same data.
The kit needs pytest and pytest-asyncio.
"""

from __future__ import annotations

from prolocutor.plugins.store_kit.agenda_kit import AgendaStoreKit
from prolocutor.plugins.store_kit.archive_kit import (
    ArchiveStoreKit,
    ConversationStoreKit,
    RecordStoreKit,
)
from prolocutor.plugins.store_kit.durability_kit import DurabilityKit
from prolocutor.plugins.store_kit.feed_kit import FeedStoreKit
from prolocutor.plugins.store_kit.turn_kit import TurnStoreKit
from prolocutor.plugins.store_kit.turn_record_kit import TurnRecordStoreKit
from prolocutor.testing.store_fixtures import MakeStore

__all__ = ["DurableStoreKit", "MakeStore", "StoreKit", "TurnRecordStoreKit"]


class StoreKit(
    TurnStoreKit,
    FeedStoreKit,
    AgendaStoreKit,
    RecordStoreKit,
    ConversationStoreKit,
    ArchiveStoreKit,
):
    """The tests of every store. Subclass it as `Test...` with a `make_store` fixture."""


class DurableStoreKit(DurabilityKit, StoreKit):
    """The tests of a durable store: its data are there after closing and opening."""
