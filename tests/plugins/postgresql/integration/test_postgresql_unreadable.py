"""A person whose rows cannot be read: others go on, operators are told, and it can be mended."""

import asyncio
import logging

import pytest
from click.testing import CliRunner

from prolocutor import Pipeline, Service, TurnRequest
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.assistant_settings import ReplicaSettings
from prolocutor.errors import PersonUnreadable
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.plugins.postgresql.replicas import succession
from prolocutor.plugins.transfer.store_command import store as store_command
from prolocutor.testing.sample_turns import an_opening, open_new_turn, talk
from prolocutor.testing.store_fixtures import open_for_test
from tests.postgresql_server import query

DAMAGE = {
    "no versions": "DELETE FROM versions WHERE person = $1",
    "a frame is gone": "DELETE FROM versions WHERE person = $1 AND owner = 0 AND number = 0",
    "a gap": "DELETE FROM utterances WHERE person = $1 AND position = 1",
    "bad changes": "UPDATE versions SET changes = '[[7' WHERE person = $1 AND number > 0",
}


async def damage(url: str, user: str, how: str) -> None:
    (row,) = await query(url, 'SELECT person FROM people WHERE "user" = $1', user)
    await query(url, DAMAGE[how], row[0])


def say_again(request: TurnRequest) -> list[dict[str, object]]:
    return [{"text": f"re: {request.text}", "confidence": 1.0}]


def replica(url: str) -> Assistant:
    pipeline = Pipeline(skills=[Service("echo", say_again)])
    return Assistant(pipeline, store=url, durability="relaxed", replica=ReplicaSettings(lease=0.4))


async def test_one_who_cannot_be_read_fails_alone_and_leaves_no_turn_open(database: str) -> None:
    async with open_for_test(lambda: PostgresqlStore(database, durability="relaxed")) as store:
        for user in ("ann", "bob"):
            await talk(store, user, "a", human_attributes={"n": 1})
    await damage(database, "ann", "no versions")
    async with open_for_test(lambda: PostgresqlStore(database, durability="relaxed")) as store:
        openings = [an_opening(user) for user in ("ann", "bob", "cy")]
        done = await asyncio.gather(*map(store.open_turn, openings), return_exceptions=True)
        left = await store.unfinished_turns()

    assert isinstance(done[0], PersonUnreadable)
    assert done[0].user == "ann"
    assert [turn.user for turn in left] == ["bob", "cy"]


async def test_a_turn_that_cannot_be_read_is_put_off_then_closed_and_told_once(
    database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(succession, "MAX_READS", 2)
    store = PostgresqlStore(database, durability="relaxed")
    async with open_for_test(lambda: store):
        await store.join(30.0)
        await talk(store, "ann", "a")
        await open_new_turn(store, "ann", "b")
        await damage(database, "ann", "no versions")
    async with asyncio.timeout(60), replica(database) as it:
        while await query(database, "SELECT 1 FROM open_turns"):
            await it.reply("hello", "bob")
        with pytest.raises(PersonUnreadable):
            await it.reply("hello", "ann")
        assert it.ready is True
        assert [*it.store_health.unreadable] == ["ann"]
    told = [record for record in caplog.records if "store check --repair" in record.getMessage()]

    assert len(told) == 1
    assert [record for record in caplog.records if record.exc_info] == []
    assert logging.getLevelName(told[0].levelno) == "ERROR"


@pytest.mark.parametrize("how", DAMAGE)
async def test_who_cannot_be_read_can_be_repaired(database: str, how: str) -> None:
    async with open_for_test(lambda: PostgresqlStore(database, durability="relaxed")) as store:
        for number in range(3):
            await talk(store, "ann", f"{number}", human_attributes={"n": number})
    await damage(database, "ann", how)
    checks = []
    for options in ([], ["--repair"], []):
        checked = await asyncio.to_thread(
            CliRunner().invoke, store_command, ["check", database, *options], standalone_mode=False
        )
        checks.append((checked.return_value, "repaired: ann" in checked.stdout))
    async with replica(database) as it:
        reply = await it.reply("hello", "ann")

    assert checks == [(1, False), (0, True), (0, False)]
    assert reply.text == "re: hello"
