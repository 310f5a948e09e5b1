"""What a turn leaves behind when it is over."""

import gc
from collections.abc import Iterator

import pytest

from prolocutor import Assistant, Pipeline, Service


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def echo(request: dict) -> dict:
    return {"text": request["utterances"][-1]["text"], "confidence": 0.5}


async def test_a_turn_leaves_nothing_to_the_garbage_collector(no_collector: None) -> None:
    pipeline = Pipeline(
        skills=[Service("echo", echo)],
        candidate_annotators=[Service("seen", lambda _: True, inline=True)],
    )
    async with Assistant(pipeline, store="memory:") as assistant:
        await assistant.reply("first", user="ann")
        gc.collect()
        await assistant.reply("second", user="ann")

        assert gc.collect() == 0
