"""What one plain turn passes through: calls of our functions, files, and CPU, per way in.

    python -m bench.turn_calls [--store sqlite] [--files]

One skill echoes, in memory; each door is called as an ASGI app in this process. Figures are of a
turn after a warm-up: the fewest calls and files of ten turns, and the CPU of five hundred without
counting, in microseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import FrameType, MappingProxyType
from typing import Any, NamedTuple, TypeVar

from prolocutor import Assistant, Pipeline
from prolocutor.doors.door_catalog import DOORS
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener

OURS = "/prolocutor/"
COUNTED, TIMED = 10, 500

T = TypeVar("T")
Turn = Callable[[int], Awaitable[Any]]


class DoorCall(NamedTuple):
    """How one turn is asked for at a door: the path, and the body of the n-th request."""

    door: str
    path: str
    body: Callable[[int], Any]
    headers: Mapping[str, str] = MappingProxyType({})


def _mcp(number: int) -> Any:
    params = {"name": "ask", "arguments": {"text": "hi"}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def _a2a(number: int) -> Any:
    said = {"messageId": f"m{number}", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    params = {"message": {**said, "contextId": "c"}}
    return {"jsonrpc": "2.0", "id": number, "method": "SendMessage", "params": params}


def _agui(number: int) -> Any:
    said = [{"id": "1", "role": "user", "content": "hi"}]
    empty: dict[str, Any] = {"state": {}, "tools": [], "context": [], "forwardedProps": {}}
    return {"threadId": "t", "runId": f"r{number}", "messages": said, **empty}


def _openai(_: int) -> Any:
    said = [{"role": "user", "content": "hi"}]
    return {"model": "assistant", "messages": said, "user": "ann"}


CALLS = (
    DoorCall("deeppavlov", "/", lambda _: {"user_id": "ann", "payload": "hi"}),
    DoorCall("openai", "/v1/chat/completions", _openai, {"X-Conversation-Id": "c"}),
    DoorCall(
        "almond", "/me/api/converse", lambda _: {"command": {"type": "command", "text": "hi"}}
    ),
    DoorCall("a2a", "/a2a", _a2a),
    DoorCall(
        "mcp", "/mcp", _mcp,
        {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"},
    ),
    DoorCall("agui", "/agui", _agui),
)  # fmt: skip


class CallCount:
    """Counts the calls of functions of ours, by file, in all threads that it is set in."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            _, ours, path = frame.f_code.co_filename.rpartition(OURS)
            if ours:
                self.files[path] += 1


async def counted(turn: Turn, count: CallCount) -> Counter[str]:
    """Return the calls of a turn by file: the fewest of those that are asked for."""
    for number in range(20):
        await turn(number)
    seen = []
    for number in range(20, 20 + COUNTED):
        count.files.clear()
        sys.setprofile(count)
        await turn(number)
        sys.setprofile(None)
        seen.append(Counter(count.files))
    return min(seen, key=lambda one: one.total())


async def timed(turn: Turn) -> float:
    """Return the CPU time of a turn, in microseconds."""
    for number in range(50):
        await turn(number)
    began = time.process_time()
    for number in range(50, 50 + TIMED):
        await turn(number)
        if not number % 50:
            await asyncio.sleep(0)  # turns that never wait hold up the event loop
    return (time.process_time() - began) / TIMED * 1e6


async def measure(store: str, measured: Callable[[Turn], Awaitable[T]]) -> dict[str, T]:
    """Measure a turn in Python and through each door."""
    found = {}
    for call in (None, *CALLS):
        with tempfile.TemporaryDirectory() as folder:
            kept = store.format(folder=folder)
            async with Assistant(Pipeline(skills=[echo]), store=kept) as assistant:
                if call is None:
                    found["python"] = await measured(lambda _: assistant.reply("hi", user="ann"))
                    continue
                door = DOORS.load(call.door)().build(DoorContext(assistant))
                app = Listener(assistant, [door])
                await app.open()
                found[call.door] = await measured(partial(ask, app, call))
                await app.close()
    return found


async def ask(app: Any, call: DoorCall, number: int) -> None:
    """Send one request to the app, and read its response to the end."""
    body = json.dumps(call.body(number)).encode()
    headers = {"host": "localhost", "content-type": "application/json", **call.headers}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": call.path,
        "raw_path": call.path.encode(),
        "query_string": b"",
        "headers": [(k.lower().encode(), v.encode()) for k, v in headers.items()],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 4242),
    }
    inbox = [{"type": "http.request", "body": body, "more_body": False}]
    parts: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if inbox:
            return inbox.pop()
        return await asyncio.Future()  # the client stays

    async def send(message: dict[str, Any]) -> None:
        parts.append(message)

    await app(scope, receive, send)
    said = b"".join(part.get("body", b"") for part in parts)
    if parts[0]["status"] != 200 or b"re: hi" not in said:
        raise RuntimeError(f"{call.door}: {parts[0]['status']} {said!r:.500}")


async def echo(request: dict[str, Any]) -> dict[str, Any]:
    """Answer as a skill."""
    return {"text": "re: hi", "confidence": 1.0}


def main() -> None:
    """Print the table."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--store", choices=["memory", "sqlite"], default="memory")
    made.add_argument("--files", action="store_true", help="list the files of a turn in Python")
    options = made.parse_args()
    store = "memory:" if options.store == "memory" else "sqlite:///{folder}/a.db"
    cpu = asyncio.run(measure(store, timed))
    count = CallCount()
    threading.setprofile(count)  # threads of stores and of services too
    files = asyncio.run(measure(store, partial(counted, count=count)))
    print(f"{'way in':<12} {'calls':>6} {'files':>6} {'CPU µs':>8}")
    for name, by_file in files.items():
        print(f"{name:<12} {by_file.total():>6} {len(by_file):>6} {cpu[name]:>8.0f}")
    if options.files:
        for path, calls in files["python"].most_common():
            print(f"{calls:>6}  {path}")


if __name__ == "__main__":
    main()
