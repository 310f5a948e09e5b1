"""Every named statement works, and is used."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import prolocutor.stores.sqlite
from prolocutor.stores.sqlite import queries
from prolocutor.stores.sqlite.connection import migrate

FOLDER = Path(prolocutor.stores.sqlite.__file__).parent
NAMES = re.findall(
    r"^-- name: (\w+)$",
    "".join(file.read_text() for file in (FOLDER / "sql" / "queries").iterdir()),
    re.MULTILINE,
)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, 0)
    yield connection
    connection.close()


def test_no_name_is_given_twice() -> None:
    assert len(NAMES) == len(set(NAMES)) > 30


@pytest.mark.parametrize("name", NAMES)
def test_a_named_statement_fits_the_tables(connection: sqlite3.Connection, name: str) -> None:
    statement = queries.SQL[name]

    connection.execute(f"EXPLAIN {statement}", [0] * connection_parameters(statement))


def test_each_named_statement_is_used() -> None:
    code = "".join(file.read_text() for file in FOLDER.parents[1].rglob("*.py"))

    assert [name for name in NAMES if f'"{name}"' not in code] == []


def test_a_statement_for_many_rows_repeats_its_last_group() -> None:
    statement = "INSERT INTO t (a, b) VALUES (?, 1, ?)"

    (one,) = queries.split_rows(statement, [1, 2])
    (three,) = queries.split_rows(statement, [1, 2, 3, 4, 5, 6])

    assert one == (statement, [1, 2])
    assert three == (f"{statement}, (?, 1, ?), (?, 1, ?)", [1, 2, 3, 4, 5, 6])


def test_many_rows_are_split_into_statements_of_a_bounded_size() -> None:
    parts = list(queries.split_rows("INSERT INTO t VALUES (?, ?)", list(range(200))))

    assert [len(values) for _, values in parts] == [64, 64, 64, 8]
    assert [value for _, values in parts for value in values] == list(range(200))


def connection_parameters(statement: str) -> int:
    numbered = {int(n) for n in re.findall(r"\?(\d)", statement)}
    return max(numbered) if numbered else statement.count("?")
