"""Whatever a service does in whatever place, the turn is answered by the deadline."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline, Service
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.dialog.agent_state import encode_dialog
from prolocutor.testing.fake_service import FakeService
from tests.integration.engine.misbehaviours import (
    MISBEHAVIOURS,
    PLACES,
    SECRET,
    for_ever,
    pipeline_with,
)

DEADLINE = 1.5
SLACK = 20.0
"""What a busy machine may take on top (50 MB are made in this very process)."""

FALLBACK = "I do not know."
ANSWERS = {"fine", "fine.", "Sorry.", FALLBACK, "odd"}

Target = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def release() -> Iterator[None]:
    for_ever.clear()
    yield
    for_ever.set()


async def take(pipeline: Pipeline) -> tuple[TurnResult, str]:
    """Take one turn within the deadline; give it and all that is stored of it."""
    loop = asyncio.get_running_loop()
    async with Assistant(
        pipeline, store="memory:", deadline=DEADLINE, fallback=FALLBACK
    ) as assistant:
        start = loop.time()
        result = await assistant.turn("hi", user="ann")
        assert loop.time() - start < DEADLINE + SLACK
        dialog = await assistant.store.dialog(result.dialog_id)
        assert dialog is not None
        assert await assistant.store.unfinished_turns() == []
        return result, encode_dialog(dialog).decode()


@pytest.mark.parametrize("misbehaves", MISBEHAVIOURS)
@pytest.mark.parametrize("place", PLACES)
async def test_a_turn_is_answered_whatever_a_service_does(place: str, misbehaves: Target) -> None:
    result, stored = await take(pipeline_with(misbehaves, place, alone=True))
    assert result.reply.text in ANSWERS
    assert SECRET not in stored
    assert '"stolen"' not in str(result.reply.user)
    assert result.reply.user.id != "stolen"


@pytest.mark.parametrize("misbehaves", MISBEHAVIOURS)
@pytest.mark.parametrize("place", [place for place in PLACES if place != "last_chance"])
async def test_a_sound_service_beside_it_still_does_its_work(
    place: str, misbehaves: Target
) -> None:
    result, stored = await take(pipeline_with(misbehaves, place, alone=False))
    assert result.reply.text in {"fine.", "odd"}
    assert SECRET not in stored


@pytest.mark.parametrize("misbehaves", MISBEHAVIOURS)
async def test_the_next_turn_is_answered_too(misbehaves: Target) -> None:
    odd = Service("odd", misbehaves, timeout=0.05)
    sound = Service("sound", FakeService({"text": "fine", "confidence": 1.0}))
    async with Assistant(Pipeline(skills=[odd, sound]), store="memory:") as assistant:
        for _ in range(3):
            assert (await assistant.reply("hi", user="ann")).text == "fine"
