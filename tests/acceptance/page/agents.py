"""Agents behind the page: one is sure, one hostile, one broken."""

from typing import Any

from prolocutor.plan.pipeline import Pipeline, Service
from tests.acceptance.page.frames import HOSTILE


async def sure(request: dict[str, Any]) -> dict[str, Any]:
    return {"text": request["human_utterances"][-1]["text"], "confidence": 0.9}


async def unsure(_: dict[str, Any]) -> dict[str, Any]:
    return {"text": HOSTILE, "confidence": 0.2, "human_attributes": {"name": HOSTILE}}


async def broken(_: dict[str, Any]) -> dict[str, Any]:
    raise ValueError(HOSTILE)


PIPELINE = Pipeline(
    skills=[Service("sure", sure), Service("unsure", unsure), Service("broken", broken)]
)
