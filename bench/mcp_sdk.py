"""CPU of one MCP call by streamable HTTP: our client and server beside those of the official SDK.

    python bench/mcp_sdk.py [--calls 500] [--rounds 5] [--version 2026-07-28]

Each side is a process of its own, the tool gives back its text. The pairs take turns, so that what
else the machine does falls on all of them. The SDK is that of `build/sdk` (`make test` makes it).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SDK = ROOT / "build" / "sdk" / "bin" / "python"
TICKS = os.sysconf("SC_CLK_TCK")
SIDES = ("ours", "sdk")
TEXT = "What is the weather like in Paris today?"


# -- the servers ----------------------------------------------------------------------------


def serve_ours() -> None:
    from prolocutor.assistant.assistant import Assistant
    from prolocutor.plan.pipeline import Pipeline, Service
    from prolocutor.plugins.mcp.door.door import Mcp
    from prolocutor.web.listener import make_app
    from prolocutor.web.serving import serve

    class EchoCalls:
        tools = ({"name": "echo", "inputSchema": INPUT},)

        async def call(self, params: Any, client: Any) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": params.arguments["text"]}]}

    async def run() -> None:
        pipeline = Pipeline(skills=[Service("echo", lambda _: [])])
        async with Assistant(pipeline, store="memory:") as assistant:
            door = Mcp(assistant)
            door._server._calls = EchoCalls()  # type: ignore[assignment]
            app = make_app(assistant, [door])
            await serve(app, port=0, on_ready=lambda url: print(f"{url}/mcp", flush=True))

    asyncio.run(run())


def serve_sdk() -> None:
    import socket

    import uvicorn
    from mcp.server import MCPServer

    server = MCPServer("echo")

    @server.tool(structured_output=False)
    async def echo(text: str) -> str:
        return text

    one = socket.socket()
    one.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{one.getsockname()[1]}/mcp", flush=True)
    app = server.streamable_http_app(json_response=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", loop="asyncio")).run([one])


INPUT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


# -- the clients ----------------------------------------------------------------------------


def call_ours(url: str, version: str) -> None:
    from prolocutor.plugins.mcp.connector.http_peer import HttpPeer
    from prolocutor.plugins.mcp.connector.peer import refuse
    from prolocutor.plugins.mcp.connector.session import McpSession

    async def run() -> None:
        peer = HttpPeer(url, headers={}, asks=refuse, tools_changed=lambda: None)
        session = McpSession(peer, pinned=version)
        tool = await session.tool("echo", 5.0)

        async def call() -> None:
            result = await session.call(tool, {"text": TEXT}, {}, session.next_id(), {})
            assert TEXT.encode() in bytes(result.content[0].text, "utf-8")

        await obey(call)
        await session.aclose()

    asyncio.run(run())


def call_sdk(url: str, version: str) -> None:
    from mcp import Client

    async def run() -> None:
        mode = version if version > "2026" else "legacy"  # the handshake
        async with Client(url, mode=mode) as client:
            await client.list_tools()

            async def call() -> None:
                result = await client.call_tool("echo", {"text": TEXT})
                assert result.content[0].text == TEXT  # type: ignore[union-attr]

            await obey(call)

    asyncio.run(run())


async def obey(call: Any) -> None:
    """Make as many calls as each line says, and print the seconds of CPU that they took."""
    loop = asyncio.get_running_loop()
    await call()
    print("ready", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        before = time.process_time()
        for _ in range(int(line)):
            await call()
        print(time.process_time() - before, flush=True)


# -- in turns -------------------------------------------------------------------------------


def main(calls: int, rounds: int, version: str) -> None:
    servers = {side: started(side, "serve") for side in SIDES}
    urls = {side: said(one) for side, one in servers.items()}
    pairs = {
        (client, server): started(client, "call", urls[server], version)
        for client in SIDES
        for server in SIDES
    }
    for one in pairs.values():
        assert said(one) == "ready"
    clients: dict[tuple[str, str], list[float]] = {pair: [] for pair in pairs}
    spent: dict[tuple[str, str], list[float]] = {pair: [] for pair in pairs}
    for _ in range(rounds):
        for pair, client in pairs.items():
            before = cpu(servers[pair[1]].pid)
            assert client.stdin is not None
            client.stdin.write(f"{calls}\n")
            client.stdin.flush()
            clients[pair].append(float(said(client)) / calls * 1000)
            spent[pair].append((cpu(servers[pair[1]].pid) - before) / calls * 1000)
    print(f"{version}: CPU ms of one call, the median of {rounds} rounds of {calls} calls")
    for client, server in pairs:
        pair = (client, server)
        mine, theirs = statistics.median(clients[pair]), statistics.median(spent[pair])
        print(f"client {client:4}  server {server:4}  {mine:6.3f} {theirs:6.3f}")
    for one in [*pairs.values(), *servers.values()]:
        one.kill()


def started(side: str, *arguments: str) -> subprocess.Popen[str]:
    python = str(SDK) if side == "sdk" else sys.executable
    return subprocess.Popen(
        [python, "-W", "ignore", __file__, f"--{side}", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


ROLES = {
    ("--ours", "serve"): serve_ours,
    ("--sdk", "serve"): serve_sdk,
    ("--ours", "call"): call_ours,
    ("--sdk", "call"): call_sdk,
}

if __name__ == "__main__":
    if sys.argv[1:3] and tuple(sys.argv[1:3]) in ROLES:
        ROLES[sys.argv[1], sys.argv[2]](*sys.argv[3:])  # type: ignore[operator]
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--version", default="2026-07-28")
    given = parser.parse_args()
    main(given.calls, given.rounds, given.version)
