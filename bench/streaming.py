"""Time to the first word: a streaming chat endpoint by itself, and behind an assistant, in one run.

    python bench/streaming.py
    python bench/streaming.py --calls 50 --dry-run

An endpoint in a process of its own streams a completion, its first word at once. Three ways take
turns call by call, one call at a time: aiohttp asks the endpoint (`bare`); `assistant.stream` with
the endpoint as its only skill, a SQLite store and `durability: full` (`assistant`); and a client of
the chat page's WebSocket before the same assistant (`page`). Printed are milliseconds from the
question to the first word, and to the whole reply. Then `--at-once` people ask at the same time,
while a timer notes how long the event loop is held. Prints it all, and writes it into
bench/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final

import aiohttp
import msgspec
import uvloop
from aiohttp import web

from prolocutor import Assistant, Delta, Pipeline, ReplyGiven, Service
from prolocutor.plan.pipeline import Call
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.testing.channel_kit import running
from prolocutor.web.listener import Listener

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench" / "README.md"
TITLE = "## The first word of a stream"
GOAL: Final = 5.0
"""Milliseconds to the first word that the assistant may add."""

WORDS: Final = 20
PAUSE: Final = 0.001
QUESTION: Final = "What is new in Munich?"

Timed = Callable[[], Awaitable[tuple[float, float]]]
"""Asks once; returns the seconds to the first word and to the whole reply."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=400, help="calls of each way")
    parser.add_argument("--at-once", type=int, default=100, help="streams at the same time")
    parser.add_argument("--dir", type=Path, help="where the store is made")
    parser.add_argument("--dry-run", action="store_true", help="leave bench/README.md as it is")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        uvloop.run(serve())
        return
    report = table(uvloop.run(measured(options.calls, options.dir)), options.calls)
    report += uvloop.run(crowded(options.at_once, options.dir))
    print(report)
    if not options.dry_run:
        write(report)


# -- the endpoint ---------------------------------------------------------------------------


async def serve() -> None:
    """Stream completions until the standard input ends; print the port first."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", stream)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


async def stream(request: web.Request) -> web.StreamResponse:
    await request.read()
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for number in range(WORDS):
        choice = {"index": 0, "delta": {"content": f"word{number} "}}
        await response.write(b"data: %b\n\n" % msgspec.json.encode({"choices": [choice]}))
        await asyncio.sleep(PAUSE)
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    await response.write(b"data: %b\n\ndata: [DONE]\n\n" % msgspec.json.encode(last))
    return response


@contextlib.asynccontextmanager
async def endpoint() -> AsyncIterator[str]:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        "--serve",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    assert child.stdin is not None
    try:
        yield f"http://127.0.0.1:{int(await child.stdout.readline())}/v1"
    finally:
        child.stdin.close()
        await child.wait()


# -- the three ways -------------------------------------------------------------------------


async def measured(calls: int, folder: Path | None) -> dict[str, list[tuple[float, float]]]:
    """Let the three ways take turns; return the times of each."""
    found: dict[str, list[tuple[float, float]]] = {"bare": [], "assistant": [], "page": []}
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(endpoint())
        store = stack.enter_context(tempfile.TemporaryDirectory(dir=folder))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        skill = Service("model", Call(url, options={"model": "m"}), connector="openai_chat")
        assistant = await stack.enter_async_context(
            Assistant(Pipeline(skills=[skill]), store=f"sqlite:///{store}/dialogs.db")
        )
        app = Listener(assistant, [Almond(assistant)])
        door = await stack.enter_async_context(running(app))
        socket = await stack.enter_async_context(
            session.ws_connect(f"{door}/api/conversation?events=1&skip_history=1")
        )
        ways: dict[str, Timed] = {
            "bare": lambda: ask_endpoint(session, url),
            "assistant": lambda: ask_assistant(assistant),
            "page": lambda: ask_page(socket),
        }
        await until(socket, "askSpecial")
        for number in range(calls + 5):
            for name, ask in ways.items():
                times = await ask()
                if number >= 5:  # the first ones open connections
                    found[name].append(times)
    return found


async def crowded(at_once: int, folder: Path | None) -> str:
    """Let so many stream at once, thrice; return how long the loop was held meanwhile."""
    held: list[float] = []
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(endpoint())
        store = stack.enter_context(tempfile.TemporaryDirectory(dir=folder))
        skill = Service(
            "model",
            Call(url, options={"model": "m"}),
            connector="openai_chat",
            max_in_flight=at_once,
            timeout=60.0,
        )
        assistant = await stack.enter_async_context(
            Assistant(
                Pipeline(skills=[skill]), store=f"sqlite:///{store}/dialogs.db", deadline=60.0
            )
        )
        watching = asyncio.create_task(watch(held))
        pieces: list[int] = []
        for _ in range(3):
            pieces += await asyncio.gather(*(listen(assistant, n) for n in range(at_once)))
        watching.cancel()
    return (
        f"\n{at_once} streams at once, three times: the event loop was held for at most "
        f"{max(held) * 1e3:.0f} ms (the goal is 50); every listener got {min(pieces)} pieces or "
        "more.\n"
    )


async def watch(held: list[float]) -> None:
    """Note how much later than it should a timer fires, but for time that others had the core."""
    while True:
        before, spent = time.perf_counter(), time.thread_time()
        await asyncio.sleep(0.002)
        late = time.perf_counter() - before - 0.002
        held.append(min(late, time.thread_time() - spent))


async def listen(assistant: Assistant, number: int) -> int:
    """Ask as one of many; return the number of deltas."""
    events = assistant.stream(QUESTION, user=f"person-{number}")
    return sum([isinstance(event, Delta) async for event in events])


async def ask_endpoint(session: aiohttp.ClientSession, url: str) -> tuple[float, float]:
    messages = [{"role": "user", "content": QUESTION}]
    body = {"model": "m", "stream": True, "messages": messages}
    began, first = time.perf_counter(), 0.0
    async with session.post(f"{url}/chat/completions", json=body) as response:
        async for line in response.content:
            if line.startswith(b"data: {") and not first:
                first = time.perf_counter() - began
    return first, time.perf_counter() - began


async def ask_assistant(assistant: Assistant) -> tuple[float, float]:
    began, first = time.perf_counter(), 0.0
    async for event in assistant.stream(QUESTION, user="ann"):
        if isinstance(event, Delta) and not first:
            first = time.perf_counter() - began
        if isinstance(event, ReplyGiven):
            return first, time.perf_counter() - began
    raise RuntimeError("the stream ended without a reply")


async def ask_page(socket: aiohttp.ClientWebSocketResponse) -> tuple[float, float]:
    began = time.perf_counter()
    await socket.send_json({"type": "command", "text": QUESTION})
    await until(socket, "Delta")
    first = time.perf_counter() - began
    await until(socket, "askSpecial")
    return first, time.perf_counter() - began


async def until(socket: aiohttp.ClientWebSocketResponse, kind: str) -> None:
    """Read frames until one of a type, or an event of it."""
    async with asyncio.timeout(60):
        while True:
            frame = await socket.receive_json()
            if kind in (frame["type"], frame.get("event", {}).get("type")):
                return


# -- the table ------------------------------------------------------------------------------


def table(found: dict[str, list[tuple[float, float]]], calls: int) -> str:
    lines = [
        f"{TITLE}\n",
        (
            "Milliseconds from the question to the first word, and to the whole reply of "
            f"{WORDS} words; median and 95th percentile of {calls} calls one at a time, the three "
            "ways in turns (`bench/streaming.py`).\n"
        ),
        "| way | first word | 95 % | over the bare endpoint's | whole reply |",
        "|---|---|---|---|---|",
    ]
    bare = statistics.median(first for first, _ in found["bare"])
    for name, times in found.items():
        firsts = sorted(first for first, _ in times)
        median, high = statistics.median(firsts), firsts[int(len(firsts) * 0.95)]
        whole = statistics.median(last for _, last in times)
        over = "" if name == "bare" else f"{(median - bare) * 1e3:+.2f}"
        lines.append(
            f"| {name} | {median * 1e3:.2f} | {high * 1e3:.2f} | {over} | {whole * 1e3:.1f} |"
        )
    load, cores = os.getloadavg()[0], os.cpu_count()
    lines.append(
        f"\nThe goal is at most {GOAL:g} ms more to the first word. The load average of the "
        f"machine was {load:.0f}, on {cores} cores.\n"
    )
    return "\n".join(lines)


def write(report: str) -> None:
    """Put the table into the page, in place of the one before."""
    page = PAGE.read_text("utf-8")
    pattern = re.compile(rf"{re.escape(TITLE)}\n.*?(?=\n## |\Z)", re.DOTALL)
    if pattern.search(page):
        page = pattern.sub(lambda _: report.rstrip() + "\n", page)
    else:
        page = page.rstrip() + "\n\n" + report
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
