"""What a turn costs in the shared store beside SQLite: CPU of client and server, apart, and ratios.

    python bench/replicas.py [--rounds N] [--write]

Each kind of store is measured in turns, round after round, and the least of the rounds counts. The
client's CPU is this process's (getrusage), less what the caller does; the server's is that of all
its processes (/proc), autovacuum and the writer of the log included. The server runs in memory, so
that CPU shows, with `fsync` off and everything else as it comes. The turn is that of
`bench/store.py`.
"""

import argparse
import asyncio
import logging
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.store import CALLER_US, openings, run, talk
from prolocutor.contracts.store import Store
from prolocutor.plugins.postgresql.closings import Closings
from prolocutor.plugins.postgresql.database_line import DatabaseLine
from prolocutor.plugins.postgresql.lanes import Lane
from prolocutor.plugins.postgresql.openings import Openings
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from tests.postgresql_server import PostgresqlServer, quick_folder

PAGE = Path(__file__).parents[1] / "bench" / "README.md"
POOL = 10
TICKS = os.sysconf("SC_CLK_TCK")


class Cost(msgspec.Struct):
    """CPU microseconds a turn, of this process and of the database's; calls a turn."""

    client: float
    server: float
    calls: float

    @property
    def both(self) -> float:
        return self.client + self.server


class Remembering(PostgresqlStore):
    """The store as it is."""


class Forgetful(PostgresqlStore):
    """The store, remembering nothing: each turn reads its head."""

    async def close_turn(self, closing: Any) -> None:
        await super().close_turn(closing)
        self.remembered.drop(closing.opened.opening.user)


class Ungrouped(PostgresqlStore):
    """The store with a call for each trip, on a pool of ten connections in each direction."""

    def __init__(self, url: str, *, durability: str = "full") -> None:
        super().__init__(url, durability=durability)
        self.openings = Pool(self, Openings)  # type: ignore[assignment]
        self.closings = Pool(self, Closings)  # type: ignore[assignment]

    def a_line(self) -> DatabaseLine:
        return self._lines._line("one of a pool", 5_000)


class Pool:
    """Lanes of which each sends what it has by itself."""

    def __init__(self, store: Ungrouped, kind: type[Openings] | type[Closings]) -> None:
        lines = [store.a_line() for _ in range(POOL)]
        self._lanes = [
            Lane[Any](line, kind(line, store._membership, store.remembered), at_most=1)
            for line in lines
        ]
        self._next = 0

    @property
    def calls(self) -> int:
        return sum(lane.calls for lane in self._lanes)

    def submit(self, item: Any) -> asyncio.Future[Any]:
        self._next = (self._next + 1) % POOL
        return self._lanes[self._next].submit(item)

    async def wait_until_empty(self) -> None:
        for lane in self._lanes:
            await lane.wait_until_empty()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=2000, help="turns of a round at 100 at once")
    parser.add_argument("--write", action="store_true", help="write bench/README.md")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # that there is no standby
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        server = PostgresqlServer(quick_folder(), autovacuum="on", shared_buffers="256MB")
        try:
            server.make()
            server.start()
            costs = measure_all(server, Path(folder), options.rounds, options.turns)
        finally:
            server.stop()
            shutil.rmtree(server.folder)
    lines = report(costs)
    print("\n".join(lines))
    if options.write:
        write(lines)


def measure_all(
    server: PostgresqlServer, folder: Path, rounds: int, turns: int
) -> dict[tuple[str, int], Cost]:
    def shared(kind: type[PostgresqlStore]) -> Callable[[str], Store]:
        def make(name: str) -> Store:
            server.execute(f"CREATE DATABASE {name}")
            return kind(server.url(name))

        return make

    kinds: dict[str, Callable[[str], Store]] = {
        "SQLite": lambda name: SqliteStore(folder / f"{name}.db"),
        "PostgreSQL": shared(Remembering),
        "heads not remembered": shared(Forgetful),
        "one call a trip": shared(Ungrouped),
    }
    found: dict[tuple[str, int], Cost] = {}
    for number in range(rounds):
        for at_once in (1, 10, 100, 500):
            for place, (kind, make) in enumerate(kinds.items()):
                if place >= 2 and at_once != 100:
                    continue
                name = f"bench_{number}_{at_once}_{place}"
                each = max(2, min(turns, turns // 10 * (1 + at_once // 10)) // at_once)
                cost = asyncio.run(measure(server, make(name), at_once, each))
                before = found.get((kind, at_once), cost)
                found[kind, at_once] = Cost(
                    min(before.client, cost.client), min(before.server, cost.server), cost.calls
                )
    return found


async def measure(server: PostgresqlServer, store: Store, at_once: int, each: int) -> Cost:
    await store.open()
    await run(store, at_once, 5)
    prepared = [[*openings(f"user {n}", each)] for n in range(at_once)]
    calls = getattr(store, "commits", 0)
    usage, of_server = resource.getrusage(resource.RUSAGE_SELF), server_seconds(server)
    await asyncio.gather(*(talk(store, some) for some in prepared))
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = server_seconds(server) - of_server
    calls = getattr(store, "commits", 0) - calls
    await store.aclose()
    count = at_once * each
    client = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    return Cost(client / count * 1e6 - CALLER_US, used / count * 1e6, calls / count)


def server_seconds(server: PostgresqlServer) -> float:
    """Return the CPU seconds of the server's processes, those that have ended included."""
    parent = int((server.data / "postmaster.pid").read_text().split()[0])
    total = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(entry.name) == parent:
                total += sum(int(field) for field in fields[11:15])
            elif int(fields[1]) == parent:
                total += int(fields[11]) + int(fields[12])
    return total / TICKS


def report(costs: dict[tuple[str, int], Cost]) -> list[str]:
    def of(kind: str) -> Cost:
        return costs[kind, 100]

    sqlite, grouped = of("SQLite"), of("PostgreSQL")
    ratios = [
        ("PostgreSQL's client / SQLite's whole", grouped.client / sqlite.client, 1.3),
        ("PostgreSQL, client and server / SQLite", grouped.both / sqlite.client, 4.5),
        ("grouped / one call a trip, both sides", grouped.both / of("one call a trip").both, 0.2),
        ("heads remembered / not, server", grouped.server / of("heads not remembered").server, 0.7),
    ]
    lines = ["| store | at once | client, µs a turn | server, µs a turn | calls a turn |",
             "|---|---|---|---|---|"]  # fmt: skip
    for (kind, at_once), cost in sorted(costs.items(), key=lambda one: (one[0][1], one[0][0])):
        server = "-" if kind == "SQLite" else f"{cost.server:.0f}"
        lines.append(f"| {kind} | {at_once} | {cost.client:.0f} | {server} | {cost.calls:.3f} |")
    lines += ["", "| ratio at 100 at once | measured | goal, at most |", "|---|---|---|"]
    lines += [f"| {name} | {value:.2f} | {goal} |" for name, value, goal in ratios]
    return lines


def write(lines: list[str]) -> None:
    """Put the tables into the page, between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    start, end = "<!-- replicas -->\n", "<!-- /replicas -->"
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{start}\n" + "\n".join(lines) + f"\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    begun = time.time()
    main()
    print(f"\n{time.time() - begun:.0f} s")
