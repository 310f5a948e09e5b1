"""DayRun: a simulated day against one server, and whether it stays as it was."""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from aiohttp import web
from aiohttp.test_utils import TestServer

from bench.soaking.day_load import HOURS, DayLoad
from bench.soaking.servers import Command

HERE: Final = Path(__file__).parent
MORNING, EVENING = range(7, 11), range(13, 17)
"""Hours of the same load, before and after noon."""

LATE, LAST = range(15, 18), range(21, 24)
"""Hours between which memory may not grow: all caches are full then, and the load falls."""

GROWTH: Final = 1.05
"""By how much it may grow all the same."""

DEARER: Final = 1.25
"""How much more CPU time a turn may take in the evening; how long it takes is the machine's too."""

LEFT_OVER: Final = {"files": 8, "threads": 64}
"""How many may be more after the day than before it; a service's idle threads stay, 64 at most."""


class Sample(msgspec.Struct, frozen=True):
    """The server at an hour: megabytes, open files, threads, sockets of people, and seconds.

    `cpu` is what it had, `waited` what it was ready for and did not get, as others had it.
    """

    hour: float
    memory: float
    files: int
    threads: int
    cpu: float
    waited: float
    sockets: int


class DayReport(msgspec.Struct):
    """What was seen, and what is wrong with it."""

    people: int
    seconds: float
    before: Sample
    samples: list[Sample]
    after: Sample
    latency: dict[int, list[float]]
    seen: dict[str, int]
    complaints: list[str]

    def table(self) -> str:
        """Return the hours of the day as a table in Markdown."""
        lines = [
            "| hour | turns | p50 ms | p99 ms | CPU | waited | MB | files | threads | sockets |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for begin in range(0, HOURS, 2):
            took = sorted(self.latency[begin] + self.latency[begin + 1])
            here = [one for one in self.samples if begin <= one.hour < begin + 2]
            if not took or not here:
                continue
            p50, p99 = (took[int(share * (len(took) - 1))] * 1000 for share in (0.5, 0.99))
            lasted = self.seconds / HOURS * 2
            lines.append(
                f"| {begin}-{begin + 2} | {len(took):,} | {p50:.1f} | {p99:.0f}"
                f" | {(here[-1].cpu - here[0].cpu) / lasted:.0%}"
                f" | {(here[-1].waited - here[0].waited) / lasted:.0%}"
                f" | {statistics.median(one.memory for one in here):.1f}"
                f" | {max(one.files for one in here)} | {max(one.threads for one in here)}"
                f" | {max(one.sockets for one in here)} |"
            )
        return "\n".join(lines)

    def summary(self) -> str:
        """Return all figures."""
        turns = sum(map(len, self.latency.values()))
        told = ", ".join(f"{kind} {number:,}" for kind, number in sorted(self.seen.items()))
        before, after = self.before, self.after
        morning, evening = self._cpu(MORNING), self._cpu(EVENING)
        lines = [
            f"{self.people:,} people, {turns:,} turns, {self.seconds / 60:.0f} minutes; {told}",
            "",
            self.table(),
            "",
            f"before: {before.memory:.1f} MB, {before.files} files, {before.threads} threads",
            f"after: {after.memory:.1f} MB, {after.files} files, {after.threads} threads",
            f"CPU: {after.cpu - before.cpu:.0f} s",
            f"CPU of a turn, in ms: morning {morning:.2f}, evening {evening:.2f}",
        ]
        return "\n".join(lines)

    def judge(self) -> None:
        """Add a complaint for all that did not stay as it was."""
        late, last = self._memory(LATE), self._memory(LAST)
        if last > late * GROWTH:
            self.complaints.append(f"memory grew from {late:.1f} to {last:.1f} MB at night")
        morning, evening = self._cpu(MORNING), self._cpu(EVENING)
        if evening > morning * DEARER:
            self.complaints.append(f"CPU of a turn: {morning:.2f} ms, then {evening:.2f}")
        for what, most in LEFT_OVER.items():
            begun, ended = getattr(self.before, what), getattr(self.after, what)
            if ended > begun + most:
                self.complaints.append(f"{ended} {what} are open after the day, {begun} before it")
        odd = {kind: n for kind, n in self.seen.items() if kind not in ("answered", "left")}
        if odd:
            self.complaints.append(f"not every turn was answered: {odd}")

    def _memory(self, hours: range) -> float:
        return statistics.median(one.memory for one in self.samples if int(one.hour) in hours)

    def _cpu(self, hours: range) -> float:
        """Return the milliseconds of CPU time of a turn in these hours."""
        here = [one.cpu for one in self.samples if int(one.hour) in hours]
        turns = sum(len(self.latency[hour]) for hour in hours)
        return (here[-1] - here[0]) * 1000 / max(1, turns)


class DayRun:
    """A day of `people` in `seconds`: a server of its own, people at it, and a look at it."""

    def __init__(
        self, folder: Path, *, people: int, visits: int, seconds: float, seed: int
    ) -> None:
        self._folder = folder
        self._people = people
        self._visits = visits
        self._seconds = seconds
        self._seed = seed

    async def run(self) -> DayReport:
        """Run the day and return what was seen."""
        words = ["serve", str(HERE / "day.yaml"), "--port", "0"]
        words += ["--store", f"sqlite:///{self._folder / 'day.db'}"]
        log = self._folder / "server.log"
        async with far_service(self._seed) as peer:
            with log.open("ab") as lines:
                server = Command(words, {"DAY_PEER": peer, "PYTHONPATH": str(HERE)}, lines)
                await server.start()
                try:
                    report = await self._day(await server.ready(), server.pid)
                finally:
                    status = await server.stop()
        if status != 0:
            report.complaints.append(f"the server ended with {status}")
        if "Traceback" in log.read_text(errors="replace"):
            report.complaints.append(f"there is a traceback in {log}")
        report.judge()
        return report

    async def _day(self, url: str, pid: int) -> DayReport:
        load = DayLoad(
            url, people=self._people, visits=self._visits, seconds=self._seconds, seed=self._seed
        )
        await asyncio.sleep(1)
        before, samples = sample(pid, 0, 0), []
        running = asyncio.create_task(load.run())
        while not running.done():
            await asyncio.wait({running}, timeout=self._seconds / HOURS / 4)
            samples.append(sample(pid, load.hour, load.open_sockets))
            if sys.stderr.isatty() or len(samples) % 8 == 0:
                print(f"\r{samples[-1]}", file=sys.stderr)
        await running
        await asyncio.sleep(5)  # closed connections are noticed
        return DayReport(
            people=self._people,
            seconds=self._seconds,
            before=before,
            samples=samples,
            after=sample(pid, HOURS, 0),
            latency=load.latency,
            seen=dict(load.seen),
            complaints=load.complaints[:20],
        )


def sample(pid: int, hour: float, sockets: int) -> Sample:
    """Look at a process (Linux)."""
    place = Path(f"/proc/{pid}")
    status = dict(
        line.split(":", 1) for line in (place / "status").read_text().splitlines() if ":" in line
    )
    fields = (place / "stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    waited = int((place / "schedstat").read_text().split()[1]) / 1e9  # of the main thread
    return Sample(
        hour=round(hour, 2),
        memory=int(status["VmRSS"].split()[0]) / 1024,
        files=len(os.listdir(place / "fd")),
        threads=int(status["Threads"]),
        cpu=ticks / os.sysconf("SC_CLK_TCK"),
        waited=waited,
        sockets=sockets,
    )


@asynccontextmanager
async def far_service(seed: int) -> AsyncIterator[str]:
    """Serve an agent over HTTP that fails now and then: by status, by silence, by nonsense."""
    chance = random.Random(seed)

    async def far(request: web.Request) -> web.StreamResponse:
        await request.read()
        match chance.randrange(300):
            case 0:
                return web.Response(status=503)
            case 1:
                await asyncio.sleep(2)
            case 2:
                return web.Response(body=b'{"text": "half', content_type="application/json")
            case 3 if request.transport is not None:
                request.transport.abort()
        return web.json_response([{"text": "from afar", "confidence": 0.3}])

    app = web.Application()
    app.add_routes([web.post("/far", far)])
    async with TestServer(app) as server:
        with suppress(asyncio.CancelledError):
            yield str(server.make_url("")).rstrip("/")
