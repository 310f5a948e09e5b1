"""What was deleted is in no row of any table; PostgreSQL's own files are its own."""

from collections.abc import Awaitable, Callable

import pytest

from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.testing.sample_turns import found, keep_turn
from prolocutor.testing.store_fixtures import TODAY, YESTERDAY
from tests.postgresql_server import query

SECRET = "zither"

Delete = Callable[[PostgresqlStore], Awaitable[object]]

KINDS: dict[str, Delete] = {
    "person": lambda store: store.delete_person("ann"),
    "conversation": lambda store: store.delete_conversation("ann", "main"),
    "retention": lambda store: store.delete_older(TODAY),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_no_row_has_what_was_deleted(kind: str, database: str) -> None:
    store = PostgresqlStore(database, durability="relaxed")
    await store.open()
    record = await keep_turn(store, "ann", f"my {SECRET}", reply=SECRET, day=YESTERDAY[:10])
    await store.rate_dialog(record.dialog_id, SECRET, "ann", TODAY)
    await found(store)
    before = await tables_with(database, SECRET)

    await KINDS[kind](store)
    await store.erase()
    after = await tables_with(database, SECRET)
    await store.aclose()

    assert {"feed", "ratings", "utterances", "words"} <= before
    assert after == set()


async def tables_with(database: str, word: str) -> set[str]:
    """Return the tables that have a row with a word, as text or as bytes."""
    rows = await query(
        database,
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND relnamespace = current_schema()::regnamespace",
    )
    having = set()
    for (table,) in rows:
        statement = f"SELECT count(*) FROM {table} t WHERE t::text LIKE $1 OR t::text LIKE $2"
        (count,) = await query(database, statement, f"%{word}%", f"%{word.encode().hex()}%")
        if count[0]:
            having.add(table)
    return having
