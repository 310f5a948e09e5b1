"""The peers of `doors.py`: they answer at once whatever they are asked, each by its protocol.

Prints their addresses, of those over HTTP and of those over WebSockets. A peer is a route here: a
path, and the bytes of every answer.
"""

from __future__ import annotations

import asyncio
import json
from typing import cast

import uvloop
from aiohttp import web

NATIVE = b'[{"text":"It is a fine day, with some clouds in the evening.","confidence":0.9}]'
CHAT = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"any","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"It is a fine day, with some clouds in the evening."'
    b'},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":'
    b"18}}"
)

MCP_TOOL = {"name": "ask", "inputSchema": {"type": "object", "properties": {"text": {}}}}
MCP_SAID = {"text": "It is a fine day, with some clouds in the evening.", "confidence": 0.9}
MCP_ANSWERS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}},
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "tools/list": {"tools": [MCP_TOOL]},
    "tools/call": {"content": [], "structuredContent": MCP_SAID, "resultType": "complete"},
}

RESPONSE = (
    b'{"id":"r","object":"response","status":"completed","output":[{"type":"message","role":'
    b'"assistant","content":[{"type":"output_text","text":"It is a fine day, with some clouds in '
    b'the evening.","annotations":[]}]}],"usage":{"input_tokens":9,"output_tokens":9}}'
)
RASA = b'[{"recipient_id":"d","text":"It is a fine day, with some clouds in the evening."}]'

CARD = "/.well-known/agent-card.json"
A2A_IDS = {"id": "t", "contextId": "c"}
A2A_SAID = [{"artifactId": "a", "parts": [{"text": MCP_SAID["text"]}]}]
A2A_TASK = {**A2A_IDS, "status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": A2A_SAID}
A2A_UPDATE = {"taskId": "t", "contextId": "c"}
A2A_EVENTS: list[dict[str, object]] = [
    {"task": {**A2A_IDS, "status": {"state": "TASK_STATE_SUBMITTED"}}},
    {"artifactUpdate": {**A2A_UPDATE, "artifact": A2A_SAID[0], "lastChunk": True}},
    {"statusUpdate": {**A2A_UPDATE, "status": {"state": "TASK_STATE_COMPLETED"}}},
]


def a2a_card(path: str, *, streaming: bool) -> bytes:
    """Return the card of an agent at a path."""
    there = {"url": path, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    card = {"name": "peer", "supportedInterfaces": [there], "skills": []}
    return json.dumps({**card, "capabilities": {"streaming": streaming}}).encode()


def a2a_answer(result: object) -> bytes:
    """Return the answer of an agent."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


ASSISTANT = b'"prolocutor":{"skill":"a","confidence":0.9,"utt_id":"u","by":"only","asked":["a"]}}'

ANSWERS = {
    b"/assistant/v1/models": b'{"data":[{"id":"any","owned_by":"prolocutor"}]}',
    b"/assistant/v1/chat/completions": CHAT[:-1] + b"," + ASSISTANT,
    b"/native": NATIVE,
    b"/v1/chat/completions": CHAT,
    b"/v1/responses": RESPONSE,
    b"/webhooks/rest/webhook": RASA,
    f"/a2a{CARD}".encode(): a2a_card("/a2a", streaming=False),
    f"/a2a/streams{CARD}".encode(): a2a_card("/a2a/streams", streaming=True),
    b"/a2a": a2a_answer({"task": A2A_TASK}),
    b"/a2a/streams": b"".join(b"data: %b\n\n" % a2a_answer(event) for event in A2A_EVENTS),
}
STREAMED = (b"/a2a/streams",)


class Peer(asyncio.Protocol):
    """A connection over which requests come one after the other."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, rest = self.buffer.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            if len(rest) < length:
                return
            body, self.buffer = rest[:length], rest[length:]
            self.answer(head.split(b" ", 2)[1], body)

    def answer(self, path: bytes, body: bytes) -> None:
        """Send the answer of a path."""
        said = mcp_answer(body) if path == b"/mcp" else ANSWERS[path.partition(b"?")[0]]
        self.transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n%b"
            % (b"text/event-stream" if path in STREAMED else b"application/json", len(said), said)
        )


def mcp_answer(body: bytes) -> bytes:
    """Answer a JSON-RPC request of an MCP client."""
    asked = json.loads(body)
    answer = {"jsonrpc": "2.0", "id": asked.get("id"), "result": MCP_ANSWERS.get(asked["method"])}
    return json.dumps(answer).encode()


async def lines(request: web.Request) -> web.WebSocketResponse:
    """Answer each message of a WebSocket by one message."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for _ in socket:
        await socket.send_str(NATIVE.decode())
    return socket


async def conversation(request: web.Request) -> web.WebSocketResponse:
    """Answer each command as an Almond does, second generation."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    over = {"type": "askSpecial", "ask": None}
    for said in ({"type": "id", "id": request.query["id"]}, over):
        await socket.send_json(said)
    async for message in socket:
        echo = {"type": "command", "command": message.json()["text"], "id": 0}
        for said in (echo, {"type": "text", "text": MCP_SAID["text"], "id": 1}, over):
            await socket.send_json(said)
    return socket


async def run() -> None:
    app = web.Application()
    app.add_routes([web.get("/lines", lines), web.get("/api/conversation", conversation)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sockets = runner.addresses[0][1]
    server = await asyncio.get_running_loop().create_server(Peer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"http://{host}:{port} ws://127.0.0.1:{sockets}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(run())
