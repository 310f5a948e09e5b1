"""The door for MCP clients keeps what every channel must keep."""

from typing import Any

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.plugins.mcp.door.door import Mcp
from prolocutor.testing.channel_kit import ChannelKit, Door, DoorAnswer


class TestMcpDoor(ChannelKit):
    def make(self, assistant: Assistant) -> Channel:
        return Mcp(assistant)

    async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> DoorAnswer:
        arguments = {"text": text, "conversation_id": "main"}
        params = {"name": "ask", "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"Idempotency-Key": key} if key else {}
        async with door.http.post(f"/mcp?user={user}", json=request, headers=headers) as response:
            return answer_of(response, await response.json())

    async def say_nonsense(self, door: Door, *, user: str) -> DoorAnswer:
        headers = {"Content-Type": "application/json"}
        async with door.http.post(f"/mcp?user={user}", data=b"{", headers=headers) as response:
            answer = answer_of(response, await response.json())
        assert answer.body == {"code": -32700, "message": answer.body["message"]}
        return DoorAnswer(answer.status, None, {"error": "", "code": "", "field": None})


def answer_of(response: aiohttp.ClientResponse, body: dict[str, Any]) -> DoorAnswer:
    """Return what a response says: a failed tool has the status that it has at other doors."""
    if "error" in body:
        error = body["error"]
        return DoorAnswer(response.status, None, error.get("data", error), response.headers)
    result = body["result"]
    if result["isError"]:
        error = result["_meta"]["prolocutor/error"]
        return DoorAnswer(error["status"], None, error, response.headers)
    return DoorAnswer(200, result["structuredContent"]["text"], result, response.headers)
