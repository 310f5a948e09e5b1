"""StoreKit: the tests that every store passes, to be inherited.

    class TestMyStore(DurableStoreKit):  # or StoreKit, if it forgets when it is closed
        @pytest.fixture
        def make_store(self, tmp_path):
            return lambda: MyStore(tmp_path / "dialogs")

Each call of `make_store()` within one test gives a store that is not open yet, on the same data. It
needs pytest and pytest-asyncio.
"""

from __future__ import annotations

from prolocutor.testing.store_promises.agenda import AgendaKit
from prolocutor.testing.store_promises.archive import ArchiveKit
from prolocutor.testing.store_promises.durable import DurableKit
from prolocutor.testing.store_promises.feed import FeedKit
from prolocutor.testing.store_promises.opened import MakeStore
from prolocutor.testing.store_promises.records import RecordsKit
from prolocutor.testing.store_promises.turns import TurnsKit

__all__ = ["DurableStoreKit", "MakeStore", "StoreKit"]


class StoreKit(TurnsKit, FeedKit, AgendaKit, RecordsKit, ArchiveKit):
    """What is true of every store. Subclass it as `Test...` with a `make_store` fixture."""


class DurableStoreKit(DurableKit, StoreKit):
    """What is true beside that of every store that remembers when it was closed."""
