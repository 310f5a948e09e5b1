"""What turns cost over several PostgreSQL databases, and what it takes to grow from four to eight.

    python bench/cells.py cost [--cells 1,2,4]      CPU and milliseconds a turn: cells, and PL/Proxy
    python bench/cells.py grow [--people 4000]      half of them move while all talk

The databases are servers of their own, in memory with `fsync` off, so that CPU shows. `cells`: each
has a replica, and persons go to the one of their bucket. `pl/proxy`: a fifth server spreads groups
of turns over the databases (`SPLIT`); its functions do what the usual path of ours does, with one
row of each array a turn, since `SPLIT` takes no others (Debian's postgresql-15-plproxy).
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import resource
import shutil
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import asyncpg
from msgspec import structs

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.replicas import server_seconds
from bench.store import BOT, CALLER_US, FEED, HUMAN, HYPOTHESES, ending, openings
from prolocutor.contracts.store import AnsweredRequest, OpenedTurn
from prolocutor.contracts.turn_record_store import ConversationQuery
from prolocutor.dialog import plain
from prolocutor.errors import PersonBusy, PersonMoved, StoreError, TakenOver
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.plugins.transfer import person_moves
from tests.postgresql_server import PostgresqlServer, quick_folder

SPLIT = Path(__file__).with_name("cells.sql").read_text("utf-8")
PROXY = Path(__file__).with_name("cells_proxy.sql").read_text("utf-8")
PROGRAM = Path(sys.executable).with_name("prolocutor")


@contextmanager
def servers(number: int) -> Iterator[list[PostgresqlServer]]:
    """Run servers, each with an empty database `cell`."""
    made = [
        PostgresqlServer(
            quick_folder(), autovacuum="on", shared_buffers="128MB", max_connections="60"
        )
        for _ in range(number)
    ]
    try:
        for one in made:
            one.make()
            one.start()
            one.execute("CREATE DATABASE cell")
        yield made
    finally:
        for one in made:
            one.stop()
            shutil.rmtree(one.folder)


class Meter:
    """CPU seconds of this process and of servers since it was made."""

    def __init__(self, made: Sequence[PostgresqlServer]) -> None:
        self._servers = made
        self._start = self._now()

    def _now(self) -> tuple[float, float, float]:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        server = sum(server_seconds(one) for one in self._servers)
        return usage.ru_utime + usage.ru_stime, server, time.perf_counter()

    def line(self, name: str, turns: int, trips: list[float]) -> str:
        client, server, wall = (b - a for a, b in zip(self._start, self._now(), strict=True))
        return (
            f"| {name} | {client / turns * 1e6 - CALLER_US:.0f} | {server / turns * 1e6:.0f} |"
            f" {turns / wall:.0f} | {1000 * median(trips):.1f} |"
        )


async def cost_of_cells(number: int, at_once: int, each: int) -> str:
    with servers(number) as made:
        stores = [PostgresqlStore(one.url("cell"), durability="full") for one in made]
        for store in stores:
            await store.open()
            await store.join(600.0)
        trips: list[float] = []

        async def talk(user: str, turns: int) -> None:
            store = stores[person_moves.person_bucket(user) * number // person_moves.BUCKET_COUNT]
            for opening in openings(user, turns):
                start = time.perf_counter()
                opened = await store.open_turn(opening)
                assert isinstance(opened, OpenedTurn)
                await store.close_turn(ending(opened))
                trips.append(time.perf_counter() - start)

        people = [f"user {n}" for n in range(at_once)]
        await asyncio.gather(*(talk(user, 5) for user in people))
        trips.clear()
        meter = Meter(made)
        await asyncio.gather(*(talk(user, each) for user in people))
        line = meter.line(f"cells | {number} | {at_once}", at_once * each, trips)
        for store in stores:
            await store.aclose()
        return line


class Group:
    """Calls a function with all that waits, one call at a time, as a lane does."""

    def __init__(self, connection: Any, function: str, casts: Sequence[str]) -> None:
        arguments = ", ".join(f"${n + 1}::{cast}" for n, cast in enumerate(("bigint", *casts)))
        self._statement = f"SELECT * FROM {function}({arguments})"
        self._connection = connection
        self._waiting: list[tuple[tuple[Any, ...], asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None

    async def call(self, *row: Any) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, future))
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())
        return await future

    async def _run(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            columns = [list(column) for column in zip(*(row for row, _ in group), strict=True)]
            rows = await self._connection.fetch(self._statement, 77, *columns)
            found = {row["who"]: row for row in rows}
            for row, future in group:
                future.set_result(found.get(row[0]))


async def cost_of_split(number: int, at_once: int, each: int, *, proxy: bool) -> str:
    """Measure the aligned functions: by PL/Proxy, or one connection pair to each database."""
    with servers(number + proxy) as made:
        shards = made[:number]
        for shard in shards:
            store = PostgresqlStore(shard.url("cell"), durability="full")
            await store.open()
            await store.aclose()
            shard.execute(SPLIT, "cell")
        fronts = shards
        if proxy:
            options = ", ".join(
                f"p{n} 'dbname=cell host=127.0.0.1 port={shard.port}'"
                for n, shard in enumerate(shards)
            )
            made[number].execute(PROXY % options, "cell")
            fronts = made[number:]
        begins, ends, lines = [], [], []
        for front in fronts:
            lines += [await asyncpg.connect(front.url("cell")) for _ in range(2)]
            begins.append(
                Group(lines[-2], "begin_split", ["text[]", "text[]", "float8[]", "bytea[]"])
            )
            ends.append(Group(lines[-1], "finish_split", ["text[]"] * 5 + ["bytea[]"] * 5))
        people = [f"user {n}" for n in range(at_once)]

        def place(user: str) -> int:
            return person_moves.person_bucket(user) * len(fronts) // person_moves.BUCKET_COUNT

        for n, user in enumerate(people):
            ids = [f"{kind}{n}" for kind in "abcd"]
            connection = lines[2 * place(user)]
            await connection.fetch("SELECT make_split($1, $2, $3, $4, $5)", user, *ids)
        trips: list[float] = []
        opening, human, bot = b"o" * 600, plain.encode(HUMAN), plain.encode(BOT)

        async def talk(user: str, first: int, turns: int) -> None:
            at = place(user)
            for n in range(first, first + turns):
                start = time.perf_counter()
                turn_id = f"{user} {n}"
                assert await begins[at].call(user, turn_id, 0.0, opening) is not None
                assert await ends[at].call(
                    user, turn_id, f"{turn_id} h", f"{turn_id} b", "2024-03-02 12:00:00.000000",
                    human, bot, HYPOTHESES, FEED, FEED,
                )  # fmt: skip
                trips.append(time.perf_counter() - start)

        await asyncio.gather(*(talk(user, 0, 5) for user in people))
        trips.clear()
        meter = Meter(made)
        await asyncio.gather(*(talk(user, 5, each) for user in people))
        name = "pl/proxy, SPLIT" if proxy else "the same functions, a connection to each"
        line = meter.line(f"{name} | {number} | {at_once}", at_once * each, trips)
        for connection in lines:
            await connection.close()
        return line


async def cost(options: argparse.Namespace) -> None:
    print("| how | databases | at once | client, µs | servers, µs | turns/s | ms a turn |")
    print("|---|---|---|---|---|---|---|")
    for number in map(int, options.cells.split(",")):
        for at_once in dict.fromkeys((100, 100 * number)):
            best: dict[str, str] = {}
            each = options.turns // at_once
            for _ in range(options.rounds):
                for name, line in (
                    ("cells", await cost_of_cells(number, at_once, each)),
                    ("direct", await cost_of_split(number, at_once, each, proxy=False)),
                    ("proxy", await cost_of_split(number, at_once, each, proxy=True)),
                ):
                    if name not in best or _servers(line) < _servers(best[name]):
                        best[name] = line
            print("\n".join(best.values()), flush=True)


def _servers(line: str) -> int:
    return int(line.split("|")[5])


# -- growing ------------------------------------------------------------------------------------


class Growth:
    """Eight databases, four of which have all the people at first; they talk all the time."""

    def __init__(self, made: Sequence[PostgresqlServer], people: int) -> None:
        self.made = made
        self.stores: list[PostgresqlStore] = []
        self.people = [f"user {n}" for n in range(people)]
        self.cell = {user: person_moves.person_bucket(user) // 1024 for user in self.people}
        self.said: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.waits: list[float] = []
        self.enough = False

    async def open(self) -> None:
        for one in self.made:
            store = PostgresqlStore(one.url("cell"), durability="full")
            await store.open()
            await store.join(600.0)
            self.stores.append(store)

    async def say(self, user: str) -> None:
        """Say the next thing until it is answered, wherever the person is by then."""
        number = self.said[user]
        (opening,) = openings(user, 1)
        opening = structs.replace(
            opening, text=str(number), request_key=str(number), request_hash=b"h"
        )
        start, moved = time.perf_counter(), False
        while True:
            store = self.stores[self.cell[user]]
            try:
                opened = await store.open_turn(opening)
                if isinstance(opened, AnsweredRequest):
                    if opened.reply is not None:
                        break
                    opened = await store.resume_turn(opened.turn_id, 4, 0)
                await self._close(store, opened)
                break
            except (PersonBusy, PersonMoved) as error:
                self.counts[type(error).__name__] += 1
                moved = True
                await asyncio.sleep(0.02)
            except (StoreError, TakenOver) as error:
                self.counts[type(error).__name__] += 1
                await asyncio.sleep(0.2)
        self.said[user] += 1
        self.counts["turns"] += 1
        if moved:
            self.waits.append(time.perf_counter() - start)

    async def _close(self, store: PostgresqlStore, opened: OpenedTurn) -> None:
        while True:
            try:
                await store.close_turn(ending(opened))
                return
            except TakenOver:
                raise
            except StoreError:
                await asyncio.sleep(0.2)

    async def talk(self, lane: int, lanes: int) -> None:
        chance = random.Random(lane)
        mine = self.people[lane::lanes]
        while not self.enough:
            await self.say(chance.choice(mine))

    async def move(self, source: int) -> int:
        """Move the upper half of the buckets of a cell; take it up again where it is cut off."""
        half = range(source * 1024 + 512, source * 1024 + 1024)
        urls = [self.made[n].url("cell") for n in (source, source + 4)]
        moved = 0
        while True:
            # by name, so that who was gone before it could be said is named again
            left = [u for u in self.people if self.cell[u] == source]
            names = [u for u in left if person_moves.person_bucket(u) in half]
            process = await asyncio.create_subprocess_exec(
                PROGRAM,
                "person",
                "move",
                *urls,
                *names,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            assert process.stdout is not None
            async for line in process.stdout:
                self.cell[line.decode().strip()] = source + 4
                moved += 1
            if await process.wait() == 0:
                return moved
            self.counts["moves taken up again"] += 1

    async def crash(self, every: float) -> None:
        chance = random.Random(1)
        while True:
            await asyncio.sleep(every)
            one = chance.choice(self.made)
            await asyncio.to_thread(one.stop, "immediate")
            await asyncio.to_thread(one.start)
            self.counts["servers crashed"] += 1

    async def check(self) -> list[str]:
        """Return what is wrong: words lost, twice or out of order, persons in two places."""
        wrong = []
        for user in self.people:
            found = [
                [text.text async for text in self._texts(store, user)] for store in self.stores
            ]
            places = [n for n, texts in enumerate(found) if texts]
            if places != [self.cell[user]]:
                wrong.append(f"{user} is in {places}, not in {self.cell[user]}")
                continue
            numbers = found[self.cell[user]]
            if len(numbers) != 2 * self.said[user]:
                wrong.append(f"{user}: {len(numbers)} utterances of {self.said[user]} turns")
            rows = await self.stores[self.cell[user]].feed(user, 0, 10_000)
            if [row.n for row in rows] != list(range(1, 2 * self.said[user] + 1)):
                wrong.append(f"{user}: the feed has gaps")
        return wrong

    @staticmethod
    async def _texts(store: PostgresqlStore, user: str) -> AsyncIterator[Any]:
        async for dialog in store.export(user=user):
            for utterance in dialog.utterances:
                yield utterance


async def grow(options: argparse.Namespace) -> None:
    with servers(8) as made:
        growth = Growth(made, options.people)
        await growth.open()
        lanes = 40
        start = time.perf_counter()
        await asyncio.gather(*(_first(growth, lane, lanes) for lane in range(lanes)))
        print(
            f"{options.people} people, 2 turns each, in {time.perf_counter() - start:.0f} s",
            flush=True,
        )
        talks = [asyncio.ensure_future(growth.talk(lane, lanes)) for lane in range(lanes)]
        await asyncio.sleep(5)
        before = growth.counts["turns"]
        crashing = asyncio.ensure_future(growth.crash(options.every)) if options.every else None
        start = time.perf_counter()
        moved = sum(await asyncio.gather(*(growth.move(n) for n in range(4))))
        seconds = time.perf_counter() - start
        if crashing is not None:
            crashing.cancel()
        turns = growth.counts["turns"] - before
        await asyncio.sleep(8)
        growth.enough = True
        await asyncio.gather(*talks)
        wrong = await growth.check()
        waits = sorted(growth.waits)
        each = 4000 * seconds / max(1, moved)
        print(f"{moved} people moved in {seconds:.0f} s, {each:.0f} ms each,"
              f" {turns} turns meanwhile; {dict(growth.counts)}")  # fmt: skip
        if waits:
            print(f"{len(waits)} turns met a move: {1000 * median(waits):.0f} ms in the median,"
                  f" {1000 * waits[-1]:.0f} at most")  # fmt: skip
        start, every = time.perf_counter(), ConversationQuery()
        pages = await asyncio.gather(
            *(one.turn_records.conversations(every, None, 50) for one in growth.stores)
        )
        found = sorted((item for page in pages for item in page.items), key=lambda one: -one.at)
        took = 1000 * (time.perf_counter() - start)
        print(f"the list of all cells, {len(found[:50])} dialogs: {took:.0f} ms")
        print(f"{len(wrong)} things are wrong: {wrong[:5]}")
        for store in growth.stores:
            await store.aclose()


async def _first(growth: Growth, lane: int, lanes: int) -> None:
    for user in growth.people[lane::lanes]:
        for _ in range(2):
            await growth.say(user)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("cost", "grow"))
    parser.add_argument("--cells", default="1,2,4")
    parser.add_argument("--turns", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--people", type=int, default=4000)
    parser.add_argument("--every", type=float, default=0.0, help="seconds between crashes")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    asyncio.run({"cost": cost, "grow": grow}[options.what](options))


if __name__ == "__main__":
    main()
