"""SqliteWriter: does jobs in groups, with one transaction and one wait for the disk each."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from prolocutor.errors import BadInput, RoundChanged, StoreLost
from prolocutor.stores.sqlite.connection import (
    BUSY_MS,
    MEMORY,
    StoreFile,
    connect,
    file_version,
    migrate,
    prepare_writing,
    translate_error,
)
from prolocutor.stores.sqlite.head_cache import HeadCache
from prolocutor.stores.sqlite.maintenance import Erasure, Maintenance, PageGaps
from prolocutor.stores.sqlite.queries import SQL, PendingRows
from prolocutor.stores.sqlite.turn_record_writer import TurnRecordWriter
from prolocutor.stores.sqlite.turn_writer import AgendaWriter, RequestLog, TurnWriter
from prolocutor.stores.sqlite.worker_thread import StoreJob

WAL_BYTES: Final = 64 * 1024 * 1024
"""A write-ahead log above this size is truncated, even if readers have to wait for that."""
CHECK_LOG_AFTER: Final = 256
"""Commits between two checks of the size of the write-ahead log."""
DELETE_EXPIRED_AFTER: Final = 16
"""Commits between two deletions of expired requests."""
PATIENCE_MS: Final = 200
"""Milliseconds that truncating the log may wait for readers."""


class SqliteWriter:
    """Owns the connection for writing. Everything here is called in the writer's thread."""

    def __init__(self, path: Path, durability: str) -> None:
        self.path = path
        self.file = StoreFile(path)
        self._durability = durability
        self.commits = 0
        """Groups written so far."""

    def open(self) -> None:
        """Open the file, bring it up to date and become its next generation of owners."""
        try:
            connection = connect(self.path, read_only=False)
            self.file.remember()
        except (OSError, sqlite3.Error) as error:
            raise translate_error(error, self.path) from error
        try:
            version = file_version(connection, self.path)
            prepare_writing(connection, self._durability)
            migrate(connection, version)
            connection.execute(SQL["next_generation"])
            (self._generation,) = connection.execute(SQL["generation"]).fetchone()
            self._rows = PendingRows()
            self.heads = HeadCache(connection, self._rows)
            self.agenda = AgendaWriter(connection)
            self.requests = RequestLog(connection, self._rows)
            self.turns = TurnWriter(connection, self._rows, self.heads, self.agenda, self.requests)
            self.turn_records = TurnRecordWriter(connection, self._rows, self.turns.replies)
            self._gaps = None if self.path == MEMORY else PageGaps(self.path, connection)
            self.erasure = Erasure(connection, self.turn_records, self._gaps)
            self.upkeep = Maintenance(
                connection, self._rows, self.heads, self.turn_records, self.erasure
            )
        except BaseException as error:
            connection.close()
            if isinstance(error, Exception):
                raise translate_error(error, self.path) from error
            raise
        self.connection = connection

    def close(self) -> None:
        """Checkpoint the write-ahead log and close the file."""
        self.connection.close()
        if self._gaps is not None:
            self._gaps.close()

    def setting(self, pragma: str) -> Any:
        """Return the value of a PRAGMA of this connection."""
        (value,) = self.connection.execute(f"PRAGMA {pragma}").fetchone()
        return value

    def run(self, jobs: list[StoreJob]) -> list[Any]:
        """Do the jobs in one transaction; after a failure do each in a transaction of its own."""
        try:
            return self.commit(jobs)
        except Exception as error:
            if len(jobs) == 1:
                return [translate_error(error, self.path)]
        # The transaction was rolled back as a whole: a single bad job, or a disk with room for only
        # some of them, must not fail the others.
        return [self._alone(job) for job in jobs]

    def commit(self, jobs: list[StoreJob]) -> list[Any]:
        """Do the jobs in a transaction; raise the exception of a job after a rollback."""
        connection = self.connection
        self.file.check()
        try:
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute(SQL["generation"]).fetchone() != (self._generation,):
                raise StoreLost(f"{self.path}: another process took over this store")
            outcomes = [_done(job) for job in jobs]
            self._rows.write(connection)
            if self.commits % DELETE_EXPIRED_AFTER == 0:
                self.requests.delete_expired()
            connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        self.commits += 1
        self.heads.trim()
        with suppress(OSError, sqlite3.Error):  # the turns are safe; it is done later
            if self.erasure.due:
                self.erasure.overwrite(self._cut_log)
            elif self.commits % CHECK_LOG_AFTER == 0 and self.file.log_size() > WAL_BYTES:
                self._cut_log()
        return outcomes

    def _alone(self, job: StoreJob) -> Any:
        try:
            return self.commit([job])[0]
        except Exception as error:
            return translate_error(error, self.path)

    def _cut_log(self) -> bool:
        """Checkpoint and truncate the write-ahead log; return False if a reader prevents it."""
        self.connection.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
        busy, _, _ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self.connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        return not busy

    def _roll_back(self) -> None:
        self._rows.clear()
        self.heads.clear()
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")


def _done(job: StoreJob) -> Any:
    """Do a job; bad input and a changed round are its own outcome and change nothing."""
    function, args = job
    try:
        return function(*args)
    except (BadInput, RoundChanged) as error:
        return error
