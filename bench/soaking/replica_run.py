"""ReplicaRun: replicas under load while they, their lines and their database fail."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from statistics import median
from typing import IO, Final

import aiohttp
import asyncpg
import msgspec

from bench.soaking.controls import change_functions
from bench.soaking.database import SoakDatabase, in_thread
from bench.soaking.namespaces import NetFault, NetworkNamespace
from bench.soaking.replica_checker import Findings, check
from bench.soaking.replica_ledger import ReplicaLedger
from bench.soaking.replica_users import ReplicaUser
from bench.soaking.servers import ForkServer
from bench.soaking.soak_run import _free_port
from bench.soaking.tcp_proxy import TcpProxy
from prolocutor.stores.store_catalog import open_store
from tests.nats_server import NatsServer

ASSISTANT: Final = Path(__file__).with_name("replicas.yaml")
WITH_NATS: Final = Path(__file__).with_name("replicas_nats.yaml")
ROOT: Final = Path(__file__).parents[2]
READY: Final = 90.0
TRIES: Final = 4
"""Seconds until a replica that is not ready is started again, and how often."""
AT_LAST: Final = 180.0
"""Seconds in which all must be answered at last, on a machine however slow."""
QUIET: Final = 6
"""People who say little, beside the others."""
RARE: Final = frozenset({"restart", "failover", "disk", "nats"})
"""Faults of what all replicas share: one at a time, and seldom."""
NETWORKS: Final = "10.64.0.0/10"
"""The network that the namespaces of replicas are in."""
KEY: Final = "soak"
"""The operator's key, which the people of a soak send."""


class ReplicaSoak(msgspec.Struct, frozen=True, kw_only=True):
    """What a soak is to do: for how long, with how many, under which faults."""

    seconds: float = 60.0
    replicas: int = 3
    people: int = 40
    lease: float = 1.0
    seed: int = 1
    faults: tuple[str, ...] = ("kill", "pause", "cut", "restart", "failover")
    controls: tuple[str, ...] = ()
    every: float = 0.5
    """Seconds between two faults, on average."""
    net: bool = False
    """Whether each replica has a network namespace of its own, instead of TCP proxies."""


class ReplicaSlot:
    """One replica after the other at one address, each with its own line to each database."""

    def __init__(self, number: int, port: int, network: NetworkNamespace | None = None) -> None:
        self.number = number
        self.host = "127.0.0.1" if network is None else network.host
        self.url = f"http://{self.host}:{port}"
        self.port = port
        self.network = network
        self.proxies: list[TcpProxy] = []
        self._starts = False
        self.busy = asyncio.Lock()
        self._forks: ForkServer | None = None

    async def open(self, words: list[str], environ: dict[str, str], log: IO[bytes]) -> None:
        """Start the process from which replicas are forked."""
        before: list[str] = []
        if self.network is not None:
            before, environ = self.network.command, {**environ, **self.network.environ}
        self._forks = await ForkServer.opened(words, environ, log, before)

    async def start(self) -> None:
        """Start a replica; it need not be ready."""
        assert self._forks is not None
        await self._forks.start()
        self._starts = True

    async def ready(self) -> None:
        """Wait until it takes requests; one that found no database is started again."""
        assert self._forks is not None
        for _ in range(TRIES):
            if not self._starts:
                return
            try:
                async with asyncio.timeout(READY):
                    await self._forks.ready()
                self._starts = False
            except TimeoutError:
                await self.kill()
                await self.start()
        raise TimeoutError(f"replica {self.number} is not ready")

    async def kill(self) -> None:
        """Kill it."""
        assert self._forks is not None
        self._starts = False
        await self._forks.kill()

    async def pause(self, seconds: float) -> None:
        """Stop it as a debugger does, and let it go on."""
        assert self._forks is not None
        self._forks.pause()
        await asyncio.sleep(seconds)
        self._forks.go_on()

    async def stop(self) -> int:
        """Ask it to end; return its exit status."""
        assert self._forks is not None
        return await self._forks.stop()

    async def aclose(self) -> None:
        """End everything."""
        if self._forks is not None:
            await self._forks.aclose()
        for proxy in self.proxies:
            await proxy.aclose()
        if self.network is not None:
            self.network.aclose()

    async def lose_line(self, fault: NetFault, random: Random, seconds: float) -> None:
        """Break its line to the database (`island`: and to clients) for some seconds."""
        if self.network is not None:
            await in_thread(self.network.fail, fault, random)
            await asyncio.sleep(seconds)
            await in_thread(self.network.mend)
            return
        held = random.random() < 0.5
        for proxy in self.proxies:
            proxy.hold() if held else proxy.cut()
        await asyncio.sleep(seconds)
        for proxy in self.proxies:
            proxy.mend()


class ReplicaRun:
    """One soak in a folder of its own."""

    def __init__(self, folder: Path, soak: ReplicaSoak, database: SoakDatabase) -> None:
        self.soak = soak
        self.ledger = ReplicaLedger()
        self.counts: Counter[str] = Counter()
        self.takeovers: dict[str, list[float]] = {}
        """Seconds from a fault until it was served again, by fault.

        Of one replica: until another one had a turn of its. Of the database: until something that
        was said after it had crashed was answered.
        """
        self._folder = folder
        self._diary = folder / "diary"
        self._database = database
        self._random = Random(soak.seed)
        self._slots = [
            ReplicaSlot(
                number,
                _free_port(Random()),
                NetworkNamespace(number, folder / f"clock{number}") if soak.net else None,
            )
            for number in range(soak.replicas)
        ]
        self._watching: set[asyncio.Task[None]] = set()
        self._orphans: dict[tuple[str, int], tuple[str, float]] = {}
        self._rare = 0
        self._nats = NatsServer() if "nats" in soak.faults else None

    async def run(self) -> Findings:
        """Run it and compare what people saw with what is stored."""
        await in_thread(self._database.open)
        try:
            await self._migrate()
            if self._nats is not None:
                await self._nats.start()
            with (self._folder / "replicas.log").open("wb") as log:
                try:
                    await self._soak(log)
                finally:
                    for slot in self._slots:
                        await slot.aclose()
            timely = not self.soak.faults
            found = await check(self._database, self.ledger, self._diary, timely=timely)
            found.complaints = [*self.ledger.complaints, *found.complaints]
            return found
        finally:
            if self._nats is not None:
                await self._nats.kill()
            await self._database.hang_up()
            await in_thread(self._database.aclose)

    def summary(self, found: Findings) -> str:
        """Say in a few lines what came out."""
        faults = ", ".join(f"{number:,} {name}" for name, number in sorted(self.counts.items()))
        seen = ", ".join(f"{n:,} {name}" for name, n in sorted(self.ledger.counts.items()))
        lease = self.soak.lease
        taken = "".join(
            f"\n| {name} | {len(some):,} | {median(some) / lease:.2f} | {max(some) / lease:.2f} |"
            for name, some in sorted(self.takeovers.items())
        )
        lags = [lag for person in self.ledger.people.values() for lag in person.lags]
        return (
            f"{self.soak.replicas} replicas, {self.soak.people} people, lease"
            f" {self.soak.lease:g} s, seed {self.soak.seed}"
            f"{''.join(f', control {control}' for control in self.soak.controls)}\n"
            f"faults: {faults}\n{found.turns:,} turns, {found.run_again:,} run again; {seen}\n"
            f"\n| fault | times | leases until served again, median | at most |\n"
            f"|---|---|---|---|{taken}\n\n"
            f"messages at other replicas: {len(lags):,}, late by"
            f" {1000 * median(lags or [0]):.0f} ms in the median\n"
            f"{found.passed:,} checks passed, {len(found.complaints):,} failed"
        )

    # -- the replicas -----------------------------------------------------------------------

    async def _migrate(self) -> None:
        store = open_store(self._database.url)
        await store.open()
        await store.aclose()
        for control in self.soak.controls:
            await change_functions(self._database.url, control)

    async def _soak(self, log: IO[bytes]) -> None:
        for slot in self._slots:
            await self._open(slot, log)
        await asyncio.gather(*(slot.start() for slot in self._slots))
        await asyncio.gather(*(slot.ready() for slot in self._slots))
        enough, read_enough = asyncio.Event(), asyncio.Event()
        async with (
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0), headers={"Authorization": f"Bearer {KEY}"}
            ) as session,
            asyncio.TaskGroup() as group,
        ):
            people = [self._person(f"person-{n:02}", session) for n in range(self.soak.people)]
            talks = [group.create_task(person.talk(enough)) for person in people]
            quiet = [self._person(f"quiet-{n}", session, quiet=True) for n in range(QUIET)]
            talks += [group.create_task(one.talk(enough)) for one in quiet]
            reads = [
                group.create_task(one.read(read_enough, restless=n % 2 == 1))
                for n, one in [*((0, one) for one in quiet), *enumerate(people)]
            ]
            measuring = group.create_task(self._measure())
            await self._break_things()
            await asyncio.gather(*(slot.ready() for slot in self._slots))
            enough.set()
            await self._settle(talks)
            read_enough.set()
            for slot in self._slots:
                if status := await slot.stop():
                    self.ledger.complain(f"replica {slot.number} was asked to end: {status}")
            for task in [*reads, *self._watching, measuring]:
                task.cancel()

    async def _open(self, slot: ReplicaSlot, log: IO[bytes]) -> None:
        if slot.network is not None:
            await in_thread(slot.network.open)
            host, ports = slot.network.database_host, self._database.ports
        else:
            for port in self._database.ports:
                proxy = TcpProxy(port)
                await proxy.open()
                slot.proxies.append(proxy)
            host, ports = "127.0.0.1", [proxy.port for proxy in slot.proxies]
        hosts = ",".join(f"{host}:{port}" for port in ports)
        store = f"postgresql://postgres@{hosts}/soak?target_session_attrs=read-write"
        environ = {
            "SOAK_STORE": store,
            "SOAK_LEASE": f"{self.soak.lease}s",
            "SOAK_URL": slot.url,
            "SOAK_KEY": KEY,
            "SOAK_DIARY": str(self._diary),
            "SOAK_MESSAGES": "" if self._nats is None else self._nats.url,
            "SOAK_CONTROLS": ",".join(self.soak.controls),
            "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
        }
        file = ASSISTANT if self._nats is None else WITH_NATS
        words = ["serve", str(file), "--host", slot.host, "--port", str(slot.port)]
        await slot.open(words, environ, log)

    def _person(
        self, name: str, session: aiohttp.ClientSession, *, quiet: bool = False
    ) -> ReplicaUser:
        urls = [slot.url for slot in self._slots]
        random = Random(f"{self.soak.seed}/{name}")
        return ReplicaUser(name, urls, session, self.ledger, random, quiet=quiet)

    async def _settle(self, talks: list[asyncio.Task[None]]) -> None:
        """Wait until all is answered, has rung and was read."""
        _, waiting = await asyncio.wait(talks, timeout=AT_LAST)
        if waiting:
            self.ledger.complain(f"{len(waiting)} people have got no answer at the end")
            for talk in waiting:
                talk.cancel()
        statement = "SELECT (SELECT count(*) FROM agenda) + (SELECT count(*) FROM open_turns)"
        ends = (
            'SELECT "user", (SELECT count(*) FROM feed f WHERE f.person = p.person) FROM people p'
        )
        until = time.monotonic() + AT_LAST
        while time.monotonic() < until:
            await asyncio.sleep(0.1)
            [[left]] = await self._database.rows(statement)
            if left:
                continue
            rows = dict(await self._database.rows(ends))
            people = self.ledger.people.items()
            if all(len(person.read) == rows.get(f"almond:{name}", 0) for name, person in people):
                break
        [[tickets]] = await self._database.rows(
            "SELECT count(*) FROM waiting JOIN replicas USING (replica) WHERE NOT dead"
        )
        if tickets:
            self.ledger.complain(f"{tickets} tickets wait at the end for nothing")

    # -- faults -----------------------------------------------------------------------------

    async def _break_things(self) -> None:
        """Let one thing after the other fail until the time is over."""
        soak, end = self.soak, time.monotonic() + self.soak.seconds
        common = [name for name in soak.faults if name not in RARE]
        rare = [name for name in soak.faults if name in RARE]
        doing: set[asyncio.Task[None]] = set()
        next_rare = time.monotonic() + min(10.0, soak.seconds / (len(rare) + 1))
        while time.monotonic() < end:
            await asyncio.sleep(self._random.uniform(0.5, 1.5) * soak.every)
            if rare and time.monotonic() >= next_rare:
                await asyncio.gather(*doing)
                doing.clear()
                await self._fail(rare[self.counts.total() % len(rare)])
                next_rare = time.monotonic() + min(10.0, soak.seconds / (len(rare) + 1))
                continue
            if not common:
                continue
            slot = self._random.choice(self._slots)
            if not slot.busy.locked():
                doing = {task for task in doing if not task.done()}
                doing.add(asyncio.create_task(self._fail(self._random.choice(common), slot)))
        await asyncio.gather(*doing)

    async def _fail(self, name: str, slot: ReplicaSlot | None = None) -> None:
        self.counts[name] += 1
        if slot is None:
            self._rare += 1
            self._orphans.clear()
            faults: dict[str, Callable[[], Awaitable[None]]] = {
                "restart": self._restart,
                "failover": self._fail_over,
                "disk": self._fill_disk,
                "nats": self._restart_nats,
            }
            await faults[name]()
            return
        async with slot.busy:
            lease = self.soak.lease
            if name == "kill":
                await self._kill(slot)
                return
            await slot.ready()
            if name == "clock":
                assert slot.network is not None
                slot.network.jump(self._random)
                return
            self._watch(name, slot)
            if name == "pause":
                await slot.pause(self._random.uniform(1.2, 3.0) * lease)
            else:
                await slot.lose_line(name, self._random, self._random.uniform(0.3, 3.0) * lease)

    async def _kill(self, slot: ReplicaSlot) -> None:
        await slot.kill()
        self._watch("kill", slot)
        await asyncio.sleep(self._random.uniform(0.0, 0.5))
        await slot.start()
        if self._random.random() < 0.8:
            await slot.ready()
            await asyncio.sleep(self._random.uniform(0.0, 0.3))

    def _watch(self, fault: str, slot: ReplicaSlot) -> None:
        """Measure from now on how soon others have the turns of a replica."""
        watching = asyncio.create_task(self._note_orphans(fault, slot.url, time.monotonic()))
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)

    async def _note_orphans(self, fault: str, url: str, failed: float) -> None:
        """Note the turns that a replica has open when it fails."""
        statement = (
            "SELECT o.turn_id, o.replica FROM open_turns o JOIN replicas r USING (replica)"
            " WHERE r.url = $1"
        )
        try:
            for turn_id, replica in await self._database.rows(statement, url):
                self._orphans.setdefault((turn_id, replica), (fault, failed))
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            return  # the database fails as well

    async def _measure(self) -> None:
        """Measure how soon others have the turns that a replica had when it failed.

        What happens while the database fails as well says nothing.
        """
        while True:
            await asyncio.sleep(0.05)
            if not self._orphans:
                continue
            rare = self._rare
            try:
                rows = await self._database.rows("SELECT turn_id, replica FROM open_turns")
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                self._orphans.clear()
                continue
            left = {(turn_id, replica) for turn_id, replica in rows}
            for orphan in self._orphans.keys() - left:
                fault, failed = self._orphans.pop(orphan)
                if rare == self._rare:
                    self.takeovers.setdefault(fault, []).append(time.monotonic() - failed)

    async def _fail_over(self) -> None:
        await in_thread(self._database.fail_over)
        await asyncio.gather(self._note_served("failover"), self._follow_again())

    async def _restart(self) -> None:
        await in_thread(self._database.restart)
        await self._note_served("restart")

    async def _note_served(self, name: str) -> None:
        """Note when something that was said after the database had crashed was answered."""
        crashed = self._database.stopped_at
        while self.ledger.last_served <= crashed:
            await asyncio.sleep(0.02)
            if time.monotonic() > crashed + AT_LAST:
                self.ledger.complain(f"{name}: nothing was answered for {AT_LAST:.0f} s")
                return
        self.takeovers.setdefault(name, []).append(time.monotonic() - crashed)

    async def _follow_again(self) -> None:
        await asyncio.sleep(2 * self.soak.lease)
        await in_thread(self._database.follow_again)

    async def _restart_nats(self) -> None:
        assert self._nats is not None
        await self._nats.kill()
        await asyncio.sleep(self._random.uniform(0.5, 3.0))
        await self._nats.start()

    async def _fill_disk(self) -> None:
        ballast = await in_thread(self._database.fill)
        await asyncio.sleep(2 * self.soak.lease)
        ballast.unlink()
        await in_thread(self._database.ensure_up)
