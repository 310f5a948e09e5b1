"""What a turn costs at each door, and a call by each connector, beside the plainest one of each.

    python bench/doors.py                   half a minute
    python bench/doors.py --laps 3 --turns 50 --dry-run

Doors: one ASGI app with all doors, without sockets; the client's side is bytes that were made
before. Each lap takes all doors in turn, and the ratio to the DeepPavlov door is taken within a
lap. Connectors: peers run in a process of their own and answer at once; what counts is the CPU time
of this process for each call, beside `http` in the same lap. Then 100 streams at once at each door
that streams, over sockets: the longest time that the event loop was held.

A door is a line in `DOORS`, a connector one in `CONNECTORS`, its peer a path in `doors_peers.py`.
Prints the tables, and writes them into bench/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import uvloop

from prolocutor.assistant.assistant import Assistant
from prolocutor.connectors.connector_catalog import make_options
from prolocutor.contracts.connector import Connector, ServiceContext
from prolocutor.dialog.ids import new_id
from prolocutor.doors import door_catalog
from prolocutor.errors import ServiceError
from prolocutor.plan.pipeline import Call, Pipeline, Service
from prolocutor.web.asgi import App
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener
from prolocutor.web.serving import serve

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench" / "README.md"
TITLE = "## Doors and connectors"
BASE_DOOR, BASE_CONNECTOR = "deeppavlov", "http"
STREAMS = 100
USERS = 10
SAID = "It is a fine day, with some clouds in the evening."


class DoorCall(msgspec.Struct, frozen=True):
    """One turn at a door: a request that says something as a user."""

    door: str
    name: str
    path: str
    body: Callable[[str, str], Any]
    """The JSON of what a user (a name) says (a text)."""
    headers: dict[str, str] = {}
    streams: bool = False


def chat(user: str, text: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"model": "assistant", "messages": messages, "user": user, **more}


def tool_call(user: str, text: str, meta: dict[str, Any] | None = None) -> dict[str, Any]:
    """A call of the tool of the door for MCP."""
    arguments = {"text": text, "conversation_id": user}
    params: dict[str, Any] = {"name": "ask", "arguments": arguments}
    if meta is not None:
        params["_meta"] = meta
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def a2a_call(user: str, text: str, method: str = "SendMessage") -> dict[str, Any]:
    """A call of the door for A2A, in version 1.0."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": a2a_message(user, text)}


def a2a_message(user: str, text: str) -> dict[str, Any]:
    """The parameters of sending a message, in version 1.0."""
    message = {"messageId": new_id(), "contextId": user, "role": "ROLE_USER"}
    return {"message": {**message, "parts": [{"text": text}]}}


def a2a_legacy(user: str, text: str) -> dict[str, Any]:
    """The same in version 0.3."""
    message = {"kind": "message", "messageId": new_id(), "contextId": user, "role": "user"}
    params = {"message": {**message, "parts": [{"kind": "text", "text": text}]}}
    return {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}


MCP_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
MCP_HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "ask",
}


def resent(user: str, text: str) -> dict[str, Any]:
    """A request as of a client that names no user and resends all that was said before."""
    turns = int(text.split()[1]) // USERS
    messages = [{"role": "user", "content": f"{user} 0"}]
    for number in range(turns):
        messages.append({"role": "assistant", "content": SAID})
        messages.append({"role": "user", "content": f"{user} {number + 1}"})
    return {"model": "assistant", "messages": messages}


def agui_run(user: str, text: str) -> dict[str, Any]:
    """A run of the door for AG-UI."""
    messages = [{"id": "m", "role": "user", "content": text}]
    return {"threadId": user, "runId": f"{user} {text}", "messages": messages}


DOORS = [
    DoorCall(
        "deeppavlov", "deeppavlov", "/", lambda user, text: {"user_id": user, "payload": text}
    ),
    DoorCall("openai", "openai, chat", "/v1/chat/completions", chat),
    DoorCall("openai", "openai, chat, history resent", "/v1/chat/completions", resent),
    DoorCall(
        "openai",
        "openai, chat, streamed",
        "/v1/chat/completions",
        lambda user, text: chat(user, text, stream=True),
        streams=True,
    ),
    DoorCall(
        "openai",
        "openai, responses",
        "/v1/responses",
        lambda user, text: {"input": text, "user": user},
    ),
    DoorCall(
        "openai",
        "openai, responses, streamed",
        "/v1/responses",
        lambda user, text: {"input": text, "user": user, "stream": True},
        streams=True,
    ),
    DoorCall("a2a", "a2a", "/a2a", a2a_call),
    DoorCall("a2a", "a2a-rest", "/a2a/message:send", a2a_message),
    DoorCall("a2a", "a2a-0-3", "/a2a", a2a_legacy),
    DoorCall(
        "a2a",
        "a2a-streamed",
        "/a2a",
        lambda user, text: a2a_call(user, text, "SendStreamingMessage"),
        streams=True,
    ),
    DoorCall("mcp", "mcp, 2025-03-26", "/mcp", tool_call),
    DoorCall(
        "mcp",
        "mcp, 2026-07-28",
        "/mcp",
        lambda user, text: tool_call(user, text, MCP_META),
        MCP_HEADERS,
    ),
    DoorCall("agui", "agui", "/agui", agui_run, streams=True),
]


class ConnectorCall(msgspec.Struct, frozen=True):
    """One connector: its name in the catalog, and how it reaches its peer (`ws/…`: a socket)."""

    connector: str
    name: str
    path: str
    options: dict[str, Any] = {}


LINES = (
    "import sys\nfor line in sys.stdin:\n"
    f"    print({msgspec.json.encode([{'text': SAID, 'confidence': 0.9}]).decode()!r}, flush=True)"
)

CONNECTORS = [
    ConnectorCall("http", "http", "/native"),
    ConnectorCall("openai_chat", "openai_chat", "/v1", {"model": "any"}),
    ConnectorCall("a2a", "a2a", "/a2a"),
    ConnectorCall("a2a", "a2a, streamed", "/a2a/streams"),
    ConnectorCall("mcp", "mcp", "/mcp", {"tool": "ask"}),
    ConnectorCall("mcp", "mcp, 2025-11-25", "/mcp", {"tool": "ask", "protocol": "2025-11-25"}),
    ConnectorCall("openai_chat", "openai_chat, responses", "/v1/responses", {"model": "any"}),
    ConnectorCall("rasa", "rasa", "/webhooks/rest/webhook"),
    ConnectorCall("websocket", "websocket", "ws/lines"),
    ConnectorCall("almond", "almond", "ws/api/conversation"),
    ConnectorCall("prolocutor", "prolocutor", "/assistant"),
    ConnectorCall("command", "command", "", {"run": [sys.executable, "-c", LINES]}),
]

ASKED: dict[str, Any] = {
    "utterances": [{"text": "hello there", "attributes": {}}],
    "human_utterances": [{"text": "hello there", "attributes": {}}],
    "bot_utterances": [],
    "human": {"attributes": {}, "user_external_id": "ann"},
    "bot": {"attributes": {}},
    "dialog_id": "0" * 32,
}


def main() -> None:
    options = arguments()
    report = uvloop.run(measured(options))
    print(report)
    if not options.dry_run:
        write(report)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--laps", type=int, default=15)
    parser.add_argument(
        "--turns", type=int, default=150, help="of each door and connector in a lap"
    )
    parser.add_argument(
        "--only", help="doors and connectors whose names begin so, and the plainest"
    )
    parser.add_argument("--dry-run", action="store_true", help="print, write no docs")
    return parser.parse_args()


async def measured(options: argparse.Namespace) -> str:
    doors = [door for door in DOORS if _wanted(door.name, options.only, BASE_DOOR)]
    connectors = [
        connector
        for connector in CONNECTORS
        if _wanted(connector.name, options.only, BASE_CONNECTOR)
    ]
    parts = [
        TITLE,
        f"Medians of {options.laps} laps of {options.turns}; ratios within a lap.",
        f"Load of the machine meanwhile: {os.getloadavg()[0]:.1f}.",
        table("door", await door_costs(doors, options), BASE_DOOR),
        table("connector", await connector_costs(connectors, options), BASE_CONNECTOR),
    ]
    held = {door.name: await longest_hold(door) for door in doors if door.streams}
    if held:
        rows = [f"| {name} | {seconds * 1000:.0f} |" for name, seconds in held.items()]
        head = f"| {STREAMS} streams at once | longest hold of the loop, ms |\n|---|---|"
        parts.append("\n".join([head, *rows]))
    return "\n\n".join(parts) + "\n"


def _wanted(name: str, only: str | None, base: str) -> bool:
    return only is None or name == base or name.startswith(only)


def table(what: str, figures: dict[str, list[float]], base: str) -> str:
    lines = [f"| {what} | CPU µs | times `{base}` |", "|---|---|---|"]
    for name, laps in figures.items():
        ratio = statistics.median(a / b for a, b in zip(laps, figures[base], strict=True))
        lines.append(f"| {name} | {statistics.median(laps) * 1e6:.0f} | {ratio:.2f} |")
    return "\n".join(lines)


# -- doors ------------------------------------------------------------------------------------


async def agent(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Answer at once, in a sentence."""
    return [{"text": SAID, "confidence": 0.9}]


@asynccontextmanager
async def app_of(doors: list[DoorCall]) -> AsyncIterator[App]:
    pipeline = Pipeline(skills=[Service(f"agent{n}", agent, inline=True) for n in range(3)])
    async with Assistant(pipeline, store="memory:") as assistant:
        names = dict.fromkeys(door.door for door in doors)
        channels = [door_catalog.DOORS.load(name)().build(DoorContext(assistant)) for name in names]
        app = Listener(assistant, channels)
        await app.open()
        gc.collect()
        gc.freeze()  # as `prolocutor serve` does
        yield app
        await app.close()


async def door_costs(doors: list[DoorCall], options: argparse.Namespace) -> dict[str, list[float]]:
    figures: dict[str, list[float]] = {door.name: [] for door in doors}
    async with app_of(doors) as app:
        for lap in range(-1, options.laps):
            for door in doors:
                cost = await door_cost(app, door, options.turns, lap)
                if lap >= 0:
                    figures[door.name].append(cost)
    return figures


async def door_cost(app: App, one: DoorCall, turns: int, lap: int) -> float:
    """Return the CPU seconds of a turn: users who say something in turn."""
    bodies = [
        msgspec.json.encode(one.body(f"{one.name}-{lap}-{n % USERS}", f"hello {n}"))
        for n in range(turns)
    ]
    start = time.process_time()
    for body in bodies:
        await ask(app, one, body)
    return (time.process_time() - start) / turns


async def ask(app: App, one: DoorCall, body: bytes) -> None:
    """Post one request to an app without a socket; raise where it fails."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    more = [(key.lower().encode(), value.encode()) for key, value in one.headers.items()]
    scope: dict[str, Any] = {
        "type": "http", "method": "POST", "path": one.path, "raw_path": one.path.encode(),
        "query_string": b"", "client": ("127.0.0.1", 5), "root_path": "", "http_version": "1.1",
        "headers": [
            (b"host", b"127.0.0.1:4242"), (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)), *more,
        ],
    }  # fmt: skip
    await app(scope, receive, send)
    if sent[0]["status"] != 200:
        raise SystemExit(f"{one.name}: {sent}")


# -- connectors -------------------------------------------------------------------------------


class Asked:
    """One request of a turn (`contracts.connector.Request`)."""

    service = "peer"
    timeout = 10.0
    deltas = None

    def __init__(self, dialog: int = 0) -> None:
        self.turn_id = new_id()
        self.key = f"{self.turn_id}/peer"
        self.dialog_id = f"{dialog:032x}"

    def value(self) -> Any:
        """Return a copy."""
        return msgspec.json.decode(self.body())

    def body(self) -> bytes:
        """Return it as JSON."""
        return msgspec.json.encode({**ASKED, "dialog_id": self.dialog_id, "turn_id": self.turn_id})


async def connector_costs(
    connectors: list[ConnectorCall], options: argparse.Namespace
) -> dict[str, list[float]]:
    figures: dict[str, list[float]] = {one.name: [] for one in connectors}
    async with AsyncExitStack() as stack:
        url, sockets = await stack.enter_async_context(peers())
        made: dict[str, Connector] = {}
        for one in connectors:
            at = url + one.path if one.path else ""
            if one.path.startswith("ws/"):
                at = sockets + one.path.removeprefix("ws")
            call = Call(at, one.connector, one.options)
            connector = make_options(call).build(ServiceContext(name=one.name))
            stack.push_async_callback(connector.aclose)
            made[one.name] = connector
        for lap in range(-1, options.laps):
            for one in connectors:
                cost = await connector_cost(made[one.name], options.turns)
                if lap >= 0:
                    figures[one.name].append(cost)
    return figures


async def connector_cost(connector: Connector, calls: int) -> float:
    requests = [Asked(number % 5) for number in range(calls)]
    start = time.process_time()
    for at in range(0, calls, 5):
        await asyncio.gather(*(checked(connector, request) for request in requests[at : at + 5]))
    return (time.process_time() - start) / calls


async def checked(connector: Connector, request: Asked) -> None:
    (reply,) = await connector.send((request,))
    if isinstance(reply, ServiceError):
        raise reply


@asynccontextmanager
async def peers() -> AsyncIterator[list[str]]:
    """Run the peers in a process of their own, and give their addresses: HTTP, WebSockets."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, Path(__file__).with_name("doors_peers.py"), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().split()
    finally:
        process.terminate()
        await process.wait()


# -- streams ----------------------------------------------------------------------------------


async def longest_hold(one: DoorCall) -> float:
    """Return the longest time for which 100 streams at once held the loop of the server.

    The clients live in the same loop, so it is what the server takes and more.
    """
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    async with app_of([one]) as app, asyncio.TaskGroup() as group:
        group.create_task(serve(app, port=0, on_ready=ready.set_result, stop=stop))  # type: ignore[arg-type]
        url = await ready
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(url, connector=connector) as http:
            await follow(http, one, 0)
            watch = LoopWatch()
            await asyncio.gather(*(follow(http, one, number) for number in range(STREAMS)))
            watch.stop()
        stop.set()
    return watch.longest


class LoopWatch:
    """Looks at the clock every millisecond; `longest` is what a look came too late.

    What other processes took meanwhile does not count: no more than this thread's own CPU time.
    """

    def __init__(self) -> None:
        self.longest = 0.0
        self._loop = asyncio.get_running_loop()
        self._wait()

    def stop(self) -> None:
        """Look no more."""
        self._timer.cancel()

    def _look(self) -> None:
        late = min(time.perf_counter() - self._due, time.thread_time() - self._used)
        self.longest = max(self.longest, late)
        self._wait()

    def _wait(self) -> None:
        self._due, self._used = time.perf_counter() + 0.001, time.thread_time()
        self._timer = self._loop.call_later(0.001, self._look)


async def follow(http: aiohttp.ClientSession, one: DoorCall, number: int) -> None:
    body = one.body(f"streamer-{number}", "hello")
    async with http.post(one.path, json=body, headers=one.headers) as response:
        async for _ in response.content:
            pass


def write(report: str) -> None:
    page = PAGE.read_text("utf-8")
    before, found, rest = page.partition(TITLE)
    _, following, others = rest.partition("\n## ")
    after = f"\n## {others}" if following else ""
    PAGE.write_text(before.rstrip() + "\n\n" + report + after, "utf-8") if found else (
        PAGE.write_text(page.rstrip() + "\n\n" + report, "utf-8")
    )


if __name__ == "__main__":
    main()
