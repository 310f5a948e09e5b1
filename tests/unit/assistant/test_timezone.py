"""The time zone that a client tells of is the person's from then on."""

from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.dialog.inputs import TurnInput
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeService


async def zones(*told: Any) -> list[str | None]:
    """Return what a skill sees of the time zone in one turn after the other."""
    skill = FakeService({"text": "hm", "confidence": 1.0, "human_attributes": {"x": 1}})
    pipeline = Pipeline(skills=[Service("skill", skill)])
    async with Assistant(pipeline, store="memory:") as assistant:
        for one in told:
            attributes = {} if one is None else {"platformData": one}
            await assistant.reply("hi", "ann", attributes=attributes)
    return [request["human"]["attributes"].get("timezone") for request in skill.requests]


async def test_a_skill_knows_it_in_the_very_turn_and_later() -> None:
    assert await zones({"timezone": "Asia/Tokyo"}, None) == ["Asia/Tokyo", "Asia/Tokyo"]


async def test_the_latest_counts() -> None:
    seen = await zones({"timezone": "Asia/Tokyo"}, {"timezone": "America/Argentina/Ushuaia"})

    assert seen == ["Asia/Tokyo", "America/Argentina/Ushuaia"]


@pytest.mark.parametrize("told", ["x", None, 7, {"timezone": "../etc"}, {"timezone": "A" * 65}])
def test_an_invalid_time_zone_is_ignored(told: Any) -> None:
    assert TurnInput("hi", "ann", attributes={"platformData": told}).timezone is None
