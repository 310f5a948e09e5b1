"""Persons move from one database to another: nothing is lost, and the old one refuses them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from click.testing import CliRunner

from prolocutor.contracts.store import AgendaEntry, OpenedTurn
from prolocutor.errors import ConfigError, PersonBusy, PersonMoved, StoreError
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.plugins.transfer import person_moves, store_copy
from prolocutor.plugins.transfer.person_command import person as person_command
from prolocutor.plugins.transfer.person_moves import MovingStore
from prolocutor.plugins.upkeep.keys_command import keys as keys_command
from prolocutor.stores.store_catalog import open_transfer
from prolocutor.testing.sample_turns import (
    a_closing,
    an_entry,
    find_record_store,
    keep_turn,
    open_new_turn,
    talk,
)
from prolocutor.testing.store_fixtures import TODAY
from prolocutor.web.key_ring import KeyRing
from tests.postgresql_server import PostgresqlServer, emptied, query

PATIENCE = 60.0


@pytest_asyncio.fixture
async def other_database(postgresql: PostgresqlServer, worker_database: str) -> AsyncIterator[str]:
    """Return the URL of a second database without rows."""
    name = worker_database.rpartition("/")[2] + "_other"
    if not postgresql.execute(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
        postgresql.execute(f"CREATE DATABASE {name}")
    await emptied(postgresql.url(name))
    yield postgresql.url(name)


class Cells:
    """Two databases with a replica each, and what moves persons from the first to the second."""

    def __init__(self, first: str, second: str) -> None:
        self.urls = (first, second)
        self.first = PostgresqlStore(first, durability="relaxed")
        self.second = PostgresqlStore(second, durability="relaxed")
        self._transfers = [open_transfer(url) for url in self.urls]

    async def __aenter__(self) -> "Cells":
        for store in (self.first, self.second):
            await store.open()
            await store.join(60.0)
        for transfer in self._transfers:
            await transfer.open(alone=False)
        return self

    async def __aexit__(self, *error: object) -> None:
        for transfer in (*self._transfers, self.first, self.second):
            await transfer.aclose()

    @property
    def source(self) -> MovingStore:
        return self._moving(0)

    @property
    def target(self) -> MovingStore:
        return self._moving(1)

    def _moving(self, place: int) -> MovingStore:
        one = self._transfers[place]
        assert isinstance(one, MovingStore)
        return one

    async def move(self, *users: str) -> list[str]:
        return [user async for user in person_moves.move(self.source, self.target, users)]


@pytest_asyncio.fixture
async def cells(database: str, other_database: str) -> AsyncIterator[Cells]:
    async with Cells(database, other_database) as made:
        yield made


async def test_who_moves_is_all_there_and_talks_on(cells: Cells) -> None:
    await talk(cells.second, "somebody else", "a number of the second database")
    await keep_turn(cells.first, "ann", "hello")
    await cells.first.schedule(an_entry("ann", "tea", 1e12))
    await cells.first.put_record("ann", "device", "d", b"1")
    before = await cells.source.taken_out("ann")

    assert await cells.move("ann", "ann") == ["ann", "ann"]

    assert await store_copy.holds(cells.target, before)
    assert "ann" not in await cells.source.users()
    (said,) = await talk(cells.second, "ann", "and on")
    assert said.length == 2
    assert said.feed == before.feed_end + 1
    hours = [await find_record_store(one).hours(0, 1e12) for one in (cells.first, cells.second)]
    assert [sum(hour.turns for hour in each) for each in hours] == [0, 1]


async def test_a_move_waits_for_the_open_turn_and_a_turn_for_the_move(cells: Cells) -> None:
    opened = await open_new_turn(cells.first, "ann", "before")
    moving = asyncio.ensure_future(cells.move("ann"))
    while not await query(cells.urls[0], "SELECT FROM waiting"):  # noqa: ASYNC110
        await asyncio.sleep(0)
    with pytest.raises(PersonBusy):
        await open_new_turn(cells.first, "ann", "meanwhile")
    await cells.first.close_turn(a_closing(opened, "reply"))

    assert await moving == ["ann"]
    with pytest.raises(PersonMoved):
        await open_new_turn(cells.first, "ann", "meanwhile")
    (then,) = await talk(cells.second, "ann", "meanwhile")
    assert then.length == 2


async def test_who_is_fenced_changes_nothing_and_goes_on_if_the_move_ends(cells: Cells) -> None:
    (said,) = await talk(cells.first, "ann", "hello")
    await cells.source.fence("ann")
    refused = (
        lambda: cells.first.put_record("ann", "device", "d", b"1"),
        lambda: cells.first.schedule(an_entry("ann", "tea", 1e12)),
        lambda: cells.first.rate_utterance(said.opening.bot_utt_id, True, "ann", TODAY),
    )
    for change in refused:
        with pytest.raises(PersonMoved):
            await change()
    with pytest.raises(PersonBusy):
        await open_new_turn(cells.first, "ann", "wait")
    await cells.first.put_record("bob", "device", "d", b"1")
    await cells.source.unfence("ann")

    for change in refused:
        await change()


async def test_replicas_hear_at_once_who_is_gone(cells: Cells) -> None:
    woken: asyncio.Queue[str] = asyncio.Queue()
    cells.first.on_wake(woken.put_nowait)
    await talk(cells.first, "ann", "hello")
    await cells.move("ann")

    async with asyncio.timeout(PATIENCE):
        assert await woken.get() == "ann"


async def test_the_old_database_refuses_who_is_gone_until_they_are_back(cells: Cells) -> None:
    await talk(cells.first, "ann", "hello")
    await cells.move("ann")
    with pytest.raises(PersonMoved):
        await cells.first.feed("ann", 0)
    with pytest.raises(PersonMoved):
        await cells.first.put_record("ann", "device", "d", b"1")
    with pytest.raises(PersonMoved):
        await cells.first.hold("ann", "deletion")
    assert len(await cells.first.replicas()) == 1
    assert [user async for user in person_moves.move(cells.target, cells.source, ["ann"])]

    (back,) = await talk(cells.first, "ann", "back")
    assert isinstance(back, OpenedTurn)
    assert back.length == 2


async def test_a_move_that_was_cut_off_goes_on(cells: Cells) -> None:
    await talk(cells.first, "ann", "hello")
    await cells.source.fence("ann")
    await cells.target.put_person(await cells.source.taken_out("ann"))

    assert await cells.move("ann") == ["ann"]
    assert "ann" in await cells.target.users()


async def test_another_person_of_that_name_is_not_overwritten(cells: Cells) -> None:
    await talk(cells.first, "ann", "hello")
    await talk(cells.second, "ann", "somebody else")

    with pytest.raises(StoreError, match="another 'ann'"):
        await cells.move("ann")
    (on,) = await talk(cells.first, "ann", "goes on")
    assert on.length == 2


async def test_a_timer_rings_in_one_database(cells: Cells) -> None:
    await talk(cells.first, "ann", "wake me")
    await cells.first.schedule(an_entry("ann", "tea", 1.0))
    (claimed,) = await cells.first.claim_due()
    await cells.move("ann")
    rung: list[AgendaEntry] = await cells.second.claim_due()

    assert await cells.first.claim_due() == []
    assert [one.key for one in rung] == [claimed.key]


def test_the_commands_export_import_and_move(
    database: str, other_database: str, tmp_path: Path
) -> None:
    async def fill() -> None:
        store = PostgresqlStore(database, durability="relaxed")
        await store.open()
        for user in ("ann", "almond:bob", "cem"):
            await talk(store, user, "hello")
        await store.put_record("", "keys", "k", b"1")
        await store.aclose()

    asyncio.run(fill())
    bucket, runner = person_moves.person_bucket("bob"), CliRunner()
    written = runner.invoke(person_command, ["export", database, "ann", ""])
    file = tmp_path / "ann.jsonl"
    file.write_bytes(written.stdout_bytes)
    both = [other_database, str(file)]
    read = [runner.invoke(person_command, ["import", *both]).stdout for _ in range(2)]
    words = ["move", database, other_database, "--buckets", str(bucket)]
    moved = runner.invoke(person_command, words)
    left = runner.invoke(person_command, ["export", database, "--buckets", "0-4095"])

    assert read == ["ann\n\n", ""]
    assert moved.stdout == "almond:bob\n"
    assert left.stdout.count("\n") == 2


def test_a_person_is_in_the_bucket_that_haproxy_counts() -> None:
    assert [person_moves.person_bucket(name) for name in ("ann", "almond:ann")] == [627, 627]


async def test_keys_are_copied_to_other_cells_and_revoked_there(
    cells: Cells, tmp_path: Path
) -> None:
    first, second = KeyRing(cells.first), KeyRing(cells.second)
    _, kept = await first.create("kept", ("read",))
    _, gone = await second.create("gone", ("read",))
    no_keys = await asyncio.to_thread(keys_said, str(tmp_path / "empty.db"), cells.urls[1])
    itself = await asyncio.to_thread(keys_said, cells.urls[1], cells.urls[1])
    copied = await asyncio.to_thread(keys_said, *cells.urls)
    again = await asyncio.to_thread(keys_said, *cells.urls)

    assert "keys are copied between stores that replicas share" in no_keys
    assert "FROM is among the databases" in itself
    assert copied == f"1\tadded\t{kept.id}\tkept\n1\trevoked\t{gone.id}\tgone\n"
    assert again == ""
    assert await second.list() == [kept]


def keys_said(*words: str) -> str:
    ran = CliRunner().invoke(keys_command, ["copy", *words])
    return str(ran.exception) if isinstance(ran.exception, ConfigError) else ran.output
