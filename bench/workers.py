"""What a call of a worker behind NATS costs beside the same over HTTP: CPU of each side.

    python bench/workers.py [--rounds N] [--calls N] [--write]

Each way is measured in turns, round after round, by the connectors that the engine uses, and the
least of the rounds counts. A call posts 1.85 kB of JSON and gets 40 bytes back. The client's CPU is
this process's (getrusage), less what making the requests takes; the service's, and nats-server's,
is that of their processes (/proc).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from prolocutor.connectors.http import HttpConnector
from prolocutor.contracts.connector import Connector
from prolocutor.errors import ServiceError
from prolocutor.plugins.nats.connector import NatsConnector
from prolocutor.testing.fake_service import FakeRequest
from tests.nats_server import nats_program

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench" / "README.md"
TITLE = "## Workers behind NATS beside HTTP"
BODY = {"text": "x" * 1820}
AT_ONCE = (1, 10, 100)
GOAL = 0.35
TICKS = os.sysconf("SC_CLK_TCK")


async def answer(request: Any) -> list[dict[str, Any]]:
    """Be the service."""
    return [{"text": "Sunny.", "confidence": 0.9}]


class Nowhere:
    """A connector that asks nobody: what is left is the benchmark itself."""

    async def send(self, requests: Any) -> list[Any]:
        requests[0].body()
        return [None]

    async def aclose(self) -> None:
        pass


class CallCost(msgspec.Struct):
    """CPU microseconds a call: of the caller, of the service, of what is in between."""

    client: float
    service: float
    between: float

    def least(self, other: CallCost) -> CallCost:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return CallCost(*(min(pair) for pair in pairs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=3000, help="calls of a round")
    parser.add_argument("--write", action="store_true", help="write bench/README.md")
    options = parser.parse_args()
    costs = uvloop.run(measure_all(options.rounds, options.calls))
    lines = report(costs)
    print("\n".join(lines))
    if options.write:
        write(lines)


async def measure_all(rounds: int, calls: int) -> dict[tuple[str, int], CallCost]:
    nats_port, http_port = free_port(), free_port()
    url = f"nats://127.0.0.1:{nats_port}"
    python = (sys.executable, "-m")
    async with (
        running(nats_program(), "-a", "127.0.0.1", "-p", str(nats_port)) as broker,
        running(
            *python, "prolocutor.processes.host", "bench.workers:answer", "--port", str(http_port)
        ) as host,
        running(
            *python,
            "prolocutor",
            "worker",
            "bench.workers:answer",
            "--name",
            "it",
            "--hold",
            "1000",
            "--messages",
            url,
        ) as worker,
    ):
        ways: dict[str, tuple[Connector, list[int]]] = {
            "HTTP": (
                HttpConnector(f"http://127.0.0.1:{http_port}/", name="it", max_connections=100),
                [host],
            ),
            "NATS": (NatsConnector(f"{url}/it", name="it"), [worker, broker]),
        }
        found: dict[tuple[str, int], CallCost] = {}
        for connector, _ in ways.values():
            await until_up(connector)
        for _ in range(rounds):
            for at_once in AT_ONCE:
                caller = (await measure(Nowhere(), [], at_once, calls)).client
                for way, (connector, pids) in ways.items():
                    cost = await measure(connector, pids, at_once, calls)
                    cost.client -= caller
                    found[way, at_once] = found.get((way, at_once), cost).least(cost)
        for connector, _ in ways.values():
            await connector.aclose()
        return found


async def measure(connector: Connector, pids: list[int], at_once: int, calls: int) -> CallCost:
    await asyncio.gather(*(ask(connector, 5) for _ in range(at_once)))
    before, others = own_seconds(), [seconds_of(pid) for pid in pids]
    each = max(1, calls // at_once)
    await asyncio.gather(*(ask(connector, each) for _ in range(at_once)))
    client = own_seconds() - before
    used = [seconds_of(pid) - was for pid, was in zip(pids, others, strict=True)]
    used += [0.0] * (2 - len(used))
    return CallCost(*(seconds / (each * at_once) * 1e6 for seconds in (client, *used)))


async def ask(connector: Connector, times: int) -> None:
    for _ in range(times):
        (reply,) = await connector.send([FakeRequest(BODY)])
        if isinstance(reply, ServiceError):
            raise reply


async def until_up(connector: Connector) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                await ask(connector, 1)
            except ServiceError:
                await asyncio.sleep(0.1)
            else:
                return


@asynccontextmanager
async def running(*command: str) -> AsyncIterator[int]:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        process.kill()
        await process.wait()


def own_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def seconds_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def report(costs: dict[tuple[str, int], CallCost]) -> list[str]:
    lines = [
        TITLE,
        "",
        "CPU microseconds a call, least of the rounds: 1.85 kB out, 40 bytes back.",
        "",
        "| at once | HTTP: client + service | NATS: client + worker + server | client: ratio |",
        "|---|---|---|---|",
    ]
    for at_once in AT_ONCE:
        http, nats = costs["HTTP", at_once], costs["NATS", at_once]
        ratio = f"{nats.client / http.client:.2f}"
        goal = f" (goal: at most {GOAL})" if at_once == 100 else ""
        lines.append(
            f"| {at_once} | {http.client:.0f} + {http.service:.0f}"
            f" | {nats.client:.0f} + {nats.service:.0f} + {nats.between:.0f} | {ratio}{goal} |"
        )
    return lines


def write(lines: list[str]) -> None:
    """Put the section in the place of the one that is there, else at the end."""
    text = PAGE.read_text("utf-8")
    before, found, after = text.partition(TITLE)
    rest = after.partition("\n## ")[2] if found else ""
    tail = f"\n## {rest}" if rest else ""
    PAGE.write_text(before.rstrip() + "\n\n" + "\n".join(lines) + "\n" + tail, "utf-8")


if __name__ == "__main__":
    main()
