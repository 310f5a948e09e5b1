"""The watch itself: it sees a step that holds the loop, and no other."""

import asyncio
import time
from typing import Any

import aiohttp
import pytest

from prolocutor.plan.pipeline import Pipeline, Service
from tests.fuzz.loop_watch import watched_loop
from tests.fuzz.served import served


def work(seconds: float) -> None:
    """Use the processor for so long."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


async def hold() -> None:
    with watched_loop(limit=0.02) as watch:
        asyncio.get_running_loop().call_soon(work, 0.025)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    watch.check()


async def test_a_step_that_holds_the_loop_is_seen() -> None:
    with pytest.raises(AssertionError, match="work"):
        await hold()


async def test_steps_that_let_go_and_other_threads_are_not() -> None:
    with watched_loop(limit=0.02) as watch:
        for _ in range(3):
            work(0.008)
            await asyncio.sleep(0)
        await asyncio.to_thread(work, 0.03)
    watch.check()
    assert watch.longest > 0


async def greedy(_: Any) -> Any:
    work(0.06)
    return {"text": "done", "confidence": 1.0}


async def ask_the_greedy() -> None:
    skills = Pipeline(skills=[Service("greedy", greedy)])
    async with served(skills, ("deeppavlov",)) as it, aiohttp.ClientSession(it.url) as http:
        it.watch.doing = "asking the greedy"
        async with http.post("/", json={"user_id": "ann", "payload": "hi"}) as response:
            assert response.status == 200


async def test_a_server_that_is_held_fails_its_test() -> None:
    with pytest.raises(AssertionError, match="asking the greedy"):
        await ask_the_greedy()
