"""The PostgreSQL store passes the kits (`relaxed`, which is quicker; only the waiting differs)."""

import asyncio
from typing import Any

import pytest

from prolocutor.errors import StoreAway
from prolocutor.plugins.postgresql import reader
from prolocutor.plugins.postgresql.database_line import Row
from prolocutor.plugins.postgresql.lanes import Lane
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.plugins.postgresql.testing.shared_store_kit import (
    LoseAnswer,
    Replica,
    RunOut,
    SharedStoreKit,
)
from prolocutor.plugins.store_kit.archive_kit import ConversationStoreKit
from prolocutor.plugins.store_kit.store_kit import DurableStoreKit, MakeStore, TurnRecordStoreKit
from prolocutor.testing.sample_turns import talk
from tests.postgresql_server import PostgresqlServer, query


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


async def test_assistants_in_schemas_of_one_database_share_nothing(
    postgresql: PostgresqlServer, worker_database: str
) -> None:
    name = worker_database.rpartition("/")[2] + "_schemas"
    url = postgresql.url(name)
    postgresql.execute(f"CREATE DATABASE {name}")
    acme, acme_too, beta = (
        PostgresqlStore(f"{url}?schema={each}") for each in ("acme", "acme", "beta")
    )
    heard: list[str] = []
    came = asyncio.Event()
    for store in (acme, acme_too, beta):
        await store.open()
        await store.join(30.0)
    beta.on_wake(heard.append)
    acme_too.on_wake(lambda _: came.set())
    await talk(acme, "ann", "of acme")
    acme.wake("ann")
    async with asyncio.timeout(30.0):
        await came.wait()
    ids = [len(await store.dialog_ids()) for store in (acme, acme_too, beta)]
    persons = [len(await store.feed("ann", 0)) for store in (acme, beta)]
    sessions = "SELECT DISTINCT application_name FROM pg_stat_activity WHERE datname = $1"
    named = {row[0] for row in await query(url, sessions, name)}
    for store in (acme, acme_too, beta):
        await store.aclose()
    in_public = await query(url, "SELECT to_regclass('public.people') IS NULL")
    postgresql.execute(f"DROP DATABASE {name} WITH (FORCE)")

    assert {"prolocutor 1 acme", "prolocutor 1 beta"} <= named
    assert ids == [1, 1, 0]
    assert persons == [2, 0]
    assert heard == []
    assert in_public[0][0]
