"""A server in a thread of its own, whose event loop is watched; the test is only its client."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.door_catalog import DOORS as CATALOG
from prolocutor.plan.pipeline import Pipeline
from prolocutor.testing.channel_kit import running
from prolocutor.web.door_context import DoorContext
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.listener import Listener
from prolocutor.web.quotas import VisitorQuotas
from tests.fuzz.loop_watch import LoopWatch, watched_loop

DOORS = ("deeppavlov", "almond", "page", "console", "openai", "a2a", "mcp", "agui", "parlai")
UNLIMITED = VisitorQuotas()
LIMITS = ListenerLimits(
    person=UNLIMITED, token=UNLIMITED, address=UNLIMITED, anonymous=UNLIMITED, wrong_keys=10**6
)


class Served:
    """A running server: its address, and the watch of its loop."""

    def __init__(self, url: str, watch: LoopWatch, assistant: Assistant) -> None:
        self.url = url
        self.watch = watch
        self.assistant = assistant


@asynccontextmanager
async def served(
    pipeline: Pipeline, doors: Sequence[str] = DOORS, **options: Any
) -> AsyncIterator[Served]:
    """Serve an assistant in a thread; at the end nothing has held its loop for too long."""
    here = asyncio.get_running_loop()
    ready: asyncio.Future[Served] = here.create_future()
    ended: asyncio.Future[None] = here.create_future()
    stop: list[Any] = []

    def tell(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_exception(error) if error else future.set_result(value)

    async def serve() -> None:
        stopping = asyncio.Event()
        stop.append((asyncio.get_running_loop(), stopping))
        async with Assistant(pipeline, store="memory:", **options) as assistant:
            channels = [CATALOG.load(door)().build(DoorContext(assistant)) for door in doors]
            app = Listener(assistant, channels, limits=LIMITS)
            async with running(app) as url:
                with watched_loop() as watch:
                    found = Served(url, watch, assistant)
                    here.call_soon_threadsafe(tell, ready, found, None)
                    await stopping.wait()

    def work() -> None:
        error: BaseException | None = None
        try:
            asyncio.run(serve())
        except BaseException as raised:
            error = raised
        here.call_soon_threadsafe(tell, ready, None, error)
        here.call_soon_threadsafe(tell, ended, None, error)

    thread = threading.Thread(target=work, name="served", daemon=True)
    thread.start()
    try:
        found = await ready
        yield found
    finally:
        if stop:
            loop, stopping = stop[0]
            loop.call_soon_threadsafe(stopping.set)
        await ended
        thread.join()
    found.watch.check()
