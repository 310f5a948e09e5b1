"""Numbered migrations: each brings the database from a version to the next, in a transaction.

Programs of two versions may share a database during a rolling upgrade, so migrations only add. A
migration unfit for old programs carries the line `-- breaking` and refuses programs of older
versions.
"""

from __future__ import annotations

import re
from typing import Final

from prolocutor.errors import StoreError
from prolocutor.plugins.postgresql.database_line import DatabaseLine
from prolocutor.plugins.postgresql.statements import SQL
from prolocutor.plugins.postgresql.store_url import StoreUrl
from prolocutor.stores.statements import read_migrations

_SCRIPTS: Final = read_migrations("prolocutor.plugins.postgresql")
NEWEST: Final = max(_SCRIPTS)

LOCK_KEY: Final = 7_032_001
"""The key of the advisory lock under which the database is migrated."""

_BREAKING: Final = re.compile(r"^-- breaking$", re.MULTILINE)


async def read_version(line: DatabaseLine, shown: str) -> int:
    """Return the version of the database, 0 if it is new; raise `StoreError` if it is too new."""
    (row,) = await line.fetch(SQL["has_migrations"], within=30.0)
    if not row[0]:
        return 0
    (row,) = await line.fetch(SQL["last_migration"], within=30.0)
    version, breaking = int(row[0]), int(row[1])
    if breaking > NEWEST:
        raise StoreError(
            f"{shown}: was changed by a later release (version {breaking}, this one knows "
            f"{NEWEST}); install that release"
        )
    return version


def breaks(version: int) -> bool:
    """Return whether programs of a version cannot use the newest version."""
    return any(number > version and _BREAKING.search(script) for number, script in _SCRIPTS.items())


async def migrate(line: DatabaseLine, url: StoreUrl) -> int:
    """Migrate the database, or a schema in it, to the newest version; return the number of steps.

    Of several processes at once, the first migrates while the others wait.
    """
    if await read_version(line, url.shown) >= NEWEST:
        return 0
    await line.execute("BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
    try:
        await line.fetch(SQL["lock_migrations"], LOCK_KEY, within=600.0)
        (row,) = await line.fetch(SQL["has_schema"], within=30.0)
        if url.schema and not row[0]:
            await line.execute(f"CREATE SCHEMA {url.schema}")
        version = await read_version(line, url.shown)
        done = 0
        for number, script in _SCRIPTS.items():
            if number > version:
                await line.execute(script)
                breaking = _BREAKING.search(script) is not None
                await line.fetch(SQL["add_migration"], number, breaking, within=30.0)
                done += 1
        await line.execute("COMMIT")
    except BaseException:
        if line.is_up:
            await line.execute("ROLLBACK")
        raise
    return done
