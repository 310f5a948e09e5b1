"""What a call over HTTP costs the caller: our client, aiohttp's and a bare socket, in one run.

    python bench/http_client.py                       a minute
    python bench/http_client.py --rounds 3 --calls 500 --dry-run

The three take turns, round by round, against one server in a process of its own, which answers at
once. What counts is the CPU time of this process for each call; the ratios are taken within a
round. Each call posts 4 kB of JSON and gets 200 bytes back; nine calls run at a time, as in a turn
with nine services. Prints the table, and writes it into bench/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import cast

import aiohttp
import uvloop

from prolocutor.connectors.parts.http_client import HttpClient

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench" / "README.md"
TITLE = "## A call over HTTP, from the caller's side"

REQUEST = b'{"text":"' + b"x" * 4000 + b'"}'
REPLY = b'[{"text":"' + b"y" * 170 + b'","confidence":0.9}]'
HEADERS = {"X-Turn-Id": "0" * 32, "Idempotency-Key": "0" * 32 + "/service"}

Call = Callable[[], Awaitable[bytes]]


def main() -> None:
    options = arguments()
    if options.serve:
        uvloop.run(serve())
        return
    figures = uvloop.run(measured(options.rounds, options.calls, options.at_once))
    report = table(figures, options)
    print(report)
    if not options.dry_run:
        write(report)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=1800, help="calls of each client in a round")
    parser.add_argument("--at-once", type=int, default=9, help="calls at a time")
    parser.add_argument("--dry-run", action="store_true", help="print, write no docs")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


# -- the clients ------------------------------------------------------------------------------


@asynccontextmanager
async def ours(url: str) -> AsyncIterator[Call]:
    client = HttpClient(url, headers={"Content-Type": "application/json"})

    async def call() -> bytes:
        return (await client.post(REQUEST, HEADERS, max_bytes=1_000_000)).body

    yield call
    await client.aclose()


@asynccontextmanager
async def theirs(url: str) -> AsyncIterator[Call]:
    headers = {"Content-Type": "application/json", **HEADERS}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def call() -> bytes:
            async with session.post(url, data=REQUEST, headers=headers) as response:
                return await response.read()

        yield call


@asynccontextmanager
async def bare(url: str) -> AsyncIterator[Call]:
    """A socket as bare as asyncio has it: it trusts that the answer comes in one piece."""
    host, _, port = url.removeprefix("http://").partition("/")[0].partition(":")
    lines = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    lines = f"Host: {host}:{port}\r\n{lines}Content-Length: {len(REQUEST)}\r\n"
    request = f"POST / HTTP/1.1\r\n{lines}\r\n".encode() + REQUEST
    idle: list[BareSocket] = []
    every: list[BareSocket] = []

    async def call() -> bytes:
        if idle:
            connection = idle.pop()
        else:
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(BareSocket, host, int(port))
            every.append(connection)
        connection.answer = asyncio.get_running_loop().create_future()
        connection.transport.write(request)
        answer = await connection.answer
        idle.append(connection)
        return answer.partition(b"\r\n\r\n")[2]

    yield call
    for connection in every:
        connection.transport.abort()
    await asyncio.sleep(0)


class BareSocket(asyncio.Protocol):
    """A connection that takes the first piece of an answer for all of it."""

    transport: asyncio.Transport
    answer: asyncio.Future[bytes]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.answer.set_result(data)


CLIENTS = {"bare socket": bare, "Prolocutor": ours, "aiohttp": theirs}


# -- the server -------------------------------------------------------------------------------


class Server(asyncio.Protocol):
    """Answers each request at once; it only counts bytes."""

    HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    ANSWER = HEAD % len(REPLY) + REPLY
    LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)

    def __init__(self) -> None:
        self.heard = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.heard += data
        head, end, body = self.heard.partition(b"\r\n\r\n")
        found = self.LENGTH.search(head)
        if end and found and len(body) >= int(found[1]):
            self.heard = body[int(found[1]) :]
            self.transport.write(self.ANSWER)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


# -- the measurement --------------------------------------------------------------------------


async def measured(rounds: int, calls: int, at_once: int) -> dict[str, list[float]]:
    """Return the CPU microseconds of a call by client, one figure a round."""
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, "--serve"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert server.stdout is not None
    url = f"http://127.0.0.1:{int(await server.stdout.readline())}/"
    figures: dict[str, list[float]] = {name: [] for name in CLIENTS}
    try:
        async with AsyncExitStack() as stack:
            ways = {
                name: await stack.enter_async_context(client(url))
                for name, client in CLIENTS.items()
            }
            for call in ways.values():
                await run(call, at_once * 5, at_once)
            for _ in range(rounds):
                for name, call in ways.items():
                    figures[name].append(await run(call, calls, at_once))
    finally:
        server.terminate()
        await server.wait()
    return figures


async def run(call: Call, calls: int, at_once: int) -> float:
    gc.collect()
    began = time.process_time()
    for _ in range(calls // at_once):
        for body in await asyncio.gather(*(call() for _ in range(at_once))):
            assert body == REPLY
    return (time.process_time() - began) / (calls // at_once * at_once) * 1e6


def table(figures: dict[str, list[float]], options: argparse.Namespace) -> str:
    bottom = figures["bare socket"]
    how = (
        f"CPU of the caller for one of {options.at_once} calls at a time, the median of "
        f"{options.rounds} interleaved rounds of {options.calls:,} calls "
        "(`python bench/http_client.py`)."
    )
    lines = [
        how,
        "",
        "| client | µs a call | over the bare socket |",
        "|---|---|---|",
    ]
    for name, found in figures.items():
        ratio = statistics.median(one / base for one, base in zip(found, bottom, strict=True))
        lines.append(f"| {name} | {statistics.median(found):.0f} | {ratio:.1f} |")
    return "\n".join(lines)


def write(report: str) -> None:
    """Put the table into the page of benchmarks, in place of the last one."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(TITLE + "\n")
    after = rest[rest.index("\n## ") + 1 :] if "\n## " in rest else ""
    text = f"{before.rstrip()}\n\n{TITLE}\n\n{report}\n" + (f"\n{after}" if after else "")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
