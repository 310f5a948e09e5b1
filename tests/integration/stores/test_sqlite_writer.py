"""The writer's groups: one transaction for all, or each alone where one of them fails."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prolocutor.contracts.store import AnsweredRequest, OpenedTurn, TurnClosing
from prolocutor.errors import (
    Conflict,
    RoundChanged,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
)
from prolocutor.stores.sqlite import head_cache as heads_module
from prolocutor.stores.sqlite import writer as writer_module
from prolocutor.stores.sqlite.query_rows import SqliteOpenedTurn
from prolocutor.stores.sqlite.writer import SqliteWriter
from prolocutor.testing.sample_turns import a_closing, a_delivery, an_entry, an_opening


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dialogs.db"


@pytest.fixture
def writer(path: Path) -> Iterator[SqliteWriter]:
    writer = SqliteWriter(path, "full")
    writer.open()
    yield writer
    writer.close()


def test_full_durability_waits_for_the_disk_at_each_commit(writer: SqliteWriter) -> None:
    assert writer.setting("synchronous") == 2
    assert writer.setting("journal_mode") == "wal"


def test_relaxed_durability_does_not(path: Path) -> None:
    writer = SqliteWriter(path, "relaxed")
    writer.open()

    assert writer.setting("synchronous") == 1
    writer.close()


def test_a_group_is_one_transaction(writer: SqliteWriter) -> None:
    statements: list[str] = []
    writer.connection.set_trace_callback(statements.append)

    opened = begin(writer, *(f"u{n}" for n in range(60)))
    finish(writer, *(a_closing(one) for one in opened))

    assert statements.count("COMMIT") == 2
    assert writer.commits == 2


def test_a_group_of_many_turns_is_few_statements(writer: SqliteWriter) -> None:
    finish(writer, *(a_closing(one) for one in begin(writer, *(f"u{n}" for n in range(30)))))
    statements: list[str] = []
    writer.connection.set_trace_callback(statements.append)

    finish(writer, *(a_closing(one) for one in begin(writer, *(f"u{n}" for n in range(30)))))

    assert len(statements) < 16


def test_only_the_faulty_one_of_a_group_fails(writer: SqliteWriter) -> None:
    opened = begin(writer, "ann", "bob", "carl")
    endings = [a_closing(one) for one in opened]
    taken = endings[0].utterances[0].utt_id
    faulty = [
        msgspec.structs.replace(utterance, utt_id=taken) for utterance in endings[1].utterances
    ]
    endings[1] = msgspec.structs.replace(endings[1], utterances=faulty)

    outcomes = finish(writer, *endings)

    assert [type(outcome) for outcome in outcomes] == [type(None), StoreError, type(None)]
    assert "dialogs.db" in str(outcomes[1])
    assert [turn.user for turn in writer.turns.unfinished_turns()] == ["bob"]
    assert [one.length for one in begin(writer, "ann", "bob", "carl")] == [2, 0, 2]


def test_a_turn_that_was_finished_before_fails_alone(writer: SqliteWriter) -> None:
    ann, bob = (a_closing(one) for one in begin(writer, "ann", "bob"))

    outcomes = [*finish(writer, ann), *finish(writer, ann, bob)]

    assert [type(outcome) for outcome in outcomes] == [type(None), StoreError, type(None)]


def test_in_one_group_an_entry_is_delivered_once(writer: SqliteWriter) -> None:
    writer.run([(writer.agenda.schedule, (an_entry("ann"),))])
    deliveries = [a_delivery("ann", "ring", entry=an_entry("ann")) for _ in range(2)]

    outcomes = writer.run([(writer.turns.deliver, (delivery,)) for delivery in deliveries])

    assert outcomes == [True, False]
    assert begin(writer, "ann")[0].feed == 2


def test_an_unasked_message_is_stored_where_another_of_its_group_fails(
    writer: SqliteWriter,
) -> None:
    (opened,) = begin(writer, "ann")
    finish(writer, a_closing(opened))
    writer.run([(writer.agenda.schedule, (an_entry("bob"),))])
    delivery = a_delivery("bob", "ring", entry=an_entry("bob"), round=b'{"left":1}')

    twice = a_closing(opened, entries=[an_entry("ann")])
    outcomes = writer.run(
        [(writer.turns.deliver, (delivery,)), (writer.turns.close_turn, (twice,))]
    )

    assert outcomes[0] is True
    assert isinstance(outcomes[1], StoreError)
    assert writer.connection.execute("SELECT count(*) FROM agenda").fetchone() == (0,)
    (after,) = begin(writer, "bob")
    assert after.feed == 2
    assert after.feed_id == 1
    assert after.round == b'{"left":1}'


def test_a_conflict_does_not_break_up_its_group(writer: SqliteWriter) -> None:
    run(writer, writer.turns.open_turn, an_opening("ann", request_key="k", request_hash=b"h"))

    outcomes = run(
        writer,
        writer.turns.open_turn,
        an_opening("bob"),
        an_opening("ann", request_key="k", request_hash=b"g"),
        an_opening("carl"),
    )

    assert [type(outcome) for outcome in outcomes] == [SqliteOpenedTurn, Conflict, SqliteOpenedTurn]
    assert writer.commits == 2


def test_in_one_group_a_person_can_finish_and_begin_again(writer: SqliteWriter) -> None:
    for forget in (False, True):
        (opened,) = begin(writer, "ann")
        if forget:
            writer.heads.clear()

        outcomes = together(
            writer,
            (writer.turns.close_turn, a_closing(opened, "now")),
            (writer.turns.open_turn, an_opening("ann", "next", window=50)),
        )

        assert outcomes[1].length == opened.length + 2
        assert b"now" in outcomes[1].window[-1].state
        finish(writer, a_closing(outcomes[1]))


def test_in_one_group_a_window_can_grow(writer: SqliteWriter) -> None:
    for _ in range(20):
        finish(writer, *(a_closing(one) for one in begin(writer, "ann")))
    (opened,) = begin(writer, "ann")

    outcomes = together(
        writer,
        (writer.turns.close_turn, a_closing(opened, "now")),
        (writer.turns.open_turn, an_opening("ann", window=None)),
    )

    assert len(outcomes[1].window) == 42


def test_in_one_group_a_request_can_be_answered_and_come_again(writer: SqliteWriter) -> None:
    asked = an_opening("ann", request_key="k", request_hash=b"h")
    (opened,) = run(writer, writer.turns.open_turn, asked)

    outcomes = together(
        writer, (writer.turns.close_turn, a_closing(opened, "now")), (writer.turns.open_turn, asked)
    )

    assert outcomes[1] == AnsweredRequest(turn_id=asked.turn_id, reply=b'{"response":"now"}')


def test_words_of_a_group_can_be_rated_and_deleted_within_it(writer: SqliteWriter) -> None:
    (opened,) = begin(writer, "ann")

    outcomes = together(
        writer,
        (writer.turns.close_turn, a_closing(opened)),
        (writer.upkeep.rate_utterance, opened.opening.utt_id, 5, None, ""),
        (writer.turns.open_turn, an_opening("ann")),
        (writer.upkeep.delete_person, "ann"),
        (writer.turns.open_turn, an_opening("ann")),
    )

    assert outcomes[1] is None
    assert b"ratings" in outcomes[2].window[0].state
    assert outcomes[3] is True
    assert outcomes[4].length == 0
    assert outcomes[4].feed == 4


def test_in_one_group_a_person_can_begin_many_dialogs(writer: SqliteWriter) -> None:
    names = [f"dialog {n % 8}" for n in range(16)]

    outcomes = together(
        writer,
        *((writer.turns.open_turn, an_opening("ann", dialog_name=name)) for name in names),
    )

    ids = [outcome.dialog_id for outcome in outcomes]
    assert ids[:8] == ids[8:]
    assert len(set(ids)) == 8


def test_no_more_is_remembered_of_a_dialog_than_its_window(writer: SqliteWriter) -> None:
    for _ in range(30):
        finish(writer, *(a_closing(one) for one in begin(writer, "ann")))

    head = writer.heads.person("ann")

    assert head is not None
    assert len(head.dialogs["main"].recent) <= 8


@pytest.mark.interpreted
def test_not_everybody_is_remembered(writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads_module, "MAX_PERSONS", 5)
    people = [f"u{n}" for n in range(20)]
    for _ in range(3):
        finish(writer, *(a_closing(one) for one in begin(writer, *people)))

    assert len(writer.heads) == 5
    assert [one.length for one in begin(writer, *people)] == [6] * 20


def test_a_full_disk_is_told_and_confirmed_turns_are_kept(writer: SqliteWriter) -> None:
    finish(writer, *(a_closing(one, "kept") for one in begin(writer, "ann")))
    pages = writer.setting("page_count")
    writer.setting(f"max_page_count = {pages}")

    outcomes = []
    while StoreFull not in map(type, outcomes):
        outcomes = run(writer, writer.turns.open_turn, *(an_opening(f"u{n}") for n in range(50)))
    writer.setting(f"max_page_count = {pages * 100}")

    full = next(outcome for outcome in outcomes if isinstance(outcome, StoreFull))
    assert "the disk is full" in str(full)
    (opened,) = begin(writer, "ann")
    assert b"kept" in opened.window[1].state
    assert finish(writer, a_closing(opened)) == [None]


def test_an_owner_that_was_replaced_can_write_no_more(writer: SqliteWriter, path: Path) -> None:
    (opened,) = begin(writer, "ann")
    with sqlite3.connect(path) as other:
        other.execute("UPDATE meta SET value = value + 1 WHERE name = 'generation'")
    other.close()

    (outcome,) = finish(writer, a_closing(opened))

    assert isinstance(outcome, StoreLocked)
    assert "took over" in str(outcome)


def test_each_owner_is_a_new_generation(path: Path) -> None:
    generations = []
    for _ in range(3):
        writer = SqliteWriter(path, "full")
        writer.open()
        row = writer.connection.execute("SELECT value FROM meta WHERE name = 'generation'")
        generations.append(row.fetchone()[0])
        writer.close()

    assert generations == [1, 2, 3]


def test_a_file_that_another_program_holds_is_said(writer: SqliteWriter, path: Path) -> None:
    writer.setting("busy_timeout = 1")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    held = run(writer, writer.turns.open_turn, an_opening("ann"))
    other.close()
    free = run(writer, writer.turns.open_turn, an_opening("ann"))

    assert [type(one) for one in held + free] == [StoreLocked, SqliteOpenedTurn]


def test_damage_found_in_a_turn_is_said(path: Path) -> None:
    writer = SqliteWriter(path, "full")
    writer.open()
    finish(writer, *(a_closing(one) for one in begin(writer, "ann")))
    index = "SELECT rootpage FROM sqlite_schema WHERE name = 'utterances_of'"
    (page,) = writer.connection.execute(index).fetchone()
    writer.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)

    writer.open()
    (outcome,) = run(writer, writer.turns.open_turn, an_opening("ann"))
    writer.close()

    assert isinstance(outcome, StoreCorrupt)
    assert "put back a copy" in str(outcome)


def test_expired_requests_are_let_go(writer: SqliteWriter) -> None:
    people = [f"u{n}" for n in range(40)]
    counts = []

    for day in range(4):
        for n in range(writer_module.DELETE_EXPIRED_AFTER):
            started = (day + n / 100) * 86_400.0
            asked = [an_opening(user, request_key=f"{day} {n}", started=started) for user in people]
            finish(writer, *(a_closing(one) for one in run(writer, writer.turns.open_turn, *asked)))
        counts += writer.connection.execute("SELECT count(*) FROM requests").fetchone()

    assert max(counts) < 2.5 * counts[0]
    assert min(counts) > 0


def test_the_write_ahead_log_does_not_grow_without_bound(writer: SqliteWriter, path: Path) -> None:
    log = path.with_name("dialogs.db-wal")
    people = [f"u{n}" for n in range(50)]
    sizes = []

    for _ in range(40):
        finish(writer, *(a_closing(one, "x" * 2000) for one in begin(writer, *people)))
        sizes.append(log.stat().st_size)

    assert max(sizes[20:]) < 1.25 * max(sizes[:20])


@pytest.mark.interpreted
def test_a_log_that_a_reader_held_up_is_cut_later(
    writer: SqliteWriter, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "WAL_BYTES", 100_000)
    monkeypatch.setattr(writer_module, "CHECK_LOG_AFTER", 4)
    log = path.with_name("dialogs.db-wal")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM meta").fetchall()
    people = [f"u{n}" for n in range(50)]

    for _ in range(4):
        finish(writer, *(a_closing(one) for one in begin(writer, *people)))
    held = log.stat().st_size
    reader.close()
    for _ in range(2):
        finish(writer, *(a_closing(one) for one in begin(writer, *people)))

    assert held > 500_000 > log.stat().st_size


def begin(writer: SqliteWriter, *users: str) -> list[OpenedTurn]:
    outcomes = run(writer, writer.turns.open_turn, *(an_opening(user) for user in users))
    assert all(isinstance(outcome, OpenedTurn) for outcome in outcomes)
    return outcomes


def test_words_read_under_another_round_fail_nobody_else(writer: SqliteWriter) -> None:
    wrong, right = an_opening("ann", round=b'{"left":2}'), an_opening("bob", round=b"{}")
    open_turn = writer.turns.open_turn
    refused, taken = together(writer, (open_turn, wrong), (open_turn, right))
    assert isinstance(refused, RoundChanged)
    assert isinstance(taken, OpenedTurn)


def finish(writer: SqliteWriter, *endings: TurnClosing) -> list[Any]:
    return run(writer, writer.turns.close_turn, *endings)


def together(writer: SqliteWriter, *jobs: tuple[Any, ...]) -> list[Any]:
    """Do jobs in one group, and see that they were not done one by one."""
    before = writer.commits
    outcomes = writer.run([(function, tuple(arguments)) for function, *arguments in jobs])
    assert writer.commits == before + 1
    return outcomes


def run(writer: SqliteWriter, function: Any, *arguments: Any) -> list[Any]:
    return writer.run([(function, (argument,)) for argument in arguments])
