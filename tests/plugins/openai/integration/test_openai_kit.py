"""The contract of channels, for OpenAI's API."""

from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.plugins.openai.door.channel import OpenAi
from prolocutor.testing.channel_kit import ChannelKit, Door, DoorAnswer

CODES = {"invalid_api_key": "unauthenticated", "rate_limit_exceeded": "overloaded"}


class TestOpenAi(ChannelKit):
    def make(self, assistant: Assistant) -> OpenAi:
        return OpenAi(assistant)

    async def say(self, door: Door, text: str, *, user: str, key: str | None = None) -> DoorAnswer:
        return await complete(
            door,
            {"model": "assistant", "messages": [{"role": "user", "content": text}], "user": user},
            key,
        )

    async def say_nonsense(self, door: Door, *, user: str) -> DoorAnswer:
        return await complete(door, {"model": "assistant", "messages": "hello", "user": user})


async def complete(door: Door, body: dict[str, Any], key: str | None = None) -> DoorAnswer:
    """Ask for a completion; an error is brought into the form of the other doors."""
    headers = {"Idempotency-Key": key} if key else {}
    async with door.http.post("/v1/chat/completions", json=body, headers=headers) as response:
        told = await DoorAnswer.read_response(
            response, lambda one: one["choices"][0]["message"]["content"]
        )
    if told.status != 200:
        error = told.body["error"]
        code = CODES.get(error["code"], error["code"] or "bad_input")
        told.body = {"error": error["message"], "code": code, "field": error["param"]}
    return told
