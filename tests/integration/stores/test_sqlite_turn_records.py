"""Records of turns in a SQLite file that is damaged, or copied, or was deleted from."""

import sqlite3
from pathlib import Path

from prolocutor.contracts.turn_record_store import ConversationQuery
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.testing.sample_turns import (
    find_record_store,
    found,
    keep_turn,
    open_new_turn,
    say,
    wait_until_indexed,
)


async def test_a_damaged_record_is_none_and_the_rest_is_shown(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "dialogs.db")
    await store.open()
    damaged = [await keep_turn(store, "ann", f"word{n}") for n in range(2)]
    whole = await keep_turn(store, "ann", "healthy")
    await store.aclose()
    connection = sqlite3.connect(tmp_path / "dialogs.db")
    connection.execute("UPDATE turns SET record = x'7a00' WHERE turn <= 4")
    connection.execute("UPDATE utterances SET body = '{' WHERE utterance = 1")
    connection.commit()
    connection.close()

    await store.open()
    (listed,) = await found(store)
    (hit,) = await found(store, ConversationQuery(words="healthy"))
    turns = await find_record_store(store).turns(whole.dialog_id, None, 10)
    kept = [await find_record_store(store).turn(one.utt_id) for one in (*damaged, whole)]
    await store.rate_utterance(damaged[0].utt_id, -1, "ann", "2024-03-02 12:00:00.000000")
    deleted = await store.delete_person("ann")
    left = await found(store)
    await store.aclose()

    assert listed.turns == 3
    assert hit.hit == whole.utt_id
    assert [turn.said for turn in turns] == ["", "word1", "healthy"]
    assert [turn.turn_id for turn in turns] == [None, None, whole.turn_id]
    assert [one is not None and one.record is not None for one in kept] == [False, False, True]
    assert deleted is True
    assert left == []


async def test_a_new_dialog_is_listed_though_the_record_of_its_turn_was_lost(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path / "dialogs.db")
    await store.open()
    await keep_turn(store, "ann", "kept")
    await say(store, "bob", "lost")
    await open_new_turn(store, "cid", "cut off")
    await store.aclose()

    await store.open()
    listed = [(one.user, one.said, one.turns) for one in await found(store)]
    await keep_turn(store, "bob", "again")
    later = [(one.user, one.said, one.turns) for one in await found(store)]
    await store.aclose()

    assert sorted(listed) == [("ann", "kept", 1), ("bob", "lost", 1)]
    assert sorted(later) == [("ann", "kept", 1), ("bob", "again", 2)]


async def test_words_of_deleted_persons_are_gone_from_the_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "dialogs.db")
    await store.open()
    for place in range(50):
        await say(store, "ann" if place % 2 else "bob", f"xylophone{place} zither")
    await wait_until_indexed(store)
    assert b"xylophone" in (await contents(store))
    await store.delete_person("ann")
    await store.delete_person("bob")
    await wait_until_indexed(store)  # which merges the index as well
    left = await contents(store)
    await store.aclose()

    assert b"xylophone" not in left
    assert b"zither" not in left


async def contents(store: SqliteStore) -> bytes:
    """Return what the index of words has on its pages."""
    connection = sqlite3.connect(f"file:{store.path}?mode=ro", uri=True)
    blocks = connection.execute("SELECT block FROM words_data").fetchall()
    connection.close()
    return b"".join(block for (block,) in blocks)
