"""What the Almond door carries: turns over many open WebSockets, memory of idle ones, replay.

    python bench/almond.py                a few minutes
    python bench/almond.py --quick        whether all this still works
    python bench/almond.py --write        put the table into bench/README.md as well

The server is a process of its own: one echoing skill, a SQLite file. Every socket is another
anonymous person, says one thing after the other and waits for each `askSpecial`. The clients run in
this process, on the same machine: with few cores they take as much of it as the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.turns import machine
from bench.turns.report import WIRE, number, table
from prolocutor import Assistant, Pipeline, Service
from prolocutor.assistant.runner import run
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.listener import Listener
from prolocutor.web.serving import serve

DOCS = Path(__file__).resolve().parents[1] / "bench" / "README.md"
ANONYMOUS = "/me/api/anonymous"
IDLE = 1000
REPLAYED = 10_000


def main() -> None:
    options = arguments()
    if options.serve:
        run(server(options.serve))
        return
    report = run(measured(options.quick))
    print(report)
    if options.write:
        before = DOCS.read_text().partition(WIRE)[0].rstrip()
        DOCS.write_text(f"{before}\n\n{report}\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few turns")
    parser.add_argument("--write", action="store_true", help="write bench/README.md")
    parser.add_argument("--serve", metavar="STORE", help=argparse.SUPPRESS)
    return parser.parse_args()


async def server(store: str) -> None:
    """Be the server that is measured."""

    def echo(request: dict[str, Any]) -> dict[str, Any]:
        return {"text": request["human_utterances"][-1]["text"], "confidence": 1.0}

    pipeline = Pipeline(skills=[Service("echo", echo, inline=True)])
    async with Assistant(pipeline, store=store) as assistant:
        limits = ListenerLimits(connections=5000)
        app = Listener(
            assistant, [Almond(assistant)], auth=AccessPolicy(anonymous=True), limits=limits
        )
        await serve(app, port=0, on_ready=lambda url: print(url, flush=True))


async def measured(quick: bool) -> str:
    rows = []
    for sockets in (1, 10) if quick else (1, 100, 1000):
        async with served() as (process, http):
            rows.append(await turns(process, http, sockets, 0.5 if quick else 10.0))
    async with served() as (process, http):
        idle = await memory(process, http, 20 if quick else IDLE)
    messages = 1_100 if quick else REPLAYED
    async with served() as (_, http):
        last, missed = await replay(http, messages)
    columns = ["open WebSockets", "turns a second", "median ms", "p99 ms", "server's CPU ms a turn"]
    return (
        f"{WIRE}\n"
        f"By `bench/almond.py` on {machine.facts()['date']}, {machine.facts()['machine']}; load "
        f"average {machine.load_average()} with the clients on the same machine. One echoing\n"
        "skill, a SQLite file that is safe at every commit; every socket is another person and "
        "says the next thing as soon as\nthe last one is answered.\n\n"
        f"{table(columns, rows)}\n\n"
        f"An idle connection keeps {number(idle)} KiB of the server's memory (aim: 30). With "
        f"{messages:,} messages in the dialog a client that opens\nit is shown the last ten and "
        f"what is asked after {number(last)} ms; one that missed the last 1,000 has them after "
        f"{number(missed)} ms.\n"
    )


@asynccontextmanager
async def served() -> AsyncIterator[tuple[int, aiohttp.ClientSession]]:
    """A server of its own, and a client without a bound on connections."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, __file__, "--serve", f"sqlite:///{folder}/almond.db"]
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        connector = aiohttp.TCPConnector(limit=0)
        try:
            async with aiohttp.ClientSession(url, connector=connector) as http:
                yield process.pid, http
        finally:
            process.terminate()
            await process.wait()


async def turns(
    process: int, http: aiohttp.ClientSession, sockets: int, seconds: float
) -> list[str]:
    """Let everybody talk for so many seconds; gives the row of the table."""
    took: list[float] = []
    async with AsyncExitStack() as stack:
        people = [await opened(stack, http) for _ in range(sockets)]
        cpu, started = cpu_seconds(process), time.perf_counter()
        await asyncio.gather(*(talk(person, took, started + seconds) for person in people))
        passed, used = time.perf_counter() - started, cpu_seconds(process) - cpu
    took.sort()
    figures = [
        len(took) / passed,
        took[len(took) // 2] * 1000,
        took[int(len(took) * 0.99)] * 1000,
        used / len(took) * 1000,
    ]
    return [f"{sockets:,}", *map(number, figures)]


async def talk(socket: aiohttp.ClientWebSocketResponse, took: list[float], until: float) -> None:
    while time.perf_counter() < until:
        started = time.perf_counter()
        await talk_once(socket)
        took.append(time.perf_counter() - started)


async def memory(process: int, http: aiohttp.ClientSession, sockets: int) -> float:
    """KiB of the server by which it grows with each connection that is open and idle."""
    async with AsyncExitStack() as stack:
        for _ in range(50):
            await opened(stack, http)
        before = resident_kib(process)
        for _ in range(sockets):
            await opened(stack, http)
        return (resident_kib(process) - before) / sockets


async def replay(http: aiohttp.ClientSession, messages: int) -> tuple[float, float]:
    """Milliseconds until a client sees the last ten messages; until it has the last thousand."""
    took: list[float] = []
    async with AsyncExitStack() as stack:
        socket = await stack.enter_async_context(http.ws_connect("/api/conversation"))
        await asked(socket)
        for _ in range(messages // 2):
            await talk_once(socket)
        for query in ("", f"?after={messages - 1001}") * 5:
            started = time.perf_counter()
            again = await stack.enter_async_context(http.ws_connect(f"/api/conversation{query}"))
            await asked(again)
            took.append((time.perf_counter() - started) * 1000)
    return sorted(took[::2])[2], sorted(took[1::2])[2]


async def talk_once(socket: aiohttp.ClientWebSocketResponse) -> None:
    await socket.send_str('{"type":"command","text":"what is it like to be said again?"}')
    await asked(socket)


async def opened(
    stack: AsyncExitStack, http: aiohttp.ClientSession
) -> aiohttp.ClientWebSocketResponse:
    socket = await stack.enter_async_context(http.ws_connect(ANONYMOUS))
    await asked(socket)
    return socket


async def asked(socket: aiohttp.ClientWebSocketResponse) -> None:
    """Read up to the next `askSpecial`."""
    while json.loads(await socket.receive_str())["type"] != "askSpecial":
        pass


def cpu_seconds(process: int) -> float:
    """User and system time of a process, by Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_kib(process: int) -> float:
    """The resident set of a process, by Linux."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


if __name__ == "__main__":
    main()
