"""PersonQueues: a person's work is done in order, a piece at a time."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from prolocutor.errors import Overloaded, Stopping
from prolocutor.pipeline.calls import start_now

log = logging.getLogger(__name__)

T = TypeVar("T")

Work = Callable[[], Awaitable[T]]


class _QueuedWork(msgspec.Struct, eq=False):
    """Work in the queue, the future of its result, and the timer of its time-out."""

    work: Work[Any]
    done: asyncio.Future[Any]
    timer: asyncio.TimerHandle | None = None


class PersonQueues:
    """A queue for each person who has something to do; idle persons have none.

    `limit` bounds the waiting work of a person, `timeout` the seconds until it must have
    started: `Overloaded` beyond either.
    """

    def __init__(self, *, limit: int, timeout: float) -> None:
        self._limit = limit
        self._timeout = timeout
        self._queues: dict[str, deque[_QueuedWork]] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        """The number of persons who have something running or waiting."""
        return len(self._queues)

    def enter(self, user: str, work: Work[T], *, patient: bool = False) -> asyncio.Future[T]:
        """Do `work` when all that this person asked before is done; return its future result.

        Cancelling the future does not stop work that has started. `patient` work waits as long as
        it takes and does not count against the limit.
        """
        loop = asyncio.get_running_loop()
        queued = _QueuedWork(work, loop.create_future())
        queue = self._queues.get(user)
        if queue is None:
            self._queues[user] = queue = deque((queued,))
            worker = start_now(self._work_off(user, queue), loop, None)
            if not worker.done():
                self._workers[user] = worker
            return queued.done
        if not patient:
            if len(queue) >= self._limit:
                raise Overloaded(f"{len(queue)} requests of this person are waiting already")
            queued.timer = loop.call_later(self._timeout, self._expire, queue, queued)
        queue.append(queued)
        return queued.done

    async def drain(self, grace: float | None = None) -> None:
        """Wait until nothing is running or waiting; after `grace` seconds cancel the rest."""
        try:
            async with asyncio.timeout(grace):
                while self._workers:
                    await asyncio.wait(self._workers.values())
        except TimeoutError:
            log.warning("stopped while turns of %d persons were running", len(self._queues))
            await self._cancel_all()

    async def _cancel_all(self) -> None:
        """Cancel running work, refuse waiting work."""
        for queue in self._queues.values():
            for queued in list(queue)[1:]:
                queue.remove(queued)
                if queued.timer is not None:
                    queued.timer.cancel()
                if not queued.done.done():
                    queued.done.set_exception(Stopping("the assistant is shutting down"))
        for worker in list(self._workers.values()):
            worker.cancel()
        await asyncio.sleep(0)

    async def _work_off(self, user: str, queue: deque[_QueuedWork]) -> None:
        while queue:
            queued = queue[0]
            if queued.timer is not None:
                queued.timer.cancel()
            try:
                result = await queued.work()
            except BaseException as error:
                _fail(queued.done, error)
            else:
                if not queued.done.done():
                    queued.done.set_result(result)
            queue.popleft()
        del self._queues[user]
        self._workers.pop(user, None)  # none where all was done at its first step

    def _expire(self, queue: deque[_QueuedWork], queued: _QueuedWork) -> None:
        queue.remove(queued)
        if not queued.done.done():
            seconds = f"{self._timeout:g}"
            queued.done.set_exception(Overloaded(f"waited {seconds} seconds for an earlier turn"))


def _fail(done: asyncio.Future[Any], error: BaseException) -> None:
    if done.done():
        return
    if isinstance(error, asyncio.CancelledError):
        done.cancel()
    else:
        done.set_exception(error)
