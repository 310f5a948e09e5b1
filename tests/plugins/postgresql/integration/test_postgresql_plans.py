"""No statement of a turn looks at a whole table, and persons are updated in place."""

import re
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import asyncpg
import pytest

from prolocutor.contracts.store import OpenedTurn
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.testing.sample_turns import (
    a_closing,
    a_delivery,
    an_entry,
    an_opening,
    open_new_turn,
    talk,
)
from prolocutor.testing.store_fixtures import TODAY, open_for_test
from tests.postgresql_server import query

OTHERS = 3_000
"""Other people in the database, so that looking at all of them is never cheaper."""

FILL = """
INSERT INTO people ("user", human_id, feed)
SELECT 'other ' || g, 'h' || g, 40 FROM generate_series(1, {n}) g;
INSERT INTO dialogs (person, name, dialog_id, id, bot_id, channel_type, date_start, attributes)
SELECT person, 'main', 'd' || person, 'i' || person, 'b', 'kit', '2024', '{{}}' FROM people;
INSERT INTO dialog_names (person, number, name) SELECT person, 1, 'main' FROM people;
INSERT INTO versions SELECT person, owner, g, '[]', '{{}}' FROM dialogs, generate_series(0, 2) g,
    LATERAL (VALUES (0::bigint), (dialog)) o(owner);
INSERT INTO utterances
SELECT person, dialog, g, 'u' || dialog || ' ' || g, g % 2 = 1, 0, 1, '2024', '{{}}'
FROM dialogs, generate_series(0, 7) g;
INSERT INTO feed SELECT person, g, dialog, 1, g, '{{}}' FROM dialogs, generate_series(1, 8) g;
INSERT INTO requests SELECT person, 'k', NULL, 't', dialog, 1, '{{}}' FROM dialogs;
INSERT INTO agenda ("user", place, skill, key, name, due, body, dropped)
SELECT "user", 'p', 's', 'k', 'main', 9e9 + person, '', 0 FROM people;
INSERT INTO records ("user", place, kind, key, body) SELECT "user", 'p', 'd', 'k', '' FROM people;
INSERT INTO spoke SELECT person, dialog, 's' FROM dialogs;
INSERT INTO open_turns SELECT person, 0, 't' || person, 1, person % 99 + 9e6, dialog, 1, 9, 9, 0,
    NULL, NULL, ''
FROM dialogs WHERE person % 2 = 0;
INSERT INTO waiting SELECT "user", 1, 't' || person, person % 99 + 9e6 FROM people
WHERE person % 2 = 0;
INSERT INTO holds SELECT "user", 'h', person % 99 + 9e6 FROM people WHERE person % 2 = 1;
"""

SCANS = """
SELECT relname, seq_scan FROM pg_stat_user_tables
WHERE relname NOT IN ('replicas', 'counters', 'prolocutor_migrations') AND n_live_tup > 100
"""

EXPLAIN = " ".join(
    f"-c {setting}"
    for setting in (
        "session_preload_libraries=auto_explain",
        "auto_explain.log_min_duration=0",
        "auto_explain.log_nested_statements=on",
        "auto_explain.log_level=notice",
    )
)
"""Options under which the server sends the plan of every statement, also of those in functions."""

SCANNED = re.compile(r"Seq Scan on (?!pg_)(\w+)")
INDEXED = re.compile(r"Index (?:Only )?Scan using \w+ on (\w+)")
SMALL = {"replicas", "counters", "prolocutor_migrations"}
"""Tables that have a row for each replica or fewer."""

Doing = Callable[[PostgresqlStore], Awaitable[object]]


async def turns(store: PostgresqlStore) -> None:
    for number in range(8):
        key = {"request_key": str(number), "request_hash": b"h"} if number % 2 else {}
        opened = await open_new_turn(store, "ann", str(number), hypotheses=number % 2, **key)
        if number == 3:
            opened = await store.resume_turn(opened.opening.turn_id, 4, 0)
        if number == 5:
            store.remembered.clear()
        changed = {"human_attributes": {"n": number}, "hypotheses": []}
        await store.close_turn(a_closing(opened, entries=[an_entry()], **changed))


async def other_things(store: PostgresqlStore) -> None:
    (turn, *_) = await talk(store, "ann", "a", "b")
    await store.hold("ann", "h")
    await store.take_ticket("ann", "t")
    await store.deliver(a_delivery("ann", "x", entry=an_entry(), struck=[("s", "k")]))
    await store.schedule(an_entry())
    await store.release("ann", "h")
    await store.withdraw("ann", "t")
    await store.claim_due()
    await store.rate_utterance(turn.opening.bot_utt_id, 1, None, TODAY)
    await store.rate_dialog(turn.dialog_id, 1, None, TODAY)
    await store.feed("ann", 0)
    await store.feed_tail("ann", "main")
    await store.feed_tail("ann", "main", 10, 1)
    await store.feed_ends(["ann", "bob"])
    await store.round("ann", "main")
    await store.due(5.0)
    await store.next_due(5.0)
    await store.entries("ann")
    await store.put_record("ann", "d", "k", b"")
    await store.records("ann", "d")
    await store.turn(turn.opening.bot_utt_id)
    await store.dialog(turn.dialog_id)
    await store.find_owner(turn.opening.utt_id)
    await store.inherit()
    await store.unfinished_turns()
    await store.close_dialog("ann", "main")
    await store.delete_person("ann")


@pytest.fixture
async def filled(database: str) -> str:
    for statement in FILL.format(n=OTHERS).strip().split(";\n"):
        await query(database, statement)
    await query(database, "ANALYZE")
    return database


async def test_no_statement_looks_at_a_whole_table(filled: str) -> None:
    scans = []
    for doing in (None, turns, other_things):
        if doing is not None:
            async with open_for_test(
                lambda: PostgresqlStore(filled, durability="relaxed")
            ) as opened:
                assert isinstance(opened, PostgresqlStore)
                await opened.join(60.0)
                await doing(opened)
        await query(filled, "SELECT pg_stat_force_next_flush()")
        scans.append({row[0]: row[1] for row in await query(filled, SCANS)})

    for before, after in pairwise(scans):
        assert len(before) > 20
        assert {name: n - before[name] for name, n in after.items() if n > before[name]} == {}


async def test_every_plan_of_a_turn_uses_an_index(
    filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[str] = []
    connect = asyncpg.connect

    async def listened_to(*args: Any, **options: Any) -> Any:
        connection = await connect(*args, **options)
        connection.add_log_listener(lambda _, said: plans.append(said.message))
        return connection

    monkeypatch.setattr(asyncpg, "connect", listened_to)
    explained = f"{filled}?{urlencode({'options': EXPLAIN})}"
    async with open_for_test(lambda: PostgresqlStore(explained, durability="relaxed")) as store:
        assert isinstance(store, PostgresqlStore)
        await store.join(60.0)
        await turns(store)

    read = {table for plan in plans for table in INDEXED.findall(plan)}
    assert {"people", "dialogs", "open_turns", "requests"} <= read
    assert {table for plan in plans for table in SCANNED.findall(plan)} <= SMALL


async def test_persons_are_updated_in_place(database: str) -> None:
    async with open_for_test(lambda: PostgresqlStore(database, durability="relaxed")) as store:
        await talk(store, "ann", *(str(number) for number in range(60)))
        opened = await store.open_turn(an_opening("ann"))
        assert isinstance(opened, OpenedTurn)
    (row,) = await query(
        database,
        "SELECT sum(n_tup_hot_upd)::float8 / sum(n_tup_upd) FROM pg_stat_user_tables "
        "WHERE relname IN ('people', 'dialog_names')",
    )

    assert row[0] > 0.9
