"""SoakRun: many short lives of a server under load by simulated users, then the checks."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from pathlib import Path
from random import Random
from signal import SIGKILL
from statistics import median
from typing import IO, Final

import aiohttp
import msgspec

from bench.soaking.checker import Findings, check
from bench.soaking.ledger import Ledger
from bench.soaking.servers import Command, ForkServer, Server
from bench.soaking.simulated_users import Address, SimulatedUser
from prolocutor.config.loading import load
from prolocutor.stores.sqlite.writer import WAL_BYTES

ASSISTANT: Final = Path(__file__).with_name("assistant.yaml")
LIFE: Final = (0.005, 0.150)
"""Seconds between the moment when a server is ready and its end."""
EARLY: Final = 0.15
"""How many are killed before or just after they are ready, at any instant of their start."""
COMMAND_EVERY: Final = 20
STOP_EVERY: Final = 100
ASKED_AT_LAST: Final = 20
PATIENCE: Final = 120.0
"""Seconds in which a server must be ready, and in which everybody must have an answer at last."""
SHOW_EVERY: Final = 500


class Report(msgspec.Struct, kw_only=True):
    """What came out of a soak."""

    kills: int
    commands: int
    early: int
    stops: int
    people: int
    turns: int
    retries: int
    repeated: int
    run_again: int
    closed: int
    passed: int
    largest_log: int
    start_ms: list[float]
    seconds: float
    complaints: list[str]

    def summary(self, seed: int) -> str:
        """Say it in a few lines."""
        ready = " and ".join(f"{ms:.0f}" for ms in sorted(self.start_ms))
        return (
            f"{self.kills:,} kills ({self.commands:,} of `prolocutor serve` itself, the others of"
            f" forks of it; {self.early:,} while it started) and {self.stops:,} stops,"
            f" {self.people} people, seed {seed}\n"
            f"{self.turns:,} turns, {self.retries:,} retries, {self.repeated:,} asked again after"
            f" an answer, {self.run_again:,} turns run again, {self.closed:,} closed with the"
            f" fallback\n"
            f"ready after {ready} ms (forks, command; median), write-ahead log at most"
            f" {self.largest_log / 1e6:.1f} MB\n"
            f"{self.passed:,} checks passed, {len(self.complaints):,} failed,"
            f" {self.seconds:.0f} seconds"
        )


class SoakRun:
    """One soak in a folder of its own, which is empty at first."""

    def __init__(self, folder: Path, *, kills: int, people: int, seed: int) -> None:
        self.file = folder / "dialogs.db"
        self.diary = folder / "diary"
        self.ledger = Ledger()
        self._log = folder / "server.log"
        self._book = folder / "ledger.json"
        self._kills = kills
        self._names = [f"person-{n:02}" for n in range(people)]
        self._seed = seed
        self._random = Random(seed)
        self._address = Address()
        self._largest_log = 0
        self._starts: dict[Server, list[float]] = {}
        self._killed = self._early = self._commands = self._stops = 0

    async def run(self) -> Report:
        """Run the users while servers start and end, then compare what they saw with the file."""
        started = time.monotonic()
        try:
            with self._log.open("wb") as log:
                await self._talk_and_kill(log)
        except* (EOFError, TimeoutError) as group:
            self.ledger.complain(f"the server did not start: {group.exceptions[0]}")
        found = await self._found()
        counts = self.ledger.counts
        report = Report(
            kills=self._killed,
            commands=self._commands,
            early=self._early,
            stops=self._stops,
            people=len(self._names),
            turns=found.turns,
            retries=counts["retries"],
            repeated=counts["repeated"],
            run_again=found.run_again,
            closed=found.closed,
            passed=found.passed,
            largest_log=self._largest_log,
            start_ms=[1000 * median(starts) for starts in self._starts.values()],
            seconds=time.monotonic() - started,
            complaints=self.ledger.complaints + found.complaints,
        )
        if report.complaints:
            self.ledger.write(self._book)
        return report

    async def check(self) -> Findings:
        """Compare what the users saw with the file."""
        fallback = load(ASSISTANT).fallback or ""
        return await check(self.file, self.ledger, self.diary, self._seed, fallback)

    async def _found(self) -> Findings:
        try:
            return await self.check()
        except Exception as error:
            return Findings(complaints=[f"the file cannot be compared: {error!r}"])

    async def _talk_and_kill(self, log: IO[bytes]) -> None:
        port = _free_port(self._random)
        words = ["serve", str(ASSISTANT), "--port", str(port), "--store", f"sqlite:///{self.file}"]
        environ = {"SOAK_SEED": str(self._seed), "SOAK_DIARY": str(self.diary)}
        command = Command(words, environ, log)
        fork_server = await ForkServer.opened(words, environ, log)
        enough = asyncio.Event()
        try:
            async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
                people = [
                    SimulatedUser(name, self._seed, self._address, session, self.ledger)
                    for name in self._names
                ]
                talks = [group.create_task(person.talk(enough)) for person in people]
                await self._live_and_die(fork_server, command)
                await self._open(command)
                enough.set()
                await self._hear_all(people, talks)
                await self._stop(command)
        finally:
            await fork_server.aclose()

    async def _hear_all(self, people: list[SimulatedUser], talks: list[asyncio.Task[None]]) -> None:
        """Let everybody hear the last reply, then ask again what was asked before."""
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*talks)
                await asyncio.gather(*(person.repeat(ASKED_AT_LAST) for person in people))
        except TimeoutError:
            self.ledger.complain("somebody has not got an answer at the end")

    async def _live_and_die(self, fork_server: ForkServer, command: Command) -> None:
        """Let one server after the other live for a moment."""
        for life in range(1, self._kills + 1):
            if self.ledger.is_full:
                return
            if life % STOP_EVERY == 0:
                await self._open(fork_server)
                await asyncio.sleep(self._random.uniform(*LIFE))
                await self._stop(fork_server)
                self._stops += 1
            if life % COMMAND_EVERY == 0:
                self._commands += 1
                await self._live(command)
            else:
                await self._live(fork_server)
            if life % SHOW_EVERY == 0:
                self._show(life)

    async def _live(self, server: Server) -> None:
        """Start a server and kill it, most of the time while it works, sometimes before."""
        early = self._random.random() < EARLY
        if early and server in self._starts:
            await self._begin_to_live(server)
        else:
            await self._open(server)
            await asyncio.sleep(self._random.uniform(*LIFE))
        self._address.close()
        self._check_end("killed", await server.kill(), -SIGKILL)
        self._killed += 1
        self._measure_log()

    async def _begin_to_live(self, server: Server) -> None:
        """Start a server and wait for any instant of its start or of what comes just after it."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._random.uniform(0, 1.3 * self._starts[server][-1])
        await server.start()
        try:
            async with asyncio.timeout_at(end):
                self._address.open(await server.ready())
        except TimeoutError:
            self._early += 1
        else:
            await asyncio.sleep(end - loop.time())

    async def _open(self, server: Server) -> None:
        """Start a server and give the users its address when it is ready."""
        started = time.monotonic()
        await server.start()
        async with asyncio.timeout(PATIENCE):
            self._address.open(await server.ready())
        self._starts.setdefault(server, []).append(time.monotonic() - started)

    async def _stop(self, server: Server) -> None:
        """Ask a server to end and see that it does so in good order."""
        self._address.close()
        self._check_end("asked to end", await server.stop(), 0)

    def _check_end(self, how: str, status: int, wanted: int) -> None:
        if status != wanted:
            self.ledger.complain(f"the server was {how} and ended with {status}")

    def _measure_log(self) -> None:
        """See that the write-ahead log does not grow beyond what the store promises."""
        log = self.file.with_name(self.file.name + "-wal")
        size = log.stat().st_size if log.exists() else 0
        self._largest_log = max(size, self._largest_log)
        if size > WAL_BYTES:
            self.ledger.complain(f"the write-ahead log has {size:,} bytes")

    def _show(self, life: int) -> None:
        said = sum(len(messages) for messages in self.ledger.people.values())
        print(f"{life:,} kills, {said:,} messages", file=sys.stderr, flush=True)


def _free_port(random: Random) -> int:
    """Find a port below those that the system lends to clients, which come and go here."""
    while True:
        port = random.randrange(12_000, 32_000)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
