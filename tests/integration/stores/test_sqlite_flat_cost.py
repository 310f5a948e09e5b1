"""The cost of a turn does not grow, counted in steps of SQLite's machine and in pages written."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from prolocutor.contracts.store import OpenedTurn
from prolocutor.stores.sqlite.reader import SqliteReader
from prolocutor.stores.sqlite.writer import SqliteWriter
from prolocutor.testing.sample_turns import a_closing, an_opening

LONG = 2_500
"""Turns of a long dialog, 5,000 utterances."""

OTHERS = 20_000
"""Other people in a large file."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dialogs.db"


@pytest.fixture
def writer(path: Path) -> Iterator[SqliteWriter]:
    writer = SqliteWriter(path, "relaxed")
    writer.open()
    yield writer
    writer.connection.close()


def test_a_late_turn_costs_what_an_early_one_costs(writer: SqliteWriter) -> None:
    talk(writer, 10)
    early = cost(writer)

    talk(writer, LONG)
    late = cost(writer)

    assert late <= early * 1.1


def test_the_first_turn_after_a_restart_costs_the_same_in_a_long_dialog(
    writer: SqliteWriter,
) -> None:
    talk(writer, 24)
    writer.heads.clear()
    early = cost(writer)

    talk(writer, LONG // 16 * 16)
    writer.heads.clear()
    late = cost(writer)

    assert late <= early * 1.1


def test_a_turn_costs_the_same_among_many_dialogs(writer: SqliteWriter) -> None:
    talk(writer, 24)
    writer.heads.clear()
    few = cost(writer)

    add_others(writer)
    talk(writer, 31)
    writer.heads.clear()
    many = cost(writer)

    assert many <= few * 1.1


def test_a_turn_writes_as_many_pages_late_as_early(writer: SqliteWriter, path: Path) -> None:
    talk(writer, 10)
    early = pages(writer, path)

    talk(writer, LONG)
    late = pages(writer, path)

    assert late <= early * 1.25


def test_no_statement_of_a_turn_looks_at_a_whole_table(writer: SqliteWriter) -> None:
    talk(writer, 1)
    statements: list[str] = []
    writer.connection.set_trace_callback(statements.append)
    talk(writer, 2)
    writer.heads.clear()
    talk(writer, 1)
    writer.connection.set_trace_callback(None)

    plans = [
        row[3]
        for statement in statements
        if statement.startswith(("SELECT", "DELETE", "UPDATE"))
        for row in writer.connection.execute(f"EXPLAIN QUERY PLAN {statement}")
    ]

    assert plans
    assert [plan for plan in plans if plan.startswith("SCAN") and "CONSTANT ROW" not in plan] == []


@pytest.mark.parametrize("after", [None, 3])
def test_the_tail_of_a_feed_costs_the_same_in_a_long_one(
    writer: SqliteWriter, path: Path, after: int | None
) -> None:
    talk(writer, 10)
    early = tail_cost(path, after)

    talk(writer, 500)
    late = tail_cost(path, after)

    assert late <= early * 1.1


def tail_cost(path: Path, after: int | None) -> int:
    """Count the machine's steps of a look at the last rows, or at those after a message."""
    reader = SqliteReader(path)
    reader.open()
    steps: list[None] = []
    reader.connection.set_progress_handler(lambda: steps.append(None), 1)
    assert len(reader.feed_tail("ann", "main", 10, after)) == 10
    reader.close()
    return len(steps)


def talk(writer: SqliteWriter, turns: int) -> None:
    for n in range(turns):
        (opened,) = writer.run([(writer.turns.open_turn, (an_opening(window=8),))])
        assert isinstance(opened, OpenedTurn)
        ending = a_closing(opened, human_attributes={"n": n}, hypotheses=[])
        assert writer.run([(writer.turns.close_turn, (ending,))]) == [None]


def cost(writer: SqliteWriter) -> int:
    """Count the machine's steps of one turn."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    writer.connection.set_progress_handler(count, 1)
    talk(writer, 1)
    writer.connection.set_progress_handler(None, 1)
    return steps


def pages(writer: SqliteWriter, path: Path) -> int:
    """Count the pages that 32 turns write to the log."""
    writer.setting("wal_autocheckpoint = 0")
    writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    talk(writer, 32)
    written = path.with_name(path.name + "-wal").stat().st_size // 4096
    writer.setting("wal_autocheckpoint = 1000")
    return written


def add_others(writer: SqliteWriter) -> None:
    """Add many people with a dialog of two utterances each."""
    numbers = f"WITH RECURSIVE t(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM t LIMIT {OTHERS})"
    for statement in (
        "people SELECT n, 'u' || n, 'h' || n, 2 FROM t",
        "dialogs SELECT n, n, 'main', 'd' || n, 'i' || n, 'b' || n, '', '', 1, 0, '{}', '' FROM t",
        "dialog_names SELECT n, n, 'main', -1 FROM t",
        "versions SELECT 'h' || n, 0, '[]', '{}' FROM t",
        "versions SELECT 'b' || n, 0, '[]', '{}' FROM t",
        "feed SELECT n * 2, n, 1, n, '{}', n, 0, NULL FROM t",
        "feed SELECT n * 2 + 1, n, 2, n, '{}', n, 1, '{}' FROM t",
        "utterances SELECT n * 2, n, 0, 'q' || n, 0, 0, '2024', '{}' FROM t",
        "utterances SELECT n * 2 + 1, n, 1, 'a' || n, 1, 0, '2024', '{}' FROM t",
        "spoke SELECT 's', n FROM t",
    ):
        writer.connection.execute(f"{numbers} INSERT INTO {statement}")
    writer.close()
    writer.open()
