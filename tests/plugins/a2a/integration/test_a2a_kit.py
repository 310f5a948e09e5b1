"""The A2A door keeps what every channel must keep, spoken to by REST."""

from typing import Any

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.dialog.ids import new_id
from prolocutor.plugins.a2a.door.door import A2a
from prolocutor.testing.channel_kit import ChannelKit, Door, DoorAnswer

VERSION = {"A2A-Version": "1.0"}


def message(text: str, key: str | None, user: str) -> dict[str, Any]:
    parts = [{"text": text}]
    said = {"messageId": key or new_id(), "role": "ROLE_USER", "parts": parts}
    return {"message": {**said, "contextId": f"of-{user}"}}


async def answer_of(response: aiohttp.ClientResponse) -> DoorAnswer:
    body = await response.json()
    if response.status == 200:
        text = body["task"]["artifacts"][0]["parts"][0]["text"]
        return DoorAnswer(200, text, body, response.headers)
    status = body["error"]
    (info,) = status["details"]
    told = {
        "error": status["message"],
        "code": info["reason"].lower(),
        "field": info["metadata"].get("field"),
    }
    return DoorAnswer(response.status, None, told, response.headers)


class TestA2a(ChannelKit):
    def make(self, assistant: Assistant) -> Channel:
        return A2a(assistant)

    async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> DoorAnswer:
        path = f"/a2a/message:send?user={user}"
        async with door.http.post(path, json=message(text, key, user), headers=VERSION) as response:
            return await answer_of(response)

    async def say_nonsense(self, door: Door, *, user: str) -> DoorAnswer:
        path = f"/a2a/message:send?user={user}"
        async with door.http.post(path, json={"message": 3}, headers=VERSION) as response:
            return await answer_of(response)
