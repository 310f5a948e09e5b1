"""The PostgreSQL store passes the kits (`relaxed`, which is quicker; only the waiting differs)."""

from typing import Any

import pytest

from prolocutor.errors import StoreAway
from prolocutor.plugins.postgresql import reader
from prolocutor.plugins.postgresql.database_line import Row
from prolocutor.plugins.postgresql.lanes import Lane
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.testing.shared_store_kit import LoseAnswer, Replica, RunOut, SharedStoreKit
from prolocutor.testing.store_contract.conversation_kit import ConversationStoreKit
from prolocutor.testing.store_kit import DurableStoreKit, MakeStore, TurnRecordStoreKit
from tests.postgresql_server import query


class TestPostgresqlStore(DurableStoreKit, TurnRecordStoreKit):
    @pytest.fixture
    def make_store(self, database: str) -> MakeStore:
        return lambda: PostgresqlStore(database, durability="relaxed")


class TestSharedPostgresqlStore(SharedStoreKit):
    @pytest.fixture
    def make_store(self, database: str) -> MakeStore:
        return lambda: PostgresqlStore(database, durability="relaxed")

    @pytest.fixture
    def run_out(self, database: str) -> RunOut:
        async def run_out(store: Replica) -> None:
            number = store.number  # type: ignore[attr-defined]
            statement = "UPDATE replicas SET alive_until = '-infinity' WHERE replica = $1"
            await query(database, statement, number)

        return run_out

    @pytest.fixture
    def lose_answer(self, monkeypatch: pytest.MonkeyPatch) -> LoseAnswer:
        def lose(store: Replica) -> None:
            assert isinstance(store, PostgresqlStore)
            lost: list[str] = []
            for lane in (store.openings, store.closings):
                lose_next_answer(lane, lost, monkeypatch)

        return lose


def lose_next_answer(lane: Lane[Any], lost: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the lane's next call reach the database, and its answer, repeated too, get lost."""
    line = lane._line
    fetch = line.fetch

    async def without_answer(statement: str, *values: Any, within: float) -> list[Row]:
        rows = await fetch(statement, *values, within=within)
        if len(lost) < 2:
            lost.append(statement)
            raise StoreAway("the answer was lost")
        return rows

    monkeypatch.setattr(line, "fetch", without_answer)


class TestConversationsOfManyNames(ConversationStoreKit):
    @pytest.fixture
    def make_store(self, database: str, monkeypatch: pytest.MonkeyPatch) -> MakeStore:
        monkeypatch.setattr(reader, "MANY_NAMES", 0)
        return lambda: PostgresqlStore(database, durability="relaxed")
