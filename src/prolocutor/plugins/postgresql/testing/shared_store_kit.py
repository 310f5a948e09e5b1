"""SharedStoreKit: the contract tests of a store of several replicas, to be inherited.

    class TestMyStore(SharedStoreKit):
        @pytest.fixture
        def make_store(self, database):
            return lambda: MyStore(database.url)

        @pytest.fixture
        def run_out(self, database):
            async def run_out(store): ...  # let the lease of this store's replica run out now
            return run_out

Each call of `make_store()` within one test returns an unopened store, on the same database; it must
be a `SharedStore` as well. The tests let two or three of them meet in every possible order of two
replicas; a lost answer is a call made twice. Fixtures restore the database to nothing. The kit
needs pytest and pytest-asyncio.
"""

from __future__ import annotations

from prolocutor.plugins.postgresql.testing.shared_fixtures import LoseAnswer, Replica, RunOut
from prolocutor.plugins.postgresql.testing.shared_persons_kit import (
    SharedCountersKit,
    SharedPersonsKit,
)
from prolocutor.plugins.postgresql.testing.shared_turns_kit import SharedTurnsKit

__all__ = ["LoseAnswer", "Replica", "RunOut", "SharedStoreKit"]


class SharedStoreKit(SharedTurnsKit, SharedPersonsKit, SharedCountersKit):
    """The tests of every shared store. Subclass it as `Test...` with the fixtures above."""
