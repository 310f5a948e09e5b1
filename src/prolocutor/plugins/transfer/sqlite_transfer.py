"""SqliteTransfer: reads persons from a SQLite file, and writes persons into it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from prolocutor.contracts.store import AgendaEntry, Amount
from prolocutor.contracts.store_options import (
    StoredDialog,
    StoredFacts,
    StoredFeedRow,
    StoredOpenTurn,
    StoredPerson,
    StoredRating,
    StoredRecord,
    StoredRequest,
    StoredTurn,
    StoredUtterance,
    StoredVersion,
    UnrecordedTurns,
)
from prolocutor.errors import StoreError
from prolocutor.stores.sqlite.connection import (
    NEWEST,
    connect,
    file_version,
    migrate,
    prepare_writing,
    translate_error,
)
from prolocutor.stores.sqlite.ownership import Ownership
from prolocutor.stores.sqlite.queries import SQL, PendingRows
from prolocutor.stores.sqlite.sqlite_store import Sqlite
from prolocutor.stores.sqlite.turn_record_writer import TurnRecordWriter
from prolocutor.stores.statements import make_struct

T = TypeVar("T")

_OF_USER = ("agenda", "records")
_OF_PERSON = ("feed", "requests", "open_turns", "dialog_names")


def transfer_of_file(options: Sqlite) -> SqliteTransfer:
    """Return an object that reads persons from a SQLite file, or writes persons into it."""
    return SqliteTransfer(options.path)


class SqliteTransfer:
    """The owner of a file, without the writer of turns; each call runs in a thread."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._ownership = Ownership(self.path)
        self._connection: sqlite3.Connection | None = None

    async def migrate(self) -> list[str]:
        """Bring the file up to date, alone."""
        try:
            return await self.open()
        finally:
            await self.aclose()

    async def open(self, *, alone: bool = True) -> list[str]:
        """Become the owner of the file and bring it up to date, or read it beside its owner."""
        if not self.path.exists() and not alone:
            raise StoreError(f"{self.path}: there is no such file")
        if alone:
            self._ownership.take()
        try:
            self._connection = await asyncio.to_thread(self._connect, alone)
        except BaseException:
            self._ownership.release()
            raise
        return await self._run_threaded(_condition)

    async def aclose(self) -> None:
        """Close the file and give up the ownership."""
        if self._connection is not None:
            self._connection.close()
        self._ownership.release()

    async def users(self) -> list[str]:
        """Return all users with stored data."""
        return await self._run_threaded(lambda db: [user for (user,) in db.execute(SQL["users"])])

    async def feed_floor(self) -> int:
        """Return the number after which the feed of a new person starts."""
        return await self._run_threaded(lambda db: int(db.execute(SQL["feed_floor"]).fetchone()[0]))

    async def raise_feed_floor(self, floor: int) -> None:
        """Raise the number after which the feed of a new person starts."""
        await self._run_threaded(lambda db: db.execute(SQL["raise_meta_floor"], (floor,)))

    async def unrecorded_turns(self) -> UnrecordedTurns:
        """Return the counts of turns without records, and all amounts."""

        def read(db: sqlite3.Connection) -> UnrecordedTurns:
            amounts = [Amount(*row) for row in db.execute(SQL["all_amounts"])]
            return structs.replace(_records(db).unrecorded_turns(), amounts=amounts)

        return await self._run_threaded(read)

    async def put_unrecorded(self, counted: UnrecordedTurns) -> None:
        """Replace the counts of turns without records, and all amounts."""

        def write(db: sqlite3.Connection) -> None:
            _records(db).put_unrecorded(counted)
            db.execute(SQL["delete_all_amounts"])
            rows = [structs.astuple(amount)[:-1] for amount in counted.amounts]
            db.executemany(SQL["add_amount"], rows)

        await self._run_transaction(write)

    async def taken_out(self, user: str) -> StoredPerson:
        """Return all stored data of a user."""

        def read(db: sqlite3.Connection) -> StoredPerson:
            db.execute("BEGIN")  # one state of the file, regardless of its owner
            try:
                return _taken_out(db, user)
            finally:
                db.execute("COMMIT")

        return await self._run_threaded(read)

    async def put_person(self, person: StoredPerson) -> None:
        """Replace the stored data of a user by this person, in a transaction."""

        def write(db: sqlite3.Connection) -> None:
            _delete(db, person.user)
            _write_person(db, person)
            _put_records(db, person)

        await self._run_transaction(write)

    def _connect(self, alone: bool) -> sqlite3.Connection:
        connection = connect(self.path, read_only=not alone, any_thread=True)
        try:
            version = file_version(connection, self.path)
            if alone:
                prepare_writing(connection, "full")
                migrate(connection, version)
            elif version != NEWEST:
                what = f"{self.path}: is of version {version}, not {NEWEST}"
                raise StoreError(f"{what}; prolocutor store migrate brings it up to date")
        except BaseException as error:
            connection.close()
            if isinstance(error, Exception):
                raise translate_error(error, self.path) from error
            raise
        return connection

    async def _run_transaction(self, work: Callable[[sqlite3.Connection], None]) -> None:
        def write(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            try:
                work(db)
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

        await self._run_threaded(write)

    async def _run_threaded(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection
        assert connection is not None, "open it first"
        try:
            return await asyncio.to_thread(work, connection)
        except Exception as error:
            raise translate_error(error, self.path) from error


def _condition(db: sqlite3.Connection) -> list[str]:
    """Return the version and, for a damaged file, SQLite's finding."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    texts = [text for (text,) in db.execute("PRAGMA quick_check(5)").fetchall() if text != "ok"]
    return [f"version {version}", *(f"damaged: {text}" for text in texts)]


def _taken_out(db: sqlite3.Connection, user: str) -> StoredPerson:
    def rows(name: str, *values: Any) -> list[Any]:
        return db.execute(SQL[name], values).fetchall()

    agenda = [make_struct(AgendaEntry, (user, *row)) for row in rows("copied_agenda", user)]
    records = [StoredRecord(*row) for row in rows("copied_records", user)]
    known = rows("copied_person", user)
    if not known:
        return StoredPerson(user=user, agenda=agenda, records=records)
    person, human_id, feed_end = known[0]
    dialogs = []
    for number, dialog_id, id_, bot_id, name, channel, date, active, *rest in rows(
        "copied_dialogs", person
    ):
        skills = [skill for (skill,) in rows("copied_skills", number)]
        versions = [StoredVersion(*row) for row in rows("copied_versions", bot_id)]
        utterances = [
            StoredUtterance(position, utt_id, bool(by_bot), *others)
            for position, utt_id, by_bot, *others in rows("copied_utterances", number)
        ]
        ratings = [StoredRating(*row) for row in rows("copied_ratings", number)]
        turns = [StoredTurn(*row) for row in rows("copied_turns", number)]
        found = rows("copied_facts", number)
        facts = StoredFacts(*found[0]) if found else None
        own = (number, dialog_id, id_, bot_id, name, channel, date, bool(active), *rest)
        theirs = (skills, versions, utterances, ratings, turns, facts)
        dialogs.append(make_struct(StoredDialog, (*own, *theirs)))
    return StoredPerson(
        user=user,
        human_id=human_id,
        feed_end=feed_end,
        human=[StoredVersion(*row) for row in rows("copied_versions", human_id)],
        said=dict(rows("copied_names", person)),
        dialogs=dialogs,
        feed=[StoredFeedRow(*row) for row in rows("copied_feed", person)],
        requests=[StoredRequest(*row) for row in rows("copied_requests", person)],
        open_turns=[make_struct(StoredOpenTurn, row) for row in rows("copied_open_turns", person)],
        agenda=agenda,
        records=records,
    )


def _delete(db: sqlite3.Connection, user: str) -> None:
    for table in _OF_USER:
        db.execute(f"DELETE FROM {table} WHERE user = ?", (user,))
    found = db.execute(SQL["copied_person"], (user,)).fetchone()
    if found is None:
        return
    person, human_id, _ = found
    kept = _records(db)
    for (dialog,) in db.execute(SQL["dialogs_of_person"], (person,)).fetchall():
        kept.forget(dialog, -1)
        for statement in ("hypotheses", "utterances"):
            db.execute(SQL[f"delete_{statement}"], (dialog, -1))
        for statement in ("delete_bots", "delete_facts", "delete_ratings", "delete_spoke",
                          "delete_dialogs"):  # fmt: skip
            db.execute(SQL[statement], (f"[{dialog}]",))
    for table in _OF_PERSON:
        db.execute(f"DELETE FROM {table} WHERE person = ?", (person,))
    db.execute(SQL["delete_human"], (human_id,))
    db.execute(SQL["delete_person"], (person,))
    db.execute(SQL["index_no_further"])
    db.execute(SQL["set_remains"], (1,))


def _records(db: sqlite3.Connection) -> TurnRecordWriter:
    return TurnRecordWriter(db, PendingRows(), {})


def _write_person(db: sqlite3.Connection, person: StoredPerson) -> None:
    def put(name: str, rows: list[tuple[Any, ...]]) -> None:
        db.executemany(SQL[name], rows)

    user = person.user
    for entry in person.agenda:
        put("put_entry", [(user, entry.skill, entry.key, entry.dialog_name, entry.due,
                           entry.body, entry.dropped)])  # fmt: skip
    if person.human_id is None:
        return
    cursor = db.execute(SQL["copy_person"], (user, person.human_id, person.feed_end))
    number = cursor.lastrowid
    put("add_versions", [(person.human_id, v.number, v.changes, v.state) for v in person.human])
    names: dict[str, int | None] = {}
    for name, said in person.said.items():
        names[name] = db.execute(SQL["copy_name"], (number, name, said)).lastrowid
    dialogs: dict[str, int | None] = {}
    for one in person.dialogs:
        taken = db.execute("SELECT 1 FROM dialogs WHERE dialog = ?", (one.number,)).fetchone()
        values = (None if taken else one.number, number, one.name, one.dialog_id, one.id,
                  one.bot_id, one.channel_type, one.date_start, one.active, bool(one.ratings),
                  one.attributes, one.round)  # fmt: skip
        dialog = dialogs[one.dialog_id] = db.execute(SQL["copy_dialog"], values).lastrowid
        _put_dialog(db, one, dialog)
    put("add_feed", [(number, row.n, dialogs[row.dialog_id], row.message, names[row.dialog_name],
                      row.id, row.closing) for row in person.feed])  # fmt: skip
    put("add_requests", [(number, request.key, request.hash, request.turn_id,
                          dialogs[request.dialog_id], request.at, request.outcome)
                         for request in person.requests])  # fmt: skip
    put("copy_open_turn", [(number, turn.turn_id, dialogs[turn.dialog_id], turn.n, turn.started,
                            turn.attempts, turn.request_key, turn.request_hash, turn.opening,
                            names[turn.dialog_name], turn.id)
                           for turn in person.open_turns])  # fmt: skip


def _put_records(db: sqlite3.Connection, person: StoredPerson) -> None:
    for record in person.records:
        found = (
            db.execute(SQL["dialog_about"], (record.about,)).fetchone() if record.about else None
        )
        dialog = None if found is None else found[0]
        db.execute(SQL["put_record"], (person.user, record.kind, record.key, record.body, dialog))


def _put_dialog(db: sqlite3.Connection, stored: StoredDialog, dialog: int | None) -> None:
    db.executemany(
        SQL["add_versions"],
        [(stored.bot_id, v.number, v.changes, v.state) for v in stored.bot],
    )
    places: dict[int, int | None] = {}
    for said in stored.utterances:
        values = (None, dialog, said.position, said.utt_id, said.by_bot, said.user_version,
                  said.date_time, said.body)  # fmt: skip
        place = places[said.position] = db.execute(SQL["add_utterances"], values).lastrowid
        if said.hypotheses is not None:
            db.execute(SQL["add_hypotheses"], (place, said.hypotheses))
    db.executemany(SQL["add_spoke"], [(skill, dialog) for skill in stored.skills])
    if stored.facts is None:
        db.execute(SQL["copy_facts"], (dialog,))
    else:
        *counts, last, channel = structs.astuple(stored.facts)
        place = None if last is None else places[last]
        db.execute(SQL["add_facts"], (dialog, *counts, place, channel))
    ids = {said.position: said.utt_id for said in stored.utterances}
    _records(db).put_back(
        [(places[turn.position] or 0, ids[turn.position], turn) for turn in stored.turns]
    )
    for rating in stored.ratings:
        place = None if rating.position is None else places[rating.position]
        db.execute(SQL["add_rating"], (dialog, place, rating.value, rating.shown))
