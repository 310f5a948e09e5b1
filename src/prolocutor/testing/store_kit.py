"""StoreKit: the tests that every store passes, to be inherited.

    class TestMyStore(DurableStoreKit):  # or StoreKit, if it forgets when it is closed
        @pytest.fixture
        def make_store(self, tmp_path):
            return lambda: MyStore(tmp_path / "dialogs")

Each call of `make_store()` within one test gives a store that is not open yet, on the same data. It
needs pytest and pytest-asyncio.
"""

from __future__ import annotations

from prolocutor.testing.store_contract.agenda_kit import AgendaStoreKit
from prolocutor.testing.store_contract.archive_kit import ArchiveStoreKit
from prolocutor.testing.store_contract.durability_kit import DurabilityKit
from prolocutor.testing.store_contract.feed_kit import FeedStoreKit
from prolocutor.testing.store_contract.fixtures import MakeStore
from prolocutor.testing.store_contract.record_kit import RecordStoreKit
from prolocutor.testing.store_contract.turn_kit import TurnStoreKit

__all__ = ["DurableStoreKit", "MakeStore", "StoreKit"]


class StoreKit(TurnStoreKit, FeedStoreKit, AgendaStoreKit, RecordStoreKit, ArchiveStoreKit):
    """What is true of every store. Subclass it as `Test...` with a `make_store` fixture."""


class DurableStoreKit(DurabilityKit, StoreKit):
    """What is true beside that of every store that remembers when it was closed."""
