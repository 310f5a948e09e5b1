"""What a system of many people needs, from the measured costs of a turn, and what breaks first.

    python bench/simulate.py [--people 10000000] [--turns 50000] [--skills 10] [--state 1850] ...

No machine of that size is asked. A database under load is simulated call by call, as the lanes of
the replicas make them: what waits goes out as one call, which costs its own CPU and a little for
each trip in it, then waits for the disk. The rest is multiplication. Unit costs are those of
`bench/replicas.py`, `bench/workers.py` and `bench/turns.py`; give others as options.
"""

from __future__ import annotations

import argparse
import heapq
import random
import statistics
from collections import deque
from typing import Final

import msgspec

MICRO: Final = 1e-6
DAY: Final = 86_400
FULL: Final = 0.6
"""The load of a core or a line beyond which people begin to wait."""


class UnitCosts(msgspec.Struct, frozen=True, kw_only=True):
    """CPU in microseconds, sizes in bytes; what each was measured with stands beside it."""

    engine: float = 320.0  # a turn in a replica with its door, bench/README.md
    store_client: float = 74.0  # a turn's two trips in a replica, bench/replicas.py at 100 at once
    call: float = 450.0  # one call in the database, whatever is in it
    trip: float = 80.0  # each trip in it
    flush: float = 1500.0  # a commit on NVMe with a quorum standby; no CPU
    nats_client: float = 11.0  # a call of a skill in a replica, bench/workers.py at 100 at once
    nats_server: float = 10.0
    log: float = 4200.0  # bytes of write-ahead log a turn
    kept: float = 2500.0  # bytes a turn in the tables and indexes
    socket: float = 29_000.0  # memory of an open connection


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """The machines of one cell."""

    cores: int = 8  # of the database
    disk: float = 4e12
    network: float = 10e9 / 8  # bytes a second in each direction
    nats_cores: int = 8


class LaneLoad(msgspec.Struct, frozen=True):
    """A database under load: trips in a call, cores busy, how long a trip takes (milliseconds)."""

    asked: float
    served: float
    grouped: float
    cores: float
    median: float
    slow: float


def database(
    turns: float, replicas: int, cell: Cell, costs: UnitCosts, seconds: float = 2.0
) -> LaneLoad:
    """Simulate one database: `replicas` with a lane in each direction, two trips a turn."""
    rng = random.Random(1)
    lanes: list[deque[float]] = [deque() for _ in range(2 * replicas)]
    busy = [False] * len(lanes)
    free = [0.0] * cell.cores
    events: list[tuple[float, int, list[float]]] = []
    used = 0.0
    calls = trips = 0
    times: list[float] = []

    def send(lane: int, now: float) -> None:
        nonlocal used, calls, trips
        group = [*lanes[lane]]
        lanes[lane].clear()
        busy[lane] = True
        work = (costs.call + costs.trip * len(group)) * MICRO
        start = max(now, heapq.heappop(free))
        heapq.heappush(free, start + work)
        heapq.heappush(events, (start + work + costs.flush * MICRO, lane, group))
        used, calls, trips = used + work, calls + 1, trips + len(group)

    def finish(until: float) -> None:
        while events and events[0][0] <= until:
            done, lane, group = heapq.heappop(events)
            times.extend(done - begun for begun in group)
            busy[lane] = False
            if lanes[lane]:
                send(lane, done)

    now = 0.0
    while now < seconds:
        now += rng.expovariate(2 * turns)
        finish(now)
        lane = rng.randrange(len(lanes))
        lanes[lane].append(now)
        if not busy[lane]:
            send(lane, now)
    served = len(times) / 2 / now
    cuts = statistics.quantiles(times, n=100)
    return LaneLoad(turns, served, trips / calls, used / now, cuts[49] * 1e3, cuts[98] * 1e3)


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of the whole: people, turns a second at the peak, calls of skills in a turn."""

    people: float
    turns: float
    skills: int
    state: float
    online: float = 0.1
    mean: float = 0.2

    def needs(self, costs: UnitCosts, cell: Cell) -> list[tuple[str, str, str]]:
        """Return what there has to be: name, amount, how it was found."""
        turn = costs.engine + costs.store_client + self.skills * costs.nats_client
        replica_cores = self.turns * turn * MICRO
        calls = self.turns * self.skills
        database_cores = self.turns * 2 * (costs.call + costs.trip) * MICRO
        grouped = self.turns * 2 * (costs.call / 8 + costs.trip) * MICRO
        kept = self.turns * self.mean * costs.kept * DAY
        sockets = self.people * self.online
        return [
            (
                "replicas",
                f"{replica_cores / FULL:,.0f} processes",
                f"{turn:,.0f} us a turn, {FULL:.0%} busy",
            ),
            (
                "databases",
                f"{grouped:,.0f} to {database_cores:,.0f} cores",
                "eight trips a call, to one",
            ),
            (
                "cells",
                f"{self.cells(costs, cell)}",
                f"of {cell.cores} cores, each with a quorum standby",
            ),
            (
                "write-ahead log",
                f"{self.turns * costs.log / 1e6:,.0f} MB/s",
                f"{costs.log:,.0f} B a turn",
            ),
            (
                "kept",
                f"{kept / 1e12:.2f} TB a day",
                f"{costs.kept:,.0f} B a turn, mean {self.mean:.0%} of the peak",
            ),
            ("calls of skills", f"{calls:,.0f} a second", f"{self.skills} a turn"),
            (
                "NATS",
                f"{calls * costs.nats_server * MICRO:,.1f} cores",
                f"{costs.nats_server:.0f} us a call",
            ),
            (
                "bytes of calls",
                f"{calls * self.state / 1e9:,.2f} GB/s",
                f"{self.state:,.0f} B each way once",
            ),
            (
                "open connections",
                f"{sockets * costs.socket / 1e9:,.0f} GB",
                f"{sockets:,.0f} people online",
            ),
        ]

    def cells(self, costs: UnitCosts, cell: Cell) -> int:
        """Return how many cells it takes so that each database is busy to `FULL` at most."""
        alone = 2 * (costs.call + costs.trip) * MICRO
        return max(1, -(-int(self.turns * alone) // int(cell.cores * FULL)))

    def limits(self, costs: UnitCosts, cell: Cell, cells: int) -> list[tuple[float, str, str]]:
        """Return what of a cell is used up at the peak, the scarcest first: share, name, answer."""
        turns = self.turns / cells
        calls = turns * self.skills
        days = cell.disk / (turns * self.mean * costs.kept * DAY)
        grouped = 2 * (costs.call / 2 + costs.trip) * MICRO
        found = [
            (
                30 / days,
                f"what is kept: the disk is full in {days:.0f} days",
                "delete_older, archives",
            ),
            (
                calls * self.state / cell.network,
                "the network between replicas and workers",
                "window, formatters, skills in the process",
            ),
            (turns * grouped / cell.cores, "the database's cores, two trips a call", "more cells"),
            (
                calls * costs.nats_server * MICRO / cell.nats_cores,
                "NATS's cores",
                "more servers in the cluster",
            ),
            (turns * costs.log / 400e6, "the database's log at 400 MB/s", "more cells"),
        ]
        return sorted(found, reverse=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--people", type=float, default=10e6)
    parser.add_argument("--turns", type=float, default=50_000, help="turns a second at the peak")
    parser.add_argument("--skills", type=int, default=10, help="calls of skills in a turn")
    parser.add_argument("--state", type=float, default=2200, help="bytes of one call of a skill")
    for name in UnitCosts.__struct_fields__:
        default = getattr(UnitCosts(), name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=default)
    given = vars(parser.parse_args())
    costs = UnitCosts(**{name: given[name] for name in UnitCosts.__struct_fields__})
    demand = Demand(**{name: given[name] for name in ("people", "turns", "skills", "state")})
    print("\n".join(report(demand, costs, Cell())))


def report(demand: Demand, costs: UnitCosts, cell: Cell) -> list[str]:
    """Return the tables."""
    lines = [
        f"## One database of {cell.cores} cores, a commit of {costs.flush / 1000:g} ms",
        "",
        "| turns/s asked | served | replicas | trips a call | cores busy | trip, median / 99 % |",
        "|---|---|---|---|---|---|",
    ]
    for turns, replicas in ((1000, 4), (5000, 12), (12_000, 24), (30_000, 24)):
        load = database(turns, replicas, cell, costs, 4000 / turns)
        lines.append(
            f"| {turns:,} | {load.served:,.0f} | {replicas} | {load.grouped:.1f} | {load.cores:.1f}"
            f" | {load.median:.1f} / {load.slow:.1f} ms |"
        )
    cells = demand.cells(costs, cell)
    lines += [
        "",
        f"## {demand.people:,.0f} people, {demand.turns:,.0f} turns a second at the peak",
        "",
        "| what | together | from |",
        "|---|---|---|",
        *(f"| {what} | {much} | {source} |" for what, much, source in demand.needs(costs, cell)),
        "",
        f"## What breaks first in each of {cells} cells",
        "",
        "| used at the peak | what | answer |",
        "|---|---|---|",
    ]
    limits = demand.limits(costs, cell, cells)
    lines += [f"| {share:.0%} | {what} | {answer} |" for share, what, answer in limits]
    lines += [
        "",
        "The disk counts as used up where it is full within 30 days. **First: "
        + limits[0][1]
        + ".**",
    ]
    return lines


if __name__ == "__main__":
    main()
