"""The DeepPavlov door keeps what every channel must keep."""

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Channel
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.testing.channel_kit import ChannelKit, Door, DoorAnswer


class TestDeepPavlov(ChannelKit):
    def make(self, assistant: Assistant) -> Channel:
        return DeepPavlov(assistant)

    async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> DoorAnswer:
        headers = {"Idempotency-Key": key} if key else {}
        body = {"user_id": user, "payload": text}
        async with door.http.post("/", json=body, headers=headers) as response:
            return await DoorAnswer.read_response(response, lambda body: body["response"])

    async def say_nonsense(self, door: Door, *, user: str) -> DoorAnswer:
        async with door.http.post("/", json={"user_id": user, "payload": {"a": 1}}) as response:
            return await DoorAnswer.read_response(response, lambda body: body["response"])
