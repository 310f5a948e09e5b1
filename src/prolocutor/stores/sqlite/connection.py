"""Connections to the file, and what SQLite's errors mean."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec

from prolocutor.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked

SYNCHRONOUS: Final = {"full": 2, "relaxed": 1}
CHECKPOINT_PAGES: Final = 1000
CACHE_KIBIBYTES: Final = 2_048
"""More is no faster (`bench/store.py`): turns write few pages; the system caches the others."""
BUSY_MS: Final = 5000
MEMORY: Final = Path(":memory:")
"""What SQLite calls a database without a file."""


def connect(path: Path, *, read_only: bool, any_thread: bool = False) -> sqlite3.Connection:
    """Open a connection for the thread that calls this; it begins no transaction by itself.

    `any_thread`: other threads may use it too, one at a time. `MEMORY` is a new database of this
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

    `secure_delete` overwrites with zeros what is deleted. In the write-ahead log the old pages
    stay until the log is checkpointed and truncated, which a deletion of a person does at its end.
    """
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIBIBYTES}")
    connection.execute("PRAGMA temp_store = MEMORY")


def translated(error: Exception, path: Path) -> Exception:
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
    """Make a new file that only its owner may read."""
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))


def _is_full(path: Path) -> bool:
    try:
        return os.statvfs(path.parent).f_bavail == 0
    except OSError:
        return False
