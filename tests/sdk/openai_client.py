"""The `openai` package as a client, called by its own verbs."""

import sys
from typing import Any

from answering import answer
from openai import AsyncOpenAI

URL = sys.argv[1]
CLIENTS: dict[str, AsyncOpenAI] = {}


def client(key: str) -> AsyncOpenAI:
    """Return the client with this key, which tries nothing again."""
    if key not in CLIENTS:
        CLIENTS[key] = AsyncOpenAI(base_url=f"{URL}/v1", api_key=key, max_retries=0)
    return CLIENTS[key]


async def call(method: str, key: str = "any", **arguments: Any) -> Any:
    """Call a method such as `chat.completions.create`, and return what it gives as JSON."""
    found: Any = client(key)
    for part in method.split("."):
        found = getattr(found, part)
    if arguments.pop("positional", None) is not None:
        raise ValueError("use keywords")
    given = await found(**arguments)
    if hasattr(given, "__aiter__"):
        return [one.model_dump(mode="json") async for one in given]
    if given is None:
        return None
    dumped = given.model_dump(mode="json")
    for name in ("output_text", "_request_id"):
        if getattr(given, name, None):
            dumped[name] = getattr(given, name)
    return dumped


async def pages(method: str, key: str = "any", **arguments: Any) -> list[Any]:
    """Call a method that lists things, and return all of them."""
    found: Any = client(key)
    for part in method.split("."):
        found = getattr(found, part)
    return [one.model_dump(mode="json") async for one in found(**arguments)]


async def streamed_response(key: str = "any", **arguments: Any) -> dict[str, Any]:
    """Follow a response with the package's own helper, which puts it together and checks it."""
    async with client(key).responses.stream(**arguments) as stream:
        types = [event.type async for event in stream]
        final = await stream.get_final_response()
    return {"types": types, "text": final.output_text, "final": final.model_dump(mode="json")}


async def streamed_chat(key: str = "any", **arguments: Any) -> dict[str, Any]:
    """Follow a completion with the package's own helper."""
    async with client(key).chat.completions.stream(**arguments) as stream:
        types = [event.type async for event in stream]
        final = await stream.get_final_completion()
    return {"types": types, "final": final.model_dump(mode="json")}


if __name__ == "__main__":
    answer(call, pages, streamed_response, streamed_chat)
