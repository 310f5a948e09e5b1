"""The peers of `doors.py`: they answer at once whatever they are asked, each by its protocol.

Prints its address. A peer is a route here: a path, and the bytes of every answer.
"""

from __future__ import annotations

import asyncio
import json
from typing import cast

import uvloop

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

ANSWERS = {
    b"/native": NATIVE,
    b"/v1/chat/completions": CHAT,
    b"/v1/responses": RESPONSE,
    b"/webhooks/rest/webhook": RASA,
}


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
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (len(said), said)
        )


def mcp_answer(body: bytes) -> bytes:
    """Answer a JSON-RPC request of an MCP client."""
    asked = json.loads(body)
    answer = {"jsonrpc": "2.0", "id": asked.get("id"), "result": MCP_ANSWERS.get(asked["method"])}
    return json.dumps(answer).encode()


async def run() -> None:
    server = await asyncio.get_running_loop().create_server(Peer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"http://{host}:{port}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(run())
