"""Many episodes at once in one event loop."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from prolocutor.plugins.evaluation.parlai.agents import RepeatQueryAgent
from prolocutor.plugins.evaluation.parlai.async_world import AsyncWorld

EPISODES = [[{"text": "a1"}, {"text": "a2"}], [{"text": "b1"}], [{"text": "c1"}]]


class Patient:
    """Acts when all who are expected have observed something."""

    expected = asyncio.Barrier(2)

    def observe(self, observation: Any) -> Any:
        self.heard = observation
        return observation

    async def act(self) -> dict[str, Any]:
        await Patient.expected.wait()
        return {"text": self.heard["text"].upper()}


async def test_plain_agents_are_told_every_episode_to_its_end() -> None:
    world = AsyncWorld(EPISODES, RepeatQueryAgent, in_flight=2)

    told = {one.number: [act["text"] for act in one.acts] async for one in world.run()}

    assert told == {0: ["a1", "a2"], 1: ["b1"], 2: ["c1"]}


async def test_episodes_are_told_at_the_same_time() -> None:
    Patient.expected = asyncio.Barrier(2)
    world = AsyncWorld([[{"text": "a"}], [{"text": "b"}]], Patient, in_flight=2)

    async with asyncio.timeout(60):
        told = [one.acts[0]["text"] async for one in world.run()]

    assert sorted(told) == ["A", "B"]


async def test_the_next_episode_is_asked_for_when_there_is_room() -> None:
    asked = 0

    def endless() -> Iterator[list[dict[str, Any]]]:
        nonlocal asked
        while True:
            asked += 1
            yield [{"text": "x"}]

    run = AsyncWorld(endless(), RepeatQueryAgent, in_flight=3).run()
    await anext(run)
    await run.aclose()  # type: ignore[attr-defined]

    assert asked <= 6


async def test_the_last_message_of_an_episode_says_so() -> None:
    class Keen(RepeatQueryAgent):
        def act(self) -> dict[str, Any]:
            assert self.observation is not None
            return {"text": str(self.observation["episode_done"])}

    (told,) = [one async for one in AsyncWorld(EPISODES[:1], Keen).run()]

    assert [act["text"] for act in told.acts] == ["False", "True"]


async def test_who_raises_ends_its_own_episode_alone() -> None:
    class Delicate(RepeatQueryAgent):
        def act(self) -> Any:
            act = super().act()
            return None if act["text"] == "a2" else act

    world = AsyncWorld(EPISODES, Delicate)
    told = {one.number: (len(one.acts), str(one.error)) async for one in world.run()}

    assert told[0] == (1, "$: the act of Delicate is a NoneType, not a dictionary")
    assert told[1] == told[2] == (1, "None")


def test_nothing_in_flight_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        AsyncWorld(EPISODES, RepeatQueryAgent, in_flight=0)
