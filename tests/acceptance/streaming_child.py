"""A program that listens to one turn and prints its events, a line each; a test kills it."""

import asyncio
import sys
from collections.abc import AsyncIterator

import msgspec

import prolocutor
from prolocutor import Assistant, Pipeline, Service, TurnRequest


async def poet(turn: TurnRequest) -> AsyncIterator[str]:
    yield "Roses are "
    if sys.argv[2] == "hangs":
        await asyncio.Event().wait()
    yield "red after all."


async def main() -> None:
    pipeline = Pipeline(skills=[Service("poet", poet, timeout=60.0)])
    async with Assistant(pipeline, store=sys.argv[1], deadline=60.0) as assistant:
        async for event in assistant.stream("a poem", user="ann", request_id="key"):
            print(msgspec.json.encode(event).decode(), flush=True)


if __name__ == "__main__":
    prolocutor.run(main())
