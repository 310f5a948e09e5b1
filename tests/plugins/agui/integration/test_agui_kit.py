"""The door for AG-UI clients keeps what every channel must keep."""

import json

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.dialog.ids import new_id
from prolocutor.plugins.agui.channel import AgUi
from prolocutor.testing.channel_kit import ChannelKit, Door, DoorAnswer


class TestAgUi(ChannelKit):
    def make(self, assistant: Assistant) -> Channel:
        return AgUi(assistant)

    async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> DoorAnswer:
        message = {"id": "1", "role": "user", "content": text}
        run = {"threadId": "main", "runId": key or new_id(), "messages": [message]}
        return await self._run(door, run, user)

    async def say_nonsense(self, door: Door, *, user: str) -> DoorAnswer:
        return await self._run(door, {"threadId": "main"}, user)

    async def _run(self, door: Door, run: object, user: str) -> DoorAnswer:
        async with door.http.post(f"/agui?user={user}", json=run) as response:
            if response.status != 200:
                return DoorAnswer(response.status, None, await response.json(), response.headers)
            lines = (await response.text()).split("\n\n")
        events = [json.loads(line.removeprefix("data: ")) for line in lines if line]
        last = events[-1]
        return DoorAnswer(200, last["result"]["text"], last, response.headers)
