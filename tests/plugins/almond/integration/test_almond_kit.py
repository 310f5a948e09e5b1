"""The Almond door keeps what every channel must keep: over HTTP and over WebSockets."""

import re
from typing import Any

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.plugins.almond.door.door import Almond
from prolocutor.testing.channel_kit import ChannelKit, Door, DoorAnswer
from tests.plugins.almond.integration.wire import Client

STATUS = {"bad_input": 400, "forbidden": 403, "stopping": 503}
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class TestConverse(ChannelKit):
    def make(self, assistant: Assistant) -> Channel:
        return Almond(assistant)

    async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> DoorAnswer:
        return await post(door, {"type": "command", "text": text}, user, key)

    async def say_nonsense(self, door: Door, *, user: str) -> DoorAnswer:
        return await post(door, {"type": "command", "text": 5}, user)


class TestSocket(ChannelKit):
    takes_keys = False

    def make(self, assistant: Assistant) -> Channel:
        return Almond(assistant)

    async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> DoorAnswer:
        return await send(door, {"type": "command", "text": text}, user)

    async def say_nonsense(self, door: Door, *, user: str) -> DoorAnswer:
        return await send(door, {"type": "command", "text": 5}, user)


async def post(
    door: Door, command: dict[str, Any], user: str, key: str | None = None
) -> DoorAnswer:
    body = {"command": command, "conversationId": "main"}
    headers = {"Idempotency-Key": key} if key else {}
    address = f"/api/converse?user={user}"
    async with door.http.post(address, json=body, headers=headers) as response:
        return await DoorAnswer.read_response(
            response, lambda reply: str(reply["messages"][0]["text"])
        )


async def send(door: Door, frame: dict[str, Any], user: str) -> DoorAnswer:
    """Say one thing over a socket of its own; a refusal's status is that of its code.

    Others of the same person may speak meanwhile: the reply is the one that ends in the words.
    """
    address = f"/api/conversation?user={user}&skip_history=1"
    try:
        async with door.http.ws_connect(address) as socket:
            client = Client(socket)
            first = await client.receive()
            if first["type"] != "error":
                await client.until_asked()
                await client.send(**frame)
                ending = re.compile(rf"\d+: {re.escape(str(frame['text']))}")
                while first["type"] not in ("text", "error") or (
                    first["type"] == "text" and not ending.fullmatch(first["text"])
                ):
                    first = await client.receive()
    except aiohttp.WSServerHandshakeError:
        async with door.http.get(address, headers=UPGRADE) as response:
            return await DoorAnswer.read_response(response, str)
    if first["type"] == "text":
        return DoorAnswer(200, first["text"], first)
    told = {"error": first["error"], "code": first["code"], "field": None}
    return DoorAnswer(STATUS[first["code"]], None, told)
