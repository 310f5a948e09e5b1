"""CPU of one MCP call by streamable HTTP: our client and server beside those of the official SDK.

    python bench/mcp_sdk.py [CALLS [ROUNDS]]

Each side is a process of its own, the tool gives back its text. The pairs take turns, so that what
else the machine does falls on all of them. The SDK is that of `build/sdk` (`make test` makes it).
"""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SDK = Path(__file__).parents[1] / "build" / "sdk" / "bin" / "python"
SIDES = ("ours", "sdk")
VERSIONS = ("2026-07-28", "2025-11-25")
TEXT = "What is the weather like in Paris today?"
ECHO = {
    "name": "echo",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


async def serve_ours() -> None:
    from prolocutor.assistant.assistant import Assistant
    from prolocutor.plan.pipeline import Pipeline, Service
    from prolocutor.plugins.mcp.door.door import Mcp
    from prolocutor.web.listener import Listener
    from prolocutor.web.serving import serve

    class EchoCalls:
        tools = (ECHO,)

        async def call(self, params: Any, client: Any) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": params.arguments["text"]}]}

    pipeline = Pipeline(skills=[Service("echo", lambda _: [])])
    async with Assistant(pipeline, store="memory:") as assistant:
        door = Mcp(assistant)
        door._server._calls = EchoCalls()  # type: ignore[assignment]
        app = Listener(assistant, [door])
        await serve(app, port=0, on_ready=lambda url: print(f"{url}/mcp", flush=True))


async def serve_sdk() -> None:
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
    await uvicorn.Server(uvicorn.Config(app, log_level="critical")).serve([one])


async def call_ours(url: str, version: str) -> None:
    from prolocutor.plugins.mcp.connector.http_peer import HttpPeer
    from prolocutor.plugins.mcp.connector.peer import refuse
    from prolocutor.plugins.mcp.connector.session import McpSession

    peer = HttpPeer(url, headers={}, asks=refuse, tools_changed=lambda: None)
    session = McpSession(peer, pinned=version)
    tool = await session.tool("echo", 5.0)

    async def call() -> Any:
        return await session.call(tool, {"text": TEXT}, {}, session.next_id(), {})

    await obey(call)


async def call_sdk(url: str, version: str) -> None:
    from mcp import Client

    async with Client(url, mode=version if version > "2026" else "legacy") as client:
        await client.list_tools()
        await obey(lambda: client.call_tool("echo", {"text": TEXT}))


async def obey(call: Any) -> None:
    """Make as many calls as each line says, and print the seconds of CPU that they took."""
    assert (await call()).content[0].text == TEXT
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        before = time.process_time()
        for _ in range(int(line)):
            await call()
        print(time.process_time() - before, flush=True)


def main(calls: int = 500, rounds: int = 3) -> None:
    servers = {side: started(side, "serve") for side in SIDES}
    urls = {side: said(server) for side, server in servers.items()}
    for version in VERSIONS:
        clients = {
            (side, server): started(side, "call", urls[server], version)
            for side in SIDES
            for server in SIDES
        }
        spent: dict[tuple[str, str], list[tuple[float, float]]] = {pair: [] for pair in clients}
        assert {said(one) for one in clients.values()} == {"ready"}
        for _ in range(rounds):
            for pair, client in clients.items():
                before = cpu(servers[pair[1]].pid)
                print(calls, file=client.stdin, flush=True)
                mine = float(said(client))
                spent[pair].append((mine, cpu(servers[pair[1]].pid) - before))
        for pair, client in clients.items():
            both = (statistics.median(one) / calls * 1000 for one in zip(*spent[pair], strict=True))
            print(
                version, "client {} server {}: CPU ms of a call".format(*pair), *map(round3, both)
            )
            client.kill()
    for one in servers.values():
        one.kill()


def started(side: str, *arguments: str) -> subprocess.Popen[str]:
    command = [SDK if side == "sdk" else sys.executable, "-W", "ignore", __file__, side, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def round3(value: float) -> str:
    return f"{value:.3f}"


ROLES: dict[tuple[str, str], Any] = {
    ("serve", "ours"): serve_ours,
    ("serve", "sdk"): serve_sdk,
    ("call", "ours"): call_ours,
    ("call", "sdk"): call_sdk,
}

if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in SIDES:
        side, role, *rest = sys.argv[1:]
        asyncio.run(ROLES[role, side](*rest))
    else:
        main(*map(int, sys.argv[1:]))
