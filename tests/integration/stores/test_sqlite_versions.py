"""Files of earlier versions are brought up to date; each of them is kept here as a dump.

To add the dump of a new version, run `python -m tests.integration.stores.test_sqlite_versions`.
"""

import asyncio
import sqlite3
import tempfile
from pathlib import Path

import pytest

from prolocutor.dialog import agent_state
from prolocutor.stores.sqlite.migrations import APPLICATION_ID, NEWEST
from prolocutor.stores.sqlite.store import SqliteStore
from prolocutor.testing.sample_turns import begin, talk

VERSIONS = Path(__file__).parent / "versions"
DUMPS = sorted(VERSIONS.glob("v*.sql"))


def test_there_is_a_dump_of_each_version() -> None:
    assert [dump.stem for dump in DUMPS] == [f"v{n}" for n in range(1, NEWEST + 1)]


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
async def test_a_file_of_an_earlier_version_has_all_that_it_had(dump: Path, tmp_path: Path) -> None:
    restore(dump, tmp_path / "dialogs.db")
    store = SqliteStore(tmp_path / "dialogs.db")
    await store.open()

    assert [one.user for one in await store.unfinished()] == ["bob"]
    (open_turn,) = await store.unfinished()
    resumed = await store.resume(open_turn.turn_id, 4, 1)
    dialogs = [dialog async for dialog in store.export(user="ann")]
    after = await begin(store, "ann", "after", window=4)
    await store.aclose()

    assert resumed.beginning.text == "cut off"
    assert [one.text for one in dialogs[0].utterances[:2]] == ["a", "re: a"]
    assert [one.user.attributes for one in dialogs[0].utterances[::2]] == [
        {"n": n} for n in range(20)
    ]
    assert dialogs[0].rating == 5
    assert (after.length, after.feed) == (40, 41)
    assert agent_state.dialog_to_state(dialogs[0])["utterances"][0]["hypotheses"] == [
        {"skill_name": "s", "annotations": {}, "text": "t", "confidence": 0}
    ]


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
async def test_an_upgraded_file_looks_like_a_new_one(dump: Path, tmp_path: Path) -> None:
    restore(dump, tmp_path / "old.db")
    schemas = []
    for name in ("old.db", "new.db"):
        store = SqliteStore(tmp_path / name)
        await store.open()
        await store.aclose()
        schemas.append(schema(tmp_path / name))

    assert schemas[0] == schemas[1]


def restore(dump: Path, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(dump.read_text(encoding="utf-8"))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {dump.stem[1:]}")
    connection.close()


def schema(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    assert version == NEWEST
    return rows


async def _make(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    for n in range(20):
        said = [{"skill_name": "s", "text": "t", "confidence": 0}]
        text = "abcdefghijklmnopqrst"[n]
        turns = await talk(store, "ann", text, human_attributes={"n": n}, hypotheses=said)
    await store.rate_dialog(turns[0].dialog_id, 5, "ann", "2024-01-01 00:00:00.000000")
    await begin(store, "bob", "cut off", request_key="k", request_hash=b"h")
    await store.aclose()


def _dump() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dialogs.db"
        asyncio.run(_make(path))
        connection = sqlite3.connect(path)
        VERSIONS.mkdir(exist_ok=True)
        (VERSIONS / f"v{NEWEST}.sql").write_text("\n".join(connection.iterdump()) + "\n")
        connection.close()


if __name__ == "__main__":
    _dump()
