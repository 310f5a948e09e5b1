"""What was deleted is in no file of a SQLite store, not even where SQLite leaves old bytes."""

import random
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from prolocutor.errors import StoreError
from prolocutor.stores.sqlite import maintenance, turn_record_writer
from prolocutor.stores.sqlite.connection import prepare_writing
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.testing.sample_turns import (
    a_closing,
    keep_turn,
    open_new_turn,
    talk,
    wait_until_indexed,
)
from prolocutor.testing.store_fixtures import TODAY, YESTERDAY

PERSONS = 30
TURNS = 6

Delete = Callable[[SqliteStore, str], Awaitable[object]]

KINDS: dict[str, Delete] = {
    "person": lambda store, user: store.delete_person(user),
    "conversation": lambda store, user: store.delete_conversation(user, "main"),
    "retention": lambda store, _: store.delete_older(TODAY),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_no_byte_of_deleted_words_is_in_any_file(kind: str, tmp_path: Path) -> None:
    async with running(tmp_path) as store:
        await fill(store)
    before = {user: words_in(tmp_path, user) for user in users()}
    async with running(tmp_path) as store:
        for user in users()[::2]:
            await KINDS[kind](store, user)
        at_once = files_with(tmp_path, *users()[::2])
    async with running(tmp_path) as store:
        after_restart = files_with(tmp_path, *users()[::2])
        kept = [user for user in users()[1::2] if await store.feed(user, 0)]

    assert all(files and indexed for files, indexed in before.values())
    assert at_once == []
    assert after_restart == []
    assert sum(len(words_in(tmp_path, user)[1]) for user in users()[::2]) == 0
    assert kept == ([] if kind == "retention" else users()[1::2])
    assert condition(tmp_path) == "ok"


async def test_words_not_erased_before_a_stop_are_erased_at_the_next_start(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as store:
        await fill(store)
        last = await store.dialog_ids()
        for user in users():
            await store._write.submit(store._writer.upkeep.delete_person, user)
        found = await store.dialog_ids()
    left = files_with(tmp_path, *users())

    async with running(tmp_path) as store:
        again = await open_new_turn(store, "again", "hello")
        await store.close_turn(a_closing(again))

    assert len(last) == PERSONS
    assert found == []
    assert left == ["dialogs.db"]
    assert files_with(tmp_path, *users()) == []
    assert again.length == 0


async def test_a_long_dialog_is_erased_in_pieces_between_which_others_speak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MAX_ROWS", 3)
    monkeypatch.setattr(turn_record_writer, "MAX_MERGED_PAGES", 1)
    monkeypatch.setattr(maintenance, "PIECE_BYTES", 4096)
    async with running(tmp_path) as store:
        await fill(store)
        writer = store._writer
        await store._write.submit(writer.upkeep.delete_person, users()[0])
        spoken = 0
        while await store._write.submit(writer.erasure.erase):
            await talk(store, "other", "between")
            spoken += 1

    assert spoken > TURNS
    assert files_with(tmp_path, users()[0]) == []
    assert condition(tmp_path) == "ok"


async def test_a_reader_that_holds_up_the_erasure_does_not_hold_up_the_deletion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prolocutor.stores.sqlite.writer.PATIENCE_MS", 1)
    async with running(tmp_path) as store:
        await fill(store)
        reader = sqlite3.connect(store.path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM meta").fetchall()

        deleted = await store.delete_person(users()[0])
        held = files_with(tmp_path, users()[0])
        reader.close()
        await store.turn_records.tend(now=0.0, keep=1.0, most=1000)

        assert deleted is True
        assert bool(held) is True
        assert files_with(tmp_path, users()[0]) == []


async def test_deletions_that_come_together_are_erased_together(tmp_path: Path) -> None:
    async with running(tmp_path) as store:
        await fill(store)
        commits = store.commits
        await store.delete_person(users()[0])
        alone = store.commits - commits
        for user in users()[1:]:
            await store._write.submit(store._writer.upkeep.delete_person, user)
        commits = store.commits
        await store.delete_person("nobody")
        together = store.commits - commits

    assert together < 5 * PERSONS + alone
    assert files_with(tmp_path, *users()) == []


async def test_a_file_with_moving_pages_is_left_as_it_is(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "dialogs.db")
    connection.execute("PRAGMA auto_vacuum = FULL")
    connection.execute("VACUUM")
    connection.close()
    async with running(tmp_path) as store:
        await fill(store)
        assert await store.delete_person(users()[0])

    assert condition(tmp_path) == "ok"
    assert not words_in(tmp_path, users()[0])[1]


def test_bytes_left_behind_by_moved_rows_are_overwritten(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "dialogs.db", isolation_level=None)
    prepare_writing(connection, "full")
    connection.execute("CREATE TABLE rows (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
    keys = [f"{number:04}" for number in range(4000)]
    random.Random(1).shuffle(keys)
    for number, key in enumerate(keys):
        row = key, word_of(f"person{key}") * (number % 9)
        connection.execute("INSERT INTO rows VALUES (?, ?)", row)
    connection.execute("DELETE FROM rows WHERE key % 8")
    kept = connection.execute("SELECT * FROM rows").fetchall()
    gaps = maintenance.PageGaps(tmp_path / "dialogs.db", connection)
    gaps.begin()

    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    deleted = [f"person{key}" for key in keys if int(key) % 8]
    left = files_with(tmp_path, *deleted)
    more = gaps.overwrite()
    overwritten = files_with(tmp_path, *deleted)
    connection.execute("UPDATE rows SET key = key || 'a'")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    written_again = files_with(tmp_path, *deleted)
    found = connection.execute("SELECT * FROM rows").fetchall()
    connection.close()
    gaps.close()

    assert left == ["dialogs.db"]
    assert more is False
    assert overwritten == []
    assert written_again == []
    assert found == [(f"{key}a", value) for key, value in kept]
    assert condition(tmp_path) == "ok"


class running:  # noqa: N801
    """A store in a folder, open."""

    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(folder / "dialogs.db", durability="relaxed")

    async def __aenter__(self) -> SqliteStore:
        await self.store.open()
        return self.store

    async def __aexit__(self, *error: object) -> None:
        await self.store.aclose()


def users() -> list[str]:
    return [f"person{number}" for number in range(PERSONS)]


def word_of(user: str) -> str:
    """Return a word that this person alone says."""
    return f"zither{user.removeprefix('person'):>04}"


async def fill(store: SqliteStore) -> None:
    """Have everyone say their word, by turns: rows of all stand on the same pages."""
    others = random.Random(1)
    for _ in range(TURNS):
        for user in users():
            said = " ".join([word_of(user), *(f"{others.randrange(9999)}" for _ in range(20))])
            hypotheses = [{"skill_name": "s", "text": said, "confidence": 1}]
            await talk(store, user, said, hypotheses=hypotheses, bot_attributes={"b": said})
        await wait_until_indexed(store)
    for user in users():
        await keep_turn(store, user, word_of(user), day=YESTERDAY[:10])
    await wait_until_indexed(store)


def files_with(folder: Path, *users: str) -> list[str]:
    """Return the files that have the word of any of the persons, in whatever place."""
    words = [word_of(user) for user in users]
    texts = {file.name: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
    return [name for name, text in texts.items() if any(word.encode() in text for word in words)]


def words_in(folder: Path, user: str) -> tuple[list[str], list[str]]:
    """Return the files that have the word of a person, and the words of the index that begin so."""
    word = word_of(user)
    connection = sqlite3.connect(f"file:{folder}/dialogs.db?mode=ro", uri=True)
    try:
        connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)")
        found = connection.execute("SELECT term FROM temp.terms WHERE term GLOB ?", (f"{word}*",))
        return files_with(folder, user), [term for (term,) in found]
    except sqlite3.Error as error:
        raise StoreError(str(error)) from error
    finally:
        connection.close()


def condition(folder: Path) -> str:
    connection = sqlite3.connect(folder / "dialogs.db")
    (found,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return str(found)
