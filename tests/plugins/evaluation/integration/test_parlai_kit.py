"""The door for ParlAI's websocket clients keeps what every channel must keep."""

from typing import Any

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.plugins.evaluation.chat_door import Parlai
from prolocutor.testing.channel_kit import ChannelKit, Door, DoorAnswer

STATUS = {"bad_input": 400, "forbidden": 403, "stopping": 503}
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class TestParlai(ChannelKit):
    takes_keys = False

    def make(self, assistant: Assistant) -> Channel:
        return Parlai(assistant)

    async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> DoorAnswer:
        return await send(door, {"text": text}, user)

    async def say_nonsense(self, door: Door, *, user: str) -> DoorAnswer:
        return await send(door, {"text": {"a": 1}}, user)


async def send(door: Door, message: Any, user: str) -> DoorAnswer:
    """Send one message over a socket of its own; a refusal's status is that of its code."""
    address = f"/websocket?user={user}"
    try:
        async with door.http.ws_connect(address) as socket:
            await socket.send_json(message)
            body = await socket.receive_json()
    except aiohttp.WSServerHandshakeError:
        async with door.http.get(address, headers=UPGRADE) as response:
            return await DoorAnswer.read_response(response, str)
    if "code" not in body:
        return DoorAnswer(200, body["text"], body)
    body = {name: body[name] for name in ("error", "code", "field")}
    return DoorAnswer(STATUS[body["code"]], None, body)
