import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from prolocutor.assistant.runner import LoopThread


class Place:
    """Something that lives in a loop."""

    def __init__(self) -> None:
        self.thread = threading.current_thread()
        self.closed_in: threading.Thread | None = None

    async def where(self) -> threading.Thread:
        await asyncio.sleep(0)
        return threading.current_thread()

    async def fail(self) -> None:
        raise LookupError("nothing here")


@asynccontextmanager
async def opened(place: list[Place]) -> AsyncIterator[Place]:
    place.append(Place())
    yield place[0]
    place[0].closed_in = threading.current_thread()


def test_all_happens_in_the_one_other_thread() -> None:
    places: list[Place] = []

    with LoopThread(opened(places), "test") as background:
        where = background.call(background.opened.where())

    assert where is places[0].thread is places[0].closed_in
    assert where is not threading.current_thread()
    assert not where.is_alive()


def test_an_error_of_the_loops_thread_is_raised_in_the_callers() -> None:
    with (
        LoopThread(opened([]), "test") as background,
        pytest.raises(LookupError, match="nothing here"),
    ):
        background.call(background.opened.fail())


def test_an_error_of_opening_is_raised_in_the_callers_thread() -> None:
    @asynccontextmanager
    async def broken() -> AsyncIterator[Place]:
        raise LookupError("no such place")
        yield Place()

    with pytest.raises(LookupError, match="no such place"), LoopThread(broken(), "test"):
        pass
