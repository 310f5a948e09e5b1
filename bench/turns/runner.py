"""One measurement in a process of its own, as the neighbours' runners: prints one JSON line.

    python -m bench.turns.runner --dialogs 10 --turns 10 --variant turn-inline --store sqlite

--door http      through `prolocutor serve` in a process of its own, whose CPU alone is counted
--services http  with the services behind HTTP, each call sleeping 20 ms
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import uvloop

import prolocutor
from bench.peers.load import Figures, Load, Usage, WrongReply, load_of, measure, own_usage
from bench.peers.load import parser as load_parser
from bench.turns.workload import make_pipeline, said
from prolocutor import Assistant
from prolocutor.assistant.assistant_settings import RecordSettings
from prolocutor.observe.recent_turns import RecentTurns

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = [f"turn-{way}" for way in ("inline", "async", "typed")]
VARIANTS += ["route-inline", "route-async", "all-inline", "all-async"]


def main() -> None:
    options = arguments()
    load = load_of(options)
    with (
        contextlib.redirect_stdout(sys.stderr),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        line = runner.run(measured(options, load))
    print(json.dumps(line), flush=True)


def arguments() -> Namespace:
    made = load_parser(VARIANTS)
    made.add_argument("--store", choices=["sqlite", "memory"], default="sqlite")
    made.add_argument("--durability", choices=["full", "relaxed"], default="full")
    made.add_argument("--dir", type=Path, help="where the file is made")
    made.add_argument("--door", choices=["python", "http"], default="python", help="the way in")
    made.add_argument("--records", choices=["off", "seen", "kept"], default="off",
                      help="of turns: none, made for an observer, or kept")  # fmt: skip
    made.add_argument("--services", choices=["python", "http"], default="python", help="the calls")
    return made.parse_args()


async def measured(options: Namespace, load: Load) -> dict[str, Any]:
    """Sets up what the options ask for, measures it, and gives the line."""
    more: dict[str, Any] = {}
    async with asyncio.timeout(load.limit), AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.dir)))
        if options.door == "http":
            figures = await through_http(load, options, folder, stack)
        else:
            figures = await in_process(load, options, folder, stack, more)
    return {
        "peer": "prolocutor",
        "version": prolocutor.__version__,
        "variant": options.variant,
        "store": options.store,
        "door": options.door,
        "services": options.services,
        "dialogs": load.dialogs,
        "turns": load.total,
        "from_turn": load.from_turn,
        "cpu_ms_per_turn": round(figures.cpu * 1000 / load.total, 4),
        "wall_ms_per_turn": round(figures.wall * 1000 / load.total, 4),
        "max_rss_mb": round(figures.rss, 1),
        **more,
    }


async def in_process(
    load: Load, options: Namespace, folder: Path, stack: AsyncExitStack, more: dict[str, Any]
) -> Figures:
    """Measures `Assistant.turn`; adds the pragma and the commits a turn where there is a file."""
    url = None
    if options.services == "http":
        services = await stack.enter_async_context(child("bench/peers/slow_services.py"))
        url = json.loads(await services.stdout.readline())["url"]
    assistant = await stack.enter_async_context(
        Assistant(
            make_pipeline(options.variant, url),
            store=store_url(options.store, folder),
            durability=options.durability,
            observers=[] if options.records == "off" else [RecentTurns()],
            records=RecordSettings() if options.records == "kept" else None,
        )
    )

    async def turn(user: str, number: int) -> None:
        text, reply = said(options.variant, user, number)
        check((await assistant.turn(text, user=user)).reply.text, reply)

    meter = CommitMeter(assistant.store)
    figures = await measure(load, lambda: turn, meter=meter.read)
    if options.store == "sqlite":
        more["synchronous"] = await assistant.store.setting("synchronous")
        more["journal_mode"] = await assistant.store.setting("journal_mode")
        more["commits_per_turn"] = round(meter.commits / load.total, 4)
    return figures


async def through_http(
    load: Load, options: Namespace, folder: Path, stack: AsyncExitStack
) -> Figures:
    """Drives `prolocutor serve` over kept lines; only the CPU of that process counts."""
    program = Path(sys.executable).with_name("prolocutor")
    file = Path(__file__).with_name("assistant.yaml")
    if options.records == "off":
        text = file.read_text()
        file = folder / file.name
        file.write_text(f"{text}records: false\n")
    words = ["serve", file, "--port", "0", "--store", store_url(options.store, folder)]
    server = await stack.enter_async_context(child(*words, program=program))
    url = (await server.stdout.readline()).decode().split(" listens on ")[1].split()[0]
    drain = asyncio.create_task(server.stdout.read())
    stack.callback(drain.cancel)
    connector = aiohttp.TCPConnector(limit=0)
    client = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))

    async def turn(user: str, number: int) -> None:
        text, reply = said(options.variant, user, number)
        async with client.post(url, json={"user_id": user, "payload": text}) as response:
            check((await response.json())["response"], reply)

    async def usage() -> Usage:
        return usage_of(server.pid)

    return await measure(load, lambda: turn, meter=usage)


class CommitMeter:
    """Reads what this process has used, and sums the commits within the measured stretches."""

    def __init__(self, store: Any) -> None:
        self.commits = 0
        self._store = store
        self._began: int | None = None

    async def read(self) -> Usage:
        """Is called at the start and at the end of each stretch."""
        now = getattr(self._store, "commits", 0)
        if self._began is None:
            self._began = now
        else:
            self.commits += now - self._began
            self._began = None
        return await own_usage()


def usage_of(pid: int) -> Usage:
    """What another process has used, all its threads together, in steps of 10 ms."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        words = ["ps", "-o", "cputime=,rss=", "-p", str(pid)]
        shown, now = subprocess.run(
            words, capture_output=True, text=True, check=True
        ).stdout.split()
        cpu = sum(float(part) * 60**at for at, part in enumerate(reversed(shown.split(":"))))
        return Usage(cpu=cpu, rss=int(now) / 1024)
    fields = stat.read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    most = int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0])
    return Usage(cpu=ticks / os.sysconf("SC_CLK_TCK"), rss=most / 1024)


def store_url(store: str, folder: Path) -> str:
    return "memory:" if store == "memory" else f"sqlite:///{folder / 'dialogs.db'}"


def check(reply: str, wanted: str) -> None:
    if reply != wanted:
        raise WrongReply(f"Prolocutor answered {reply!r} where {wanted!r} was due")


@asynccontextmanager
async def child(
    *words: object, program: Path = Path(sys.executable)
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that lives as long as the block."""
    process = await asyncio.create_subprocess_exec(
        program,
        *map(str, words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


if __name__ == "__main__":
    main()
