"""`/health/ready`: 503 from when a turn cannot be stored until one can be again."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import aiohttp
import pytest

from prolocutor.assistant import store_health
from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.errors import StoreLost
from prolocutor.stores.sqlite import connection
from prolocutor.testing.channel_kit import Door, Gate, pipeline, running
from prolocutor.web.listener import Listener
from tests.integration.doors.fakes import get, post
from tests.postgresql_server import query


@pytest.fixture(autouse=True)
def tried_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_health, "FRESH_SECONDS", 0.0)


@asynccontextmanager
async def served(store: str) -> AsyncIterator[Door]:
    gate = Gate()
    async with asyncio.timeout(60), Assistant(pipeline(gate), store=store) as assistant:
        app = Listener(assistant, [DeepPavlov(assistant)])
        async with running(app) as url, aiohttp.ClientSession(url) as http:
            yield Door(url, http, assistant, app, gate)


async def is_ready(door: Door) -> bool:
    status, _ = await get(door, "/health/ready")
    assert status in (200, 503)
    return bool(status == 200)


async def says(door: Door, text: str = "hello", user: str = "ann") -> int:
    return (await post(door, user_id=user, payload=text))[0]


async def test_a_full_disk(small_disk: Path) -> None:
    async with served(f"sqlite:///{small_disk}/dialogs.db") as door:
        assert await says(door) == 200
        assert await is_ready(door) is True
        with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
            while filler.write(b"0" * 512):
                pass

        statuses = [await says(door, "long words " * 500, f"u{n}") for n in range(80)]
        assert statuses[-1] == 503
        assert not await is_ready(door)

        (small_disk / "filler").unlink()
        assert await is_ready(door)
        assert await says(door) == 200


@pytest.mark.parametrize("what", ["removed", "replaced", "log removed"])
async def test_a_file_that_is_removed_or_replaced(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOOK_EVERY", 0.0)
    file, aside = tmp_path / "dialogs.db", tmp_path / "aside"
    async with served(f"sqlite:///{file}") as door:
        assert await says(door) == 200
        assert await is_ready(door) is True
        moved = tmp_path / "dialogs.db-wal" if what == "log removed" else file
        os.rename(moved, aside)
        if what == "replaced":
            shutil.copyfile(aside, file)

        assert not await is_ready(door)
        assert await says(door) == 503

        os.replace(aside, moved)
        assert await is_ready(door)
        assert await says(door) == 200


async def test_a_store_that_is_taken_over(tmp_path: Path) -> None:
    """By a system without locks of files: the next owner has raised the generation."""
    file, lost = tmp_path / "dialogs.db", asyncio.Event()
    async with served(f"sqlite:///{file}") as door:
        door.assistant.store_health.on_lost = lambda _: lost.set()
        assert await says(door) == 200
        with closing(sqlite3.connect(file)) as other, other:
            other.execute("UPDATE meta SET value = value + 1 WHERE name = 'generation'")

        assert not await is_ready(door)
        assert await says(door) == 503
        assert isinstance(door.assistant.store_health.fault, StoreLost)
        assert lost.is_set()


async def test_a_database_that_refuses_to_write(database: str) -> None:
    async with served(database) as door:
        assert await says(door) == 200
        assert await is_ready(door) is True
        for refused in ("true", "false"):
            await query(database, REFUSE if refused == "true" else ALLOW)
            assert (await says(door) == 503) is (refused == "true")
            assert await is_ready(door) is (refused == "false")


REFUSE = """
DO $$ BEGIN
CREATE FUNCTION refuse() RETURNS trigger AS 'BEGIN RAISE disk_full; END' LANGUAGE plpgsql;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON records EXECUTE FUNCTION refuse();
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON utterances EXECUTE FUNCTION refuse();
END $$
"""
ALLOW = "DROP FUNCTION refuse() CASCADE"
