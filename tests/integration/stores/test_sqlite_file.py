"""The file: who owns it, whose it is, what is left of what was deleted, who else may read it."""

# ruff: noqa: ASYNC220, ASYNC240 (the test is alone on its loop)

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from prolocutor import Assistant, Pipeline, Service
from prolocutor.dialog.agent_state import encode_dialog
from prolocutor.errors import (
    ConfigError,
    PersonUnreadable,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
)
from prolocutor.plugins.transfer import store_copy
from prolocutor.stores.sqlite.ownership import LockHolder, owner_of_file
from prolocutor.stores.sqlite.sqlite_store import MemoryStore, Sqlite, SqliteStore
from prolocutor.stores.store_catalog import open_store, open_transfer, read_store_url
from prolocutor.testing.fake_service import FakeService
from prolocutor.testing.sample_turns import a_closing, an_opening, open_new_turn, talk

OWN = """
import asyncio, sys
from prolocutor.stores.sqlite.sqlite_store import SqliteStore

async def main():
    store = SqliteStore(sys.argv[1])
    await store.open()
    store.note_owner("http://127.0.0.1:4242")
    print("open", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dialogs.db"


async def test_a_second_owner_is_told_who_the_first_is(path: Path) -> None:
    other = start_owner(path)

    with pytest.raises(StoreLocked, match=f"process {other.pid} owns"):
        await SqliteStore(path).open()

    assert owner_of_file(path) == LockHolder(other.pid, "http://127.0.0.1:4242")
    end(other)


@pytest.mark.parametrize("other_name", ["symbolic", "hard", "lock removed"])
async def test_a_file_has_one_owner_whatever_its_name(path: Path, other_name: str) -> None:
    other = start_owner(path)
    name = path.with_name("other.db")
    if other_name == "symbolic":
        name.symlink_to(path)
    elif other_name == "hard":
        name.hardlink_to(path)
    else:
        name = path
        path.with_name("dialogs.db.lock").unlink()

    assert owner_of_file(name) is not None
    with pytest.raises(StoreLocked, match="owns this store"):
        await SqliteStore(name).open()

    end(other)
    assert owner_of_file(name) is None
    store = SqliteStore(name)
    await store.open()
    await store.aclose()


async def test_this_process_has_a_file_once_whatever_its_name(path: Path) -> None:
    store, name = SqliteStore(path), path.with_name("other.db")
    await store.open()
    name.hardlink_to(path)

    with pytest.raises(StoreLocked, match="under another name"):
        await SqliteStore(name).open()

    await talk(store, "ann", "still here")
    await store.aclose()


async def test_a_file_on_a_full_disk_is_named_at_the_start(small_disk: Path) -> None:
    (small_disk / "rest").write_bytes(b"0" * 900_000)
    with suppress(OSError), (small_disk / "last").open("wb", buffering=0) as last:
        while last.write(b"0" * 512):
            pass

    with pytest.raises(StoreFull, match=r"dialogs\.db.*disk is full"):
        await SqliteStore(small_disk / "dialogs.db").open()


async def test_an_owner_that_was_killed_owns_no_more(path: Path) -> None:
    other = start_owner(path)
    end(other)

    assert owner_of_file(path) is None
    store = SqliteStore(path)
    await store.open()
    assert (owner_of_file(path) or LockHolder()).pid == os.getpid()
    await store.aclose()


async def test_a_closed_store_has_no_owner(path: Path) -> None:
    store = SqliteStore(path)
    assert owner_of_file(path) is None
    await store.open()
    await store.aclose()

    assert owner_of_file(path) is None
    await store.open()
    await talk(store, "ann", "again")
    await store.aclose()


async def test_a_program_that_was_started_does_not_keep_the_lock(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, close_fds=False)  # fmt: skip

    await store.aclose()

    assert owner_of_file(path) is None
    child.communicate()


async def test_a_file_can_be_read_beside_its_owner(path: Path) -> None:
    owner, reader = SqliteStore(path), SqliteStore(path, read_only=True)
    await owner.open()
    await talk(owner, "ann", "a")
    await reader.open()
    (turn,) = await talk(owner, "ann", "b")

    dialog = await reader.dialog(turn.dialog_id)

    assert dialog is not None
    assert [utterance.text for utterance in dialog.utterances] == ["a", "re: a", "b", "re: b"]
    assert len(await reader.feed("ann", 0)) == 4
    with pytest.raises(StoreError, match="read-only"):
        await reader.open_turn(an_opening())
    await reader.aclose()
    assert owner_of_file(path) is not None
    await owner.aclose()


async def test_one_who_cannot_be_read_fails_alone_until_they_are_repaired(path: Path) -> None:
    def answer(request: object) -> list[dict[str, object]]:
        return [{"text": "a", "confidence": 1.0}]

    def it() -> Assistant:
        return Assistant(Pipeline(skills=[Service("a", answer)]), store=f"sqlite:///{path}")

    async with it() as assistant:
        await assistant.reply("hello", "ann")
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM versions")
    async with it() as assistant:
        with pytest.raises(PersonUnreadable):
            await assistant.reply("hello", "ann")
        assert await assistant.store_health.check() is None
        assert [*assistant.store_health.unreadable] == ["ann"]
    transfer = open_transfer(f"sqlite:///{path}")
    await transfer.open()
    found = await store_copy.check(transfer, lambda done, total: None, repair=True)
    await transfer.aclose()
    async with it() as assistant:
        assert (await assistant.reply("hello", "ann")).text == "a"

    assert found.repaired == ["ann"]
    assert found.faults == []


async def test_there_must_be_a_file_to_read(path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        await SqliteStore(path, read_only=True).open()

    assert not path.exists()


async def test_a_new_file_is_for_its_owner_alone(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()

    modes = {file.name: oct(file.stat().st_mode & 0o777) for file in path.parent.iterdir()}
    await store.aclose()

    assert set(modes.values()) == {"0o600"}


async def test_a_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a" / "b" / "dialogs.db")
    await store.open()
    await talk(store, "ann", "hi")
    await store.aclose()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Dear diary, " * 1000, "not a database"),
        (b"SQLite format 3\0" + b"\xff" * 9000, "put back"),
    ],
)
async def test_a_file_that_is_no_database_is_left_as_it_is(
    path: Path, content: bytes, said: str
) -> None:
    path.write_bytes(content)

    with pytest.raises(StoreCorrupt, match=said):
        await SqliteStore(path).open()

    assert path.read_bytes() == content
    assert owner_of_file(path) is None


async def test_a_database_of_another_program_is_left_as_it_is(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE photos (name TEXT)")
    other.close()
    content = path.read_bytes()

    with pytest.raises(StoreCorrupt, match="no store of ours"):
        await SqliteStore(path).open()

    assert path.read_bytes() == content


async def test_a_file_of_a_later_release_is_left_as_it_is(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.aclose()
    with sqlite3.connect(path) as later:
        later.execute("PRAGMA user_version = 999")
    later.close()
    content = path.read_bytes()

    with pytest.raises(StoreError, match="later release"):
        await SqliteStore(path).open()

    assert path.read_bytes() == content


async def test_a_damaged_file_is_left_as_it_is(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await talk(store, "ann", *(str(n) for n in range(50)))
    await store.aclose()
    content = path.read_bytes()[:4096] + b"\xff" * 40_000
    path.write_bytes(content)

    with pytest.raises(StoreCorrupt, match="put back a copy"):
        await SqliteStore(path).open()

    assert path.read_bytes() == content


async def test_a_deleted_person_leaves_no_bytes_in_any_file(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await talk(store, "bob", "something else")
    (opened,) = await talk(store, "ann-secret", "secret")
    for n in range(30):
        opened = await open_new_turn(
            store, "ann-secret", f"my secret {n} " * 300, request_key=f"secret {n}"
        )
        said = [{"skill_name": "s", "text": "secret " * 500, "confidence": 1}]
        known = {"secret": "secret" * n}
        await store.close_turn(a_closing(opened, "secret", hypotheses=said, human_attributes=known))
    await open_new_turn(store, "ann-secret", "secret")
    await store.rate_dialog(opened.dialog_id, "secret", "ann-secret", "2024-01-01")
    ids = [opened.dialog_id, opened.id, opened.opening.utt_id]

    await store.delete_person("ann-secret")

    content = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"something else" in content
    assert [word for word in ("secret", *ids) if word.encode() in content] == []
    await store.aclose()


async def test_an_export_that_waits_does_not_hold_up_checkpoints(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await talk(store, "ann", "a", "b")
    await talk(store, "bob", "a")
    export = store.export()
    await anext(export)
    await talk(store, "ann", "c")

    other = sqlite3.connect(path)
    busy, pages_left, _ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    other.close()

    assert busy == 0
    assert pages_left == 0
    assert len([dialog async for dialog in export]) == 1
    await store.aclose()


async def test_commits_are_there_before_the_reply(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    seen = []
    for n in range(5):
        opened = await open_new_turn(store, "ann", str(n))
        seen.append(store.commits)
        await store.close_turn(a_closing(opened))
        seen.append(store.commits)

    assert seen == list(range(1, 11))
    assert await store.setting("synchronous") == 2
    await store.aclose()


async def test_a_caller_that_goes_away_disturbs_nobody(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    waiting = [asyncio.ensure_future(open_new_turn(store, f"u{n}")) for n in range(3)]
    await asyncio.sleep(0)

    waiting[0].cancel()
    await asyncio.wait(waiting)

    assert [one.cancelled() for one in waiting] == [True, False, False]
    assert sorted(turn.user for turn in await store.unfinished_turns()) == ["u0", "u1", "u2"]
    await store.aclose()


async def test_a_full_disk_is_told_and_confirmed_turns_are_kept(small_disk: Path) -> None:
    store = SqliteStore(small_disk / "dialogs.db")
    await store.open()
    texts = [f"{n} " * 500 for n in range(1000)]
    with pytest.raises(StoreFull, match="the disk is full"):
        await talk(store, "ann", *texts)
    confirmed = await store.feed_end("ann") // 2
    await store.aclose()

    reader = SqliteStore(small_disk / "dialogs.db", read_only=True)
    await reader.open()
    (dialog,) = [one async for one in reader.export()]
    await reader.aclose()

    assert [utterance.text for utterance in dialog.utterances[::2]] == texts[:confirmed]
    assert confirmed > 10


async def test_a_damaged_file_is_told_apart_wherever_it_is_damaged(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    for n in range(20):
        await talk(store, f"u{n}", "some words", "and more of them")
    await store.aclose()
    sound, chance, outcomes = path.read_bytes(), random.Random(7), set[type]()
    for _ in range(60):
        damaged = bytearray(sound)
        for _ in range(chance.choice([1, 8, 64])):
            damaged[chance.randrange(4096, len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        outcomes.add(await exported(path))

    assert StoreCorrupt in outcomes
    assert outcomes <= {StoreCorrupt, StoreError, type(None)}


async def exported(path: Path) -> type:
    """Read the whole file as `dialogs export` does; return the kind of error that it raises."""
    reader = SqliteStore(path, read_only=True)
    try:
        await reader.open()
        async for dialog in reader.export():
            encode_dialog(dialog)
    except StoreError as error:
        return type(error)
    finally:
        await reader.aclose()
    return type(None)


def test_urls_name_stores(tmp_path: Path) -> None:
    relative, absolute = open_store("sqlite:///a/b.db"), open_store(f"sqlite:///{tmp_path}/c.db")

    assert isinstance(relative, SqliteStore)
    assert isinstance(absolute, SqliteStore)
    assert relative.path == Path("a/b.db")
    assert absolute.path == tmp_path / "c.db"
    assert isinstance(open_store("memory:"), MemoryStore)
    assert read_store_url("sqlite:///a/b.db") == Sqlite(path="a/b.db")


async def test_the_options_of_a_store_are_a_store_to_an_assistant(tmp_path: Path) -> None:
    options = Sqlite(path=f"{tmp_path}/dialogs.db")
    async with Assistant(
        Pipeline(skills=[Service("a", FakeService())]), store=options
    ) as assistant:
        assert isinstance(assistant.store, SqliteStore)
    assert Path(options.path).is_file()


def test_a_kind_of_store_without_copies_says_so() -> None:
    with pytest.raises(ConfigError, match="memory:: stores of this kind"):
        open_transfer("memory:")


@pytest.mark.parametrize("url", ["dialogs.db", "oracle:x", "sqlite:///"])
def test_a_url_that_names_no_store_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="store"):
        open_store(url)


def start_owner(path: Path) -> subprocess.Popen[str]:
    owner = subprocess.Popen([sys.executable, "-c", OWN, str(path)], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    assert owner.stdout is not None
    assert owner.stdout.readline() == "open\n"
    return owner


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()
