"""An assistant built small, and a store that can be told to fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.store import AnsweredRequest, OpenedTurn, TurnClosing, TurnOpening
from prolocutor.errors import StoreFull
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeService
from tests.model_store import ModelStore
from tests.unit.pipeline.talk import PATIENCE, hypothesis


def echo() -> Service:
    """Make a skill that repeats what was said."""
    return Service(
        "echo", FakeService(lambda request: hypothesis("re: " + last_text(request))), timeout=60.0
    )


def last_text(request: Any) -> str:
    """Return what was said last."""
    text: str = request["utterances"][-1]["text"]
    return text


class FaultyStore(ModelStore):
    """A store in memory whose next openings or closings fail, as often as they are set to."""

    def __init__(self) -> None:
        super().__init__()
        self.begins_to_fail = 0
        self.finishes_to_fail = 0
        self.closed = 0

    async def open_turn(self, opening: TurnOpening) -> OpenedTurn | AnsweredRequest:
        if self.begins_to_fail:
            self.begins_to_fail -= 1
            raise StoreFull("the disk is full")
        return await super().open_turn(opening)

    async def close_turn(self, closing: TurnClosing) -> None:
        if self.finishes_to_fail:
            self.finishes_to_fail -= 1
            raise StoreFull("the disk is full")
        await super().close_turn(closing)

    async def aclose(self) -> None:
        self.closed += 1


@asynccontextmanager
async def assistant(*services: Service, **options: Any) -> AsyncIterator[Assistant]:
    """Run an assistant with these skills, or one that repeats what was said."""
    pipeline = options.pop("pipeline", None) or Pipeline(skills=services or [echo()])
    made = Assistant(pipeline, **{"store": "memory:", "deadline": 60.0, **options})
    async with asyncio.timeout(PATIENCE), made:
        yield made


def texts(results: list[TurnResult]) -> list[str]:
    """Return the texts of replies."""
    return [result.reply.text for result in results]
