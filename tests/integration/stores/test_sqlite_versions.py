"""Files of earlier versions are brought up to date; each of them is kept here as a dump.

To add the dump of a new version, run `python -m tests.integration.stores.test_sqlite_versions`.
"""

import asyncio
import sqlite3
import tempfile
from pathlib import Path

import msgspec
import pytest

from prolocutor.contracts.store import NO_ASK_CLOSING, TurnOpening
from prolocutor.contracts.turn_record_store import ConversationQuery
from prolocutor.dialog import agent_state
from prolocutor.errors import StoreError
from prolocutor.stores.sqlite.connection import APPLICATION_ID, NEWEST
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.testing.sample_turns import a_closing, an_entry, an_opening, open_new_turn, talk

VERSIONS = Path(__file__).parent / "versions"
DUMPS = sorted(VERSIONS.glob("v*.sql"))


LISTED = {"v1": [("t", "re: t", 20)], "v2": [("t", "re: t", 20)]}
"""Dialogs of before are listed; later ones are once a record of a turn is kept."""


def test_there_is_a_dump_of_each_version() -> None:
    assert [dump.stem for dump in DUMPS] == [f"v{n}" for n in range(1, NEWEST + 1)]


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.stem)
async def test_a_file_of_an_earlier_version_has_all_that_it_had(dump: Path, tmp_path: Path) -> None:
    restore(dump, tmp_path / "dialogs.db")
    store = SqliteStore(tmp_path / "dialogs.db")
    await store.open()

    assert [turn.user for turn in await store.unfinished_turns()] == ["bob"]
    (open_turn,) = await store.unfinished_turns()
    resumed = await store.resume_turn(open_turn.turn_id, 4, 1)
    dialogs = [dialog async for dialog in store.export(user="ann")]
    listed = await store.turn_records.conversations(ConversationQuery(user="ann"), None, 10)
    after = await open_new_turn(store, "ann", "after", window=4)
    await store.aclose()

    assert resumed.opening.text == "cut off"
    assert [utterance.text for utterance in dialogs[0].utterances[:2]] == ["a", "re: a"]
    assert [(item.said, item.reply, item.turns) for item in listed.items] == LISTED.get(
        dump.stem, []
    )
    assert [utterance.user.attributes for utterance in dialogs[0].utterances[::2]] == [
        {"n": n} for n in range(20)
    ]
    assert dialogs[0].rating == 5
    assert after.length == 40
    assert after.feed == 41
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


async def test_messages_of_the_first_version_are_numbered_by_dialog_name(tmp_path: Path) -> None:
    restore(VERSIONS / "v1.sql", tmp_path / "dialogs.db")
    cut_off = await add_carl(tmp_path / "dialogs.db")
    store = SqliteStore(tmp_path / "dialogs.db")
    await store.open()

    rows = await store.feed("carl", 0)
    tail = await store.feed_tail("carl", "main")
    resumed = await store.resume_turn(cut_off.turn_id, 4, 0)
    await store.close_turn(a_closing(resumed))
    after = await open_new_turn(store, "carl")
    other = await open_new_turn(store, "carl", dialog_name="other")
    await store.aclose()

    assert [(row.n, row.dialog_name, row.id, row.closing) for row in rows] == [
        (1, "main", 0, None),
        (2, "main", 1, NO_ASK_CLOSING),
        (3, "other", 0, None),
        (4, "other", 1, None),
        (5, "other", 2, NO_ASK_CLOSING),
        (6, "main", 2, None),
        (7, "main", 3, NO_ASK_CLOSING),
        (8, "main", 4, None),
    ]
    assert tail == [row for row in rows if row.dialog_name == "main"]
    assert resumed.feed == 8
    assert resumed.feed_id == 4
    assert resumed.round == b"{}"
    assert after.feed == 10
    assert after.feed_id == 6
    assert other.feed == 11
    assert other.feed_id == 3


async def test_a_file_of_an_earlier_version_is_not_read_before_its_owner_opened_it(
    tmp_path: Path,
) -> None:
    restore(VERSIONS / "v1.sql", tmp_path / "dialogs.db")
    store = SqliteStore(tmp_path / "dialogs.db", read_only=True)

    with pytest.raises(StoreError, match="old version; let its owner open it once"):
        await store.open()


async def add_carl(path: Path) -> TurnOpening:
    """Add a person to a file of version 1: dialogs of two names, one with an open turn."""
    cut_off = an_opening("carl", "cut off")
    command, text = b'{"type":"command","command":"a"}', b'{"type":"text","text":"b"}'
    dialogs = [(90, "main", 0), (91, "other", 1), (92, "main", 1)]
    feed = [(90, command), (90, text), (91, command), (91, text), (91, text), (92, command),
            (92, text)]  # fmt: skip
    connection = sqlite3.connect(path)
    run = connection.execute
    run("INSERT INTO people VALUES (9, 'carl', 'human', 0)")
    run(
        "INSERT INTO versions VALUES ('human', 0, x'5b5d', ?)",
        (agent_state.new_human("human", "carl"),),
    )
    for dialog, name, active in dialogs:
        ids = f"d{dialog}", f"i{dialog}", f"b{dialog}"
        run("INSERT INTO dialogs VALUES (?, 9, ?, ?, ?, ?, 'kit', '2024', ?, 0, x'7b7d')",
            (dialog, name, *ids, active))  # fmt: skip
        run("INSERT INTO versions VALUES (?, 0, x'5b5d', ?)", (ids[2], agent_state.new_bot(ids[2])))
    for n, (dialog, message) in enumerate(feed, start=1):
        run(
            "INSERT INTO feed (person, n, dialog, message) VALUES (9, ?, ?, ?)",
            (n, dialog, message),
        )
    run("INSERT INTO open_turns VALUES (9, ?, 92, 8, 1.0, 1, NULL, NULL, ?)",
        (cut_off.turn_id, msgspec.msgpack.encode(cut_off)))  # fmt: skip
    connection.commit()
    connection.close()
    return cut_off


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
    await open_new_turn(store, "bob", "cut off", request_key="k", request_hash=b"h")
    await store.close_turn(
        a_closing(await open_new_turn(store, "dora"), messages=[], round=b'{"left":2}')
    )
    await store.schedule(an_entry("dora"))
    await store.put_record("dora", "device", "a", b"1")
    await store.aclose()


def _dump() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dialogs.db"
        asyncio.run(_make(path))
        connection = sqlite3.connect(path)
        # The index of words, which is empty here, has no rows that could be dumped.
        (words,) = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE name = 'words'"
        ).fetchone()
        connection.execute("DROP TABLE words")
        VERSIONS.mkdir(exist_ok=True)
        dumped = [*connection.iterdump(), f"{words};"]
        (VERSIONS / f"v{NEWEST}.sql").write_text("\n".join(dumped) + "\n")
        connection.close()


if __name__ == "__main__":
    _dump()
