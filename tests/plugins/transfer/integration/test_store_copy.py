"""A copy of a store holds the same, is resumed where it stopped, and finds what differs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from prolocutor.clocks import DAY
from prolocutor.contracts.store import Amount, Store
from prolocutor.contracts.turn_record_store import ConversationQuery
from prolocutor.dialog import agent_state
from prolocutor.errors import StoreLocked
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.plugins.transfer import store_copy
from prolocutor.plugins.transfer.store_command import store as store_command
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.stores.store_catalog import open_store, open_transfer
from prolocutor.testing.sample_turns import (
    a_closing,
    a_delivery,
    an_entry,
    find_record_store,
    found,
    keep_turn,
    open_new_turn,
    talk,
)
from prolocutor.testing.store_fixtures import TODAY, open_for_test
from tests.postgresql_server import query

USERS = ["ann", "bob", "zo\x00e"]


async def test_everything_goes_from_sqlite_to_postgresql_and_back(
    tmp_path: Path, database: str
) -> None:
    first, last = f"sqlite:///{tmp_path}/first.db", f"sqlite:///{tmp_path}/last.db"
    async with open_for_test(lambda: open_store(first)) as store:
        await fill(store)
        before = await contents(store)
    for source, target in ((first, database), (database, last)):
        outcome = await copied(source, target)
        assert outcome.written == len(USERS) + 1
        assert outcome.kept == 0
        assert outcome.others == 0
        again = await copied(source, target)
        assert again.written == 0
        assert again.kept == len(USERS) + 1
    found = []
    for url in (database, last):
        async with open_for_test(lambda url=url: open_store(url, durability="relaxed")) as store:
            found.append(await contents(store))
            (left,) = await store.unfinished_turns()
            resumed = await store.resume_turn(left.turn_id, 4, 0)
            await store.close_turn(a_closing(resumed, "at last"))
            (new,) = await talk(store, "new", "a")
            assert new.length == 0
            assert len(await store.dialog_ids()) == 8

    assert found == [before, before]


async def test_a_copy_writes_again_what_is_not_the_same(tmp_path: Path) -> None:
    first, last = f"sqlite:///{tmp_path}/first.db", f"sqlite:///{tmp_path}/last.db"
    async with open_for_test(lambda: open_store(first)) as store:
        await fill(store)
    await copied(first, last)
    async with open_for_test(lambda: open_store(last)) as store:
        await talk(store, "bob", "one more")
        await talk(store, "other", "a")
    source, target = open_transfer(first), open_transfer(last)
    for transfer in (source, target):
        await transfer.open()
    different = await store_copy.differences(source, target, lambda done, total: None)
    for transfer in (source, target):
        await transfer.aclose()
    outcome = await copied(first, last)

    assert different == ["bob"]
    assert outcome.written == 1
    assert outcome.kept == 3
    assert outcome.others == 1


async def test_a_store_in_use_is_not_copied(tmp_path: Path, database: str) -> None:
    file = SqliteStore(tmp_path / "a.db")
    shared = PostgresqlStore(database, durability="relaxed")
    await file.open()
    await shared.open()
    await shared.join(60.0)
    for url in (f"sqlite:///{tmp_path}/a.db", database):
        with pytest.raises(StoreLocked):
            await open_transfer(url).open()
    await file.aclose()
    await shared.aclose()


async def test_a_check_finds_what_is_missing(tmp_path: Path, database: str) -> None:
    async with open_for_test(lambda: open_store(database, durability="relaxed")) as store:
        await fill(store)
        for user in ("ann", "bob"):
            await talk(store, user, "more")
    await query(database, "DELETE FROM utterances WHERE position = 3")
    await query(database, "DELETE FROM versions WHERE owner = 0 AND number = 1")
    transfer = open_transfer(database)
    await transfer.open(alone=False)
    found = await store_copy.check(transfer, lambda done, total: None)
    await transfer.aclose()

    assert found.users == len(USERS) + 1
    assert any("the utterances have gaps" in fault for fault in found.faults)
    assert any("versions are missing" in fault for fault in found.faults)


def test_the_commands_say_what_they_did(tmp_path: Path) -> None:
    first, last = f"sqlite:///{tmp_path}/first.db", str(tmp_path / "last.db")
    runner = CliRunner()

    made = runner.invoke(store_command, ["migrate", first])
    done = runner.invoke(store_command, ["copy", first, last])
    checked = runner.invoke(store_command, ["check", last], standalone_mode=False)

    assert made.exit_code == 0
    assert made.stdout == "version 7\n"
    assert "are compared and the same" in done.stdout
    assert "All is well." in checked.stdout


async def test_records_and_figures_go_along_and_are_counted_once(
    tmp_path: Path, database: str
) -> None:
    first, last = f"sqlite:///{tmp_path}/first.db", f"sqlite:///{tmp_path}/last.db"
    async with open_for_test(lambda: open_store(first)) as store:
        for number in range(4):
            kept = await keep_turn(store, f"user {number % 3}", "hello", at=number * 9000.0)
            await store.rate_utterance(kept.utt_id, number == 1, kept.user, TODAY)
        await find_record_store(store).tend(
            now=DAY, keep=DAY, most=2
        )  # two records go, figures stay
        before = await figures(store)
    shown = [before]
    for source, target in ((first, database), (database, last)):
        await copied(source, target)
        await copied(source, target)
        async with open_for_test(lambda url=target: open_store(url)) as store:
            shown.append(await figures(store))
    async with open_for_test(lambda: open_store(last)) as store:
        assert await store.delete_person("user 2")
        hours = await find_record_store(store).hours(0, DAY)

    assert [sum(hour.turns for hour in one[0]) for one in shown] == [4, 4, 4]
    assert shown == [before, before, before]
    assert sum(hour.turns for hour in hours) == 3


async def test_a_person_who_is_copied_again_counts_once(tmp_path: Path, database: str) -> None:
    first = f"sqlite:///{tmp_path}/first.db"
    for text in ("hello", "again"):
        async with open_for_test(lambda: open_store(first)) as store:
            await keep_turn(store, "ann", text)
            before = await figures(store)
        outcome = await copied(first, database)
        assert outcome.written == 1
    async with open_for_test(lambda: open_store(database)) as store:
        assert await figures(store) == before


async def test_a_database_is_brought_up_to_date_while_replicas_use_it(database: str) -> None:
    async with open_for_test(lambda: open_store(database, durability="relaxed")) as store:
        assert isinstance(store, PostgresqlStore)
        await store.join(30.0)
        made = await asyncio.to_thread(CliRunner().invoke, store_command, ["migrate", database])
        with pytest.raises(StoreLocked):
            await open_transfer(database).open()
        assert await store.beat()

    assert "living replicas: 1" in made.stdout


async def copied(source: str, target: str) -> store_copy.CopyOutcome:
    one, other = open_transfer(source), open_transfer(target)
    await one.open()
    await other.open()
    try:
        outcome = await store_copy.copy(one, other, lambda done, total: None)
        assert await store_copy.differences(one, other, lambda done, total: None) == []
        return outcome
    finally:
        await one.aclose()
        await other.aclose()


async def fill(store: Store) -> None:
    for user in USERS:
        said: dict[str, Any] = {"hypotheses": [{"skill_name": "s", "text": "t", "confidence": 1}]}
        for number in range(9):
            await talk(store, user, f"{number}", human_attributes={"n": number}, **said)
        (turn,) = await talk(store, user, "rated", bot_attributes={"m": 1})
        await store.rate_dialog(turn.dialog_id, 5, None, TODAY)
        await store.rate_utterance(turn.opening.utt_id, {"good": True}, user, TODAY)
        await store.close_dialog(user, "main")
        asked = await open_new_turn(store, user, "k", request_key="k", request_hash=b"h")
        await store.close_turn(a_closing(asked, messages=[], round=b'{"left":1}'))
        await store.schedule(an_entry(user, "late", 20.0))
        await store.schedule(an_entry(user, "early", 10.0))
        await store.put_record(user, "device", "d", b"1")
        await store.deliver(a_delivery(user, "ring", dialog_name="other"))
    await store.delete_person("bob")
    await talk(store, "bob", "again")
    await store.put_record("", "settings", "s", b"2")
    for user in ("ann", "zo\x00e"):
        await store.add_amounts([Amount("spent", user, "writer", "2026-01-02", 0.1, 3, 9.0)])
    await open_new_turn(store, "ann", "cut off", request_key="c", request_hash=b"h")


async def figures(store: Store) -> Any:
    """Return what operators see of all turns."""
    records = find_record_store(store)
    (dialogs, totals) = await found(store), await records.totals(0, 2e9)
    kept = [
        (turn.utt_id, await records.turn(turn.utt_id))
        for dialog in dialogs
        for turn in await records.turns(dialog.dialog_id, None, 9)
    ]
    return (
        await records.hours(0, 2_000_000_000),
        await records.figures(0, 2e9),
        [(total.agent, total.asked, total.up, total.down) for total in totals],
        sorted(dialogs, key=lambda dialog: dialog.dialog_id),
        sorted(kept, key=lambda one: one[0]),
    )


async def contents(store: Store) -> list[Any]:
    """Return what the store says of everything, but for open turns."""
    found: list[Any] = [agent_state.encode_dialog(dialog) async for dialog in store.export()]
    for user in [*USERS, ""]:
        found += [
            await store.feed(user, 0, 999),
            await store.feed_end(user),
            await store.entries(user),
            await store.records(user, "device"),
            await store.records(user, "settings"),
            await store.round(user, "main"),
            await store.active_dialog_id(user),
            await store.feed_tail(user, "main", 5),
        ]
    return [*found, await store.amounts("spent", "2026", "2027")]


async def test_operators_find_copied_dialogs(tmp_path: Path, database: str) -> None:
    first, last = f"sqlite:///{tmp_path}/first.db", f"sqlite:///{tmp_path}/last.db"
    async with open_for_test(lambda: open_store(first)) as store:
        await talk(store, "ann", "the needle", "something else")
    for source, target in ((first, database), (database, last), (first, last)):
        await copied(source, target)
        async with open_for_test(lambda url=target: open_store(url)) as store:
            for words in (None, "needle"):
                (one,) = await found(store, ConversationQuery(words=words))
                assert one.user == "ann"
                assert one.turns == 2
                assert one.slowest == 0.0
            assert await found(store, ConversationQuery(words="nowhere")) == []
