"""ServiceLoop: an event loop in its own thread, in which the services of workers run."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from prolocutor.background import BackgroundTasks

T = TypeVar("T")

END_SECONDS: Final = 2.0


class ServiceLoop:
    """An event loop in a daemon thread; `post` hands work to it from another thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._posted: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._tasks = BackgroundTasks("service")
        self._thread = threading.Thread(target=self._run, name="services", daemon=True)
        self._thread.start()

    def post(self, work: Callable[..., None], *given: Any) -> None:
        """Schedule a function call in the loop; calls in quick succession share a wake-up."""
        self._posted.append((work, given))
        if len(self._posted) == 1:
            self._loop.call_soon_threadsafe(self._work)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task; call this method in the loop's own thread."""
        self._tasks.start(work)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop; await its result in the caller's loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self) -> None:
        """Stop the loop; a function that blocks the loop is left to the end of the process."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(END_SECONDS)

    def _work(self) -> None:
        while self._posted:
            work, given = self._posted.popleft()
            work(*given)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._tasks.cancel()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()
