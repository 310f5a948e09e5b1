"""What the PostgreSQL store does when something goes wrong on the way, or at the other end."""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import asyncpg
import msgspec
import pytest

from prolocutor.contracts.store import OpenedTurn
from prolocutor.errors import ConfigError, StoreAway, StoreError, StoreMisused
from prolocutor.plugins.postgresql import migrations, reader
from prolocutor.plugins.postgresql.database_line import DatabaseLine
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.testing.sample_turns import a_closing, an_opening, open_new_turn, talk
from prolocutor.testing.store_fixtures import open_for_test, texts
from tests.postgresql_server import (
    PostgresqlServer,
    found,
    query,
    quick_folder,
)

PATIENCE = 60.0


class Proxy:
    """A line to a server that can be cut, or hold all that is sent without a word."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._ways = asyncio.Event()
        self._ways.set()
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def hold(self) -> None:
        self._ways.clear()

    def let_go(self) -> None:
        self._ways.set()

    async def cut(self) -> None:
        """Take no more connections, and break those that are there."""
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._ways.wait()
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers += [writer, back]
        for one, other in ((reader, back), (there, writer)):
            task = asyncio.get_running_loop().create_task(self._carry(one, other))
            self._tasks.add(task)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._ways.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def proxies(postgresql: PostgresqlServer, number: int) -> AsyncIterator[list[Proxy]]:
    made = [Proxy(postgresql.port) for _ in range(number)]
    for one in made:
        await one.open()
    try:
        yield made
    finally:
        for one in made:
            await one.cut()


async def is_back(store: PostgresqlStore) -> None:
    """Wait until every line answers; one that was cut may not know it yet."""
    async with asyncio.timeout(PATIENCE):
        for line in store.lines:
            while not await answers(line):
                await line.back(1.0)


async def answers(line: DatabaseLine) -> bool:
    try:
        return bool(await line.fetch("SELECT 1", within=PATIENCE))
    except StoreAway:
        return False


async def test_a_line_that_holds_what_is_sent_is_broken_off(
    database: str, postgresql: PostgresqlServer
) -> None:
    async with proxies(postgresql, 1) as (proxy,):
        through = database.replace(str(postgresql.port), str(proxy.port))
        store = PostgresqlStore(f"{through}?connect_timeout=1")
        await store.open()
        await store.join(1.0)
        (before,) = await talk(store, "ann", "a")
        proxy.hold()
        waiting = asyncio.ensure_future(store.open_turn(an_opening("ann", "lost")))
        with pytest.raises(StoreAway):
            await store.beat()
        with pytest.raises(StoreAway):
            await waiting
        assert not store.is_up
        proxy.let_go()
        await is_back(store)
        await store.beat()
        (again,) = await talk(store, "bob", "b")
        await store.aclose()

    assert before.replica == again.replica  # type: ignore[attr-defined]


async def test_a_reader_of_feeds_waits_less_for_a_mute_line_than_a_search(
    database: str, postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "FEED_TIMEOUT", 0.1)
    monkeypatch.setattr(reader, "STATEMENT_TIMEOUT", 2 * PATIENCE)
    async with proxies(postgresql, 1) as (proxy,):
        through = database.replace(str(postgresql.port), str(proxy.port))
        store = PostgresqlStore(f"{through}?connect_timeout=1")
        await store.open()
        await talk(store, "ann", "a")
        proxy.hold()
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(StoreAway):
                await store.feed("ann", 0)
            with pytest.raises(StoreAway):
                await store.feed_ends(["ann"])
        proxy.let_go()
        await is_back(store)
        rows = await store.feed("ann", 0)
        await store.aclose()

    assert [row.n for row in rows] == [1, 2]


async def test_where_the_first_host_is_lost_the_next_one_serves(
    database: str, postgresql: PostgresqlServer
) -> None:
    async with proxies(postgresql, 2) as (one, other):
        hosts = f"127.0.0.1:{one.port},127.0.0.1:{other.port}"
        url = database.replace(f"127.0.0.1:{postgresql.port}", hosts)
        async with open_for_test(
            lambda: PostgresqlStore(f"{url}?target_session_attrs=read-write")
        ) as opened:
            store = opened
            assert isinstance(store, PostgresqlStore)
            begun = await open_new_turn(store, "ann", "a")
            await one.cut()
            await is_back(store)
            await store.close_turn(a_closing(begun, "b"))
            (last,) = await talk(store, "ann", "c")

    assert texts(last) == ["a", "b"]


@pytest.fixture
def own_server() -> Iterator[PostgresqlServer]:
    """A server of this test's own, which it may stop and start."""
    found("initdb")
    server = PostgresqlServer(quick_folder(), fsync="on", wal_writer_delay="10s")
    server.make()
    server.start()
    yield server
    with suppress(RuntimeError):
        server.stop()
    shutil.rmtree(server.folder)


async def test_what_was_confirmed_is_there_after_a_crash_and_what_was_owed_is_stored_then(
    own_server: PostgresqlServer,
) -> None:
    store = PostgresqlStore(own_server.url("postgres"))
    await store.open()
    await store.join(30.0)
    begun = await open_new_turn(store, "ann", "a")
    closing = a_closing(begun, "b")
    await asyncio.to_thread(own_server.stop, "immediate")
    with pytest.raises(StoreAway):
        await store.close_turn(closing)
    with pytest.raises(StoreAway):
        await store.open_turn(an_opening("bob"))
    with pytest.raises(StoreAway):
        await store.feed("ann", 0)
    with pytest.raises(StoreAway):
        await store.beat()
    assert not store.is_up
    await asyncio.to_thread(own_server.start)
    await is_back(store)
    assert await store.beat()
    await store.close_turn(closing)
    (last,) = await talk(store, "ann", "c")
    await store.aclose()

    assert texts(last) == ["a", "b"]


async def test_the_number_of_a_replica_is_not_given_again_after_a_crash(
    own_server: PostgresqlServer,
) -> None:
    stores = [PostgresqlStore(own_server.url("postgres")) for _ in range(2)]
    await stores[0].open()
    first = await stores[0].join(30.0)
    await asyncio.to_thread(own_server.stop, "immediate")
    await asyncio.to_thread(own_server.start)
    await stores[1].open()
    second = await stores[1].join(30.0)
    await is_back(stores[0])
    lives_on = await stores[0].beat()
    for store in stores:
        await store.aclose()

    assert second != first
    assert lives_on is True


async def test_one_turn_that_cannot_be_stored_does_not_fail_its_group(database: str) -> None:
    async with open_for_test(lambda: PostgresqlStore(database, durability="relaxed")) as store:
        turns = [await open_new_turn(store, f"user {number}") for number in range(6)]
        closings = [a_closing(turn) for turn in turns]
        bad = msgspec.structs.replace(closings[3].utterances[0], date_time="\x00")
        closings[3] = msgspec.structs.replace(closings[3], utterances=[bad])
        done = await asyncio.gather(
            *(store.close_turn(closing) for closing in closings), return_exceptions=True
        )
        left = await store.unfinished_turns()
        await store.close_turn(a_closing(turns[3], "in other words"))
        openings = [an_opening(f"user {number}", started=float(number)) for number in range(6)]
        openings[2] = an_opening("user 2", date_time="2024", attributes=b"{}", channel_type="x" * 3)
        again = await asyncio.gather(*(store.open_turn(opening) for opening in openings))

    assert [type(one).__name__ for one in done].count("NoneType") == 5
    assert isinstance(done[3], StoreError)
    assert [one.user for one in left] == ["user 3"]
    assert all(isinstance(one, OpenedTurn) and one.length == 2 for one in again)


async def test_a_turn_that_waited_for_the_row_starts_from_what_the_last_one_left(
    database: str,
) -> None:
    async with open_for_test(lambda: PostgresqlStore(database, durability="relaxed")) as store:
        (first,) = await talk(store, "ann", "a")
        other = await asyncpg.connect(database)
        async with other.transaction():
            await other.execute('UPDATE people SET version = version + 1 WHERE "user" = $1', "ann")
            await other.execute(
                "INSERT INTO utterances SELECT person, dialog, position + 2, utt_id || 'x', "
                "by_bot, user_version, attempt, date_time, body, NULL FROM utterances"
            )
            opening = asyncio.ensure_future(store.open_turn(an_opening("ann", "b")))
            waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            async with asyncio.timeout(PATIENCE):
                while (await query(database, waits))[0][0] == 0:
                    pass
        opened = await opening
        await other.close()

    assert isinstance(opened, OpenedTurn)
    assert opened.length == 4
    assert len(opened.window) == 4
    assert first.length == 0


async def test_many_may_migrate_at_once_and_twice(
    postgresql: PostgresqlServer, worker_database: str
) -> None:
    name = worker_database.rpartition("/")[2] + "_new"
    url = postgresql.url(name)
    postgresql.execute(f"CREATE DATABASE {name}")
    stores = [PostgresqlStore(url, durability="relaxed") for _ in range(4)]
    await asyncio.gather(*(store.open() for store in stores))
    await asyncio.gather(*(store.aclose() for store in stores))
    numbers = await query(url, "SELECT number FROM prolocutor_migrations ORDER BY number")

    assert [row[0] for row in numbers] == list(range(1, migrations.NEWEST + 1))

    later = "INSERT INTO prolocutor_migrations VALUES ($1, $2)"
    await query(url, later, migrations.NEWEST + 1, False)
    async with open_for_test(lambda: PostgresqlStore(url)):
        pass
    await query(url, later, migrations.NEWEST + 2, True)
    with pytest.raises(StoreError, match="later release"):
        await PostgresqlStore(url).open()
    postgresql.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_durability_decides_whether_a_commit_waits_for_the_disk(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    await query(
        database, f"ALTER DATABASE {database.rpartition('/')[2]} SET synchronous_commit = off"
    )
    seen = []
    for durability in ("full", "relaxed"):
        store = PostgresqlStore(database, durability=durability)
        with caplog.at_level(logging.WARNING):
            await store.open()
            await store.join(30.0)
        rows = await store.lines[0].fetch("SHOW synchronous_commit", within=5.0)
        seen.append((rows[0][0], "synchronous_standby_names" in caplog.text))
        caplog.clear()
        await store.aclose()
    await query(database, f"ALTER DATABASE {database.rpartition('/')[2]} RESET ALL")

    assert seen == [("on", True), ("off", False)]


async def test_a_database_that_is_not_there_is_named_without_the_password(
    postgresql: PostgresqlServer,
) -> None:
    at = f"127.0.0.1:{postgresql.port}"
    for url, kind, what in (
        (f"postgresql://postgres:secret@{at}/nowhere", ConfigError, "createdb nowhere"),
        (f"postgresql://nobody:secret@{at}/postgres", ConfigError, "refuses the user"),
        ("postgresql://postgres:secret@127.0.0.1:1/postgres", StoreAway, "postgres@127.0.0.1:1/"),
    ):
        with pytest.raises(kind, match=what) as raised:
            await PostgresqlStore(url).open()
        assert "secret" not in str(raised.value)


async def test_all_that_a_store_does_at_once_breaks_none_of_its_connections(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_for_test(lambda: PostgresqlStore(database, durability="relaxed")) as store:
        assert isinstance(store, PostgresqlStore)
        await store.join(30.0)
        outcomes = []
        for number in range(10):
            outcomes += await asyncio.gather(
                *(store.put_record("", "kind", f"{number} {one}", b"{}") for one in range(3)),
                *(store.turn_records.note_thumb("none", one > 1) for one in range(3)),
                store.turn_records.hours(0.0, 1.0),
                store.records("", "kind"),
                store.entries("ann"),
                store.beat(),
                store.counters.count_together([], {"sockets": number}),
                store.claim_due(),
                talk(store, f"user {number}", "a"),
                return_exceptions=True,
            )
            store.wake("ann")

    assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
    assert "is back" not in caplog.text
    assert store.traffic.misuses == 0


async def test_a_wrong_use_of_a_connection_is_an_error_of_its_own_and_leaves_it_up(
    database: str,
) -> None:
    async with open_for_test(lambda: PostgresqlStore(database, durability="relaxed")) as store:
        assert isinstance(store, PostgresqlStore)
        line = store.lines[0]
        (process,) = await line.fetch("SELECT pg_backend_pid()", within=PATIENCE)
        outcomes = await asyncio.gather(
            *(line.fetch("SELECT pg_sleep(0.01)", within=PATIENCE) for _ in range(3)),
            return_exceptions=True,
        )
        with pytest.raises(StoreMisused, match="1 argument"):
            await line.fetch("SELECT $1::int", 1, 2, within=PATIENCE)
        assert await line.fetch("SELECT pg_backend_pid()", within=PATIENCE) == [process]
        assert store.traffic.misuses == 3

    assert [type(outcome) for outcome in outcomes] == [list, StoreMisused, StoreMisused]
