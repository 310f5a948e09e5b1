"""Numbered migrations: each brings the file from one version to the next, in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Final

from prolocutor.errors import StoreCorrupt, StoreError

APPLICATION_ID: Final = int.from_bytes(b"Prlc")
"""Marks the header of our files, so that other SQLite files are left alone."""


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the file, 0 if it is empty; raise for other files and newer versions.

    Only reads, so that a file that is refused stays as it was.
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
    """Bring a file of that version to the newest one."""
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


def _read() -> dict[int, str]:
    folder = files("prolocutor.stores.sqlite") / "sql" / "migrations"
    scripts = {int(file.name[:4]): file.read_text(encoding="utf-8") for file in folder.iterdir()}
    return dict(sorted(scripts.items()))


_SCRIPTS: Final = _read()
NEWEST: Final = max(_SCRIPTS)
