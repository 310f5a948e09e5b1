"""Background tasks, owned by an object until it closes, and awaited by nobody."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)


class BackgroundTasks:
    """The tasks of an owner, with names after the owner; failures are logged at once.

    It is true while a task runs.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        """The number of tasks that run."""
        return sum([not task.done() for task in self._tasks])

    def start(self, work: Coroutine[Any, Any, T], *, awaited: bool = False) -> asyncio.Task[T]:
        """Run work beside the caller. Somebody else awaits its outcome: then `awaited`."""
        task = asyncio.get_running_loop().create_task(work, name=self._owner)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard if awaited else self._note_end)
        return task

    def cancel(self) -> None:
        """Cancel all, and do not wait for their ends."""
        for task in self._tasks:
            task.cancel()

    async def wait_until_ended(self, seconds: float | None = None) -> bool:
        """Wait until all have ended, so many seconds at most; return whether they have."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        return not self

    async def aclose(self, grace: float = 0.0) -> None:
        """Give all so many seconds to end by themselves, then cancel them; wait for their ends."""
        if grace:
            await self.wait_until_ended(grace)
        self.cancel()
        await self.wait_until_ended()

    def _note_end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed", self._owner, exc_info=error)


@contextmanager
def beside(work: Coroutine[Any, Any, T]) -> Iterator[asyncio.Task[T]]:
    """Run work for as long as the block runs, which may await it; it is cancelled then."""
    task = asyncio.get_running_loop().create_task(work)
    try:
        yield task
    finally:
        task.cancel()
