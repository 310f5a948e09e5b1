"""What old rows cost: rows are written and deleted as days go by, and tables are measured.

    python bench/retention.py [--rows 10000000] [--cycles 10] [--usual]

Each cycle writes dialogs of a day (ten turns each, rows of the size that turns have) and deletes
those of the oldest day, as `prolocutor dialogs delete --older-than` does. Two days are kept.
`--usual` takes PostgreSQL's own settings of autovacuum in place of ours.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import shutil
import sys
import tempfile
import time
from pathlib import Path

import asyncpg

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.replicas import server_seconds
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from tests.postgresql_server import PostgresqlServer

TURNS = 10
A_DIALOG = 5 * TURNS + 4
"""Rows of a dialog: two utterances, two of the feed and a version a turn, and its own."""
TABLES = ("utterances", "feed", "versions", "people", "dialogs")
RESET = (
    "autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,"
    " autovacuum_analyze_scale_factor, autovacuum_vacuum_cost_delay"
)
FILL = Path(__file__).with_name("retention.sql").read_text("utf-8")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="written in all")
    parser.add_argument("--cycles", type=int, default=10)
    parser.add_argument("--usual", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    server = PostgresqlServer(
        Path(tempfile.mkdtemp(prefix="prolocutor-retention-")),
        autovacuum="on",
        shared_buffers="256MB",
        autovacuum_naptime="5s",
        max_wal_size="4GB",
    )
    server.folder.chmod(0o755)
    try:
        server.make()
        server.start()
        server.execute("CREATE DATABASE cell")
        await cycles(server, options)
    finally:
        server.stop()
        shutil.rmtree(server.folder)


async def cycles(server: PostgresqlServer, options: argparse.Namespace) -> None:
    store = PostgresqlStore(server.url("cell"), durability="full")
    await store.open()
    connection = await asyncpg.connect(server.url("cell"))
    await connection.execute(FILL)
    if options.usual:
        changed = "SELECT oid::regclass FROM pg_class WHERE reloptions::text LIKE '%autovac%'"
        for (table,) in await connection.fetch(changed):
            await connection.execute(f"ALTER TABLE {table} RESET ({RESET})")
    dialogs = options.rows // options.cycles // A_DIALOG
    written = deleted = 0
    print("| day | written | deleted | dialogs deleted a second | CPU ms a dialog | tables, MB |"
          " indexes, MB | dead rows |\n|---|---|---|---|---|---|---|---|")  # fmt: skip
    for day in range(options.cycles):
        for first in range(0, dialogs, 2000):
            number = min(2000, dialogs - first)
            await connection.execute("SELECT fill_day($1, $2, $3)", day, first, number)
        written += dialogs * A_DIALOG
        rate, cpu = 0.0, 0.0
        if day >= 2:
            before = f"2024-01-{day:02} 00:00:00.000000"
            start, used = time.perf_counter(), server_seconds(server)
            gone = await store.delete_older(before)
            rate = gone / (time.perf_counter() - start)
            cpu = 1000 * (server_seconds(server) - used) / gone
            deleted += gone * A_DIALOG
        rows = await connection.fetch("SELECT * FROM sizes($1)", list(TABLES))
        tables, indexes = (sum(row[n] for row in rows) / 1e6 for n in ("rows", "indexes"))
        dead = sum(row["dead"] for row in rows)
        print(f"| {day} | {written:,} | {deleted:,} | {rate:.0f} | {cpu:.1f} | {tables:.0f} |"
              f" {indexes:.0f} | {dead:,} |", flush=True)  # fmt: skip
    await connection.close()
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(main())
