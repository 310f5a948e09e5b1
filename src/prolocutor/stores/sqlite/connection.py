"""Connections to the file, and the meaning of SQLite's errors."""

from __future__ import annotations

import functools
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Final
from urllib.parse import quote

import msgspec

from prolocutor.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked
from prolocutor.stores.statements import read_migrations

_SCRIPTS: Final = read_migrations("prolocutor.stores.sqlite")
NEWEST: Final = max(_SCRIPTS)

LOOK_EVERY: Final = 0.02
"""Seconds between looks for a removed file: a look costs a tenth of a turn. Replies confirmed just
before a removal are lost as well.
"""

FileNumber = tuple[int, int]
"""A device and the number of a file on it, equal for all names of the file."""

APPLICATION_ID: Final = int.from_bytes(b"Prlc")
"""Marks the header of our files, so that other SQLite files are left alone."""

SYNCHRONOUS: Final = {"full": 2, "relaxed": 1}
CHECKPOINT_PAGES: Final = 1000
CACHE_KIBIBYTES: Final = 2_048
"""More is no faster (`bench/store.py`): turns write few pages; the system caches the others."""
BUSY_MS: Final = 5000
MEMORY: Final = Path(":memory:")
"""SQLite's name for a database without a file."""


class StoreFile:
    """Notices the removal or replacement of the store's file or its write-ahead log.

    Later writes are lost when the process ends, so they may not be confirmed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = f"{os.path.realpath(path)}-wal"
        self._number: FileNumber | None = None
        self._log_number: FileNumber | None = None
        self._look_at = 0.0

    def remember(self) -> None:
        """Remember which file was opened."""
        self._number, self._log_number = file_number(self._path), None

    def log_size(self) -> int:
        """Return the bytes of the write-ahead log."""
        return os.stat(self._log).st_size

    def check(self) -> None:
        """Raise `StoreError` unless the path still leads to the opened file."""
        now = monotonic()
        if now < self._look_at:
            return
        found = file_number(self._path)
        if found != self._number:
            what = "was removed" if found is None else "was replaced by another file"
            raise StoreError(
                f"{self._path}: {what} while it was in use; put the old one back, or start again"
            )
        found = file_number(self._log)
        if self._log_number is None:
            self._log_number = found
        elif found != self._log_number:
            raise StoreError(
                f"{self._log}: was removed or replaced while it was in use; put it back, or stop"
                " and check the store (prolocutor store check)"
            )
        self._look_at = now + LOOK_EVERY


def file_number(path: str | os.PathLike[str]) -> FileNumber | None:
    """Return the number of the file at a path; None if there is no file."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def file_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the file, 0 if it is empty; raise for other files and newer versions.

    It only reads, so a refused file is unchanged.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application != APPLICATION_ID:
        if application or version or tables:
            raise StoreCorrupt(f"{path}: is a SQLite file, but no store of ours; name another file")
        return 0
    if version > NEWEST:
        raise StoreError(
            f"{path}: was written by a later release (version {version}, this one knows {NEWEST}); "
            "install that release"
        )
    return int(version)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a file of this version to the newest version; an empty one by a copy of a new one."""
    if version == 0:
        with closing(sqlite3.connect(MEMORY)) as new:
            new.deserialize(_new_database())
            new.backup(connection)
        return
    _run_scripts(connection, version)


@functools.cache
def _new_database() -> bytes:
    """Return an empty database of the newest version."""
    with closing(sqlite3.connect(MEMORY, isolation_level=None)) as connection:
        _run_scripts(connection, 0)
        return connection.serialize()


def _run_scripts(connection: sqlite3.Connection, version: int) -> None:
    for number, script in _SCRIPTS.items():
        if number > version:
            connection.execute("BEGIN IMMEDIATE")
            for statement in _statements(script):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def connect(path: Path, *, read_only: bool, any_thread: bool = False) -> sqlite3.Connection:
    """Open a connection for the calling thread; it begins no transaction by itself.

    `any_thread`: other threads may use it in turn. `MEMORY` is a new database of this
    connection's own.
    """
    if path == MEMORY:
        return sqlite3.connect(path, isolation_level=None, cached_statements=1024)
    if not read_only:
        _make_private(path)
    mode = "ro" if read_only else "rw"
    return sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        isolation_level=None,
        cached_statements=1024,
        timeout=BUSY_MS / 1000,
        check_same_thread=not any_thread,
    )


def prepare_writing(connection: sqlite3.Connection, durability: str) -> None:
    """Configure an owner's connection: write-ahead log, durability, secure deletion.

    `secure_delete` overwrites deleted data with zeros. In the write-ahead log the old pages stay
    until the log is checkpointed and truncated, which a deletion of a person does at its end.
    """
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIBIBYTES}")
    connection.execute("PRAGMA temp_store = MEMORY")


def translate_error(error: Exception, path: Path) -> Exception:
    """Return the `StoreError` for an error of SQLite or of the system; others as they are."""
    if isinstance(error, OSError):
        return StoreError(f"{path}: {error.strerror or error}")
    if isinstance(error, msgspec.DecodeError | UnicodeDecodeError):
        return StoreCorrupt(f"{path}: what is stored cannot be read; put back a copy of the file")
    if not isinstance(error, sqlite3.Error):
        return error
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path)):
        return StoreFull(f"{path}: the disk is full; free some space and send it again")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreCorrupt(f"{path}: {error}; put back a copy of it, or name another file")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(f"{path}: another program is holding the file; stop it and try again")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StoreError(f"{path}: cannot be opened; is it there, and may it be read and written?")
    return StoreError(f"{path}: {error}")


def _make_private(path: Path) -> None:
    """Make a new file for its owner alone."""
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))


def _is_full(path: Path) -> bool:
    try:
        return os.statvfs(path.parent).f_bavail == 0
    except OSError:
        return False
