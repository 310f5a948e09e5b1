"""One at a time per person, first come first served."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from prolocutor.errors import Overloaded, Stopping
from prolocutor.pipeline.calls import start_now

T = TypeVar("T")

Work = Callable[[], Awaitable[T]]


class _Place(Generic[T]):
    """A place in the queue: the work, who waits for it, and until when it must have begun."""

    __slots__ = ("done", "timer", "work")

    def __init__(self, work: Work[T], done: asyncio.Future[T]) -> None:
        self.work = work
        self.done = done
        self.timer: asyncio.TimerHandle | None = None


class PersonQueues:
    """A queue for each person who has something to do; idle people have none.

    What was begun goes on when its caller goes away. `limit` bounds the places of one person,
    `timeout` the seconds that a place waits for its turn: `Overloaded` beyond either.
    """

    def __init__(self, *, limit: int = 100, timeout: float = 30.0) -> None:
        self._limit = limit
        self._timeout = timeout
        self._queues: dict[str, deque[_Place[Any]]] = {}
        self._workers: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """The number of people who have something running or waiting."""
        return len(self._queues)

    async def run(self, user: str, work: Work[T], *, patient: bool = False) -> T:
        """Do `work` when all that this person asked before is done, and give what it gives.

        `patient` work waits as long as it takes and does not count against the limit.
        """
        return await self.enter(user, work, patient=patient)

    def enter(self, user: str, work: Work[T], *, patient: bool = False) -> asyncio.Future[T]:
        """Take a place now; the future gives what the work gives."""
        loop = asyncio.get_running_loop()
        place = _Place(work, loop.create_future())
        queue = self._queues.get(user)
        if queue is None:
            self._queues[user] = queue = deque((place,))
            worker = start_now(self._work_off(user, queue), loop)
            if not worker.done():
                self._workers.add(worker)
                worker.add_done_callback(self._workers.discard)
            return place.done
        if not patient:
            if len(queue) >= self._limit:
                raise Overloaded(f"{len(queue)} requests of this person are waiting already")
            place.timer = loop.call_later(self._timeout, self._expire, queue, place)
        queue.append(place)
        return place.done

    async def drained(self) -> None:
        """Wait until nobody has anything running or waiting."""
        while self._workers:
            await asyncio.wait(self._workers)

    async def cut_off(self) -> None:
        """Cancel what is running, refuse what is waiting."""
        for queue in self._queues.values():
            for place in list(queue)[1:]:
                queue.remove(place)
                if place.timer is not None:
                    place.timer.cancel()
                if not place.done.done():
                    place.done.set_exception(Stopping("the assistant is shutting down"))
        for worker in list(self._workers):
            worker.cancel()
        await asyncio.sleep(0)

    async def _work_off(self, user: str, queue: deque[_Place[Any]]) -> None:
        while queue:
            place = queue[0]
            if place.timer is not None:
                place.timer.cancel()
            await _do(place)
            queue.popleft()
        del self._queues[user]

    def _expire(self, queue: deque[_Place[Any]], place: _Place[Any]) -> None:
        queue.remove(place)
        if not place.done.done():
            seconds = f"{self._timeout:g}"
            place.done.set_exception(Overloaded(f"waited {seconds} seconds for an earlier turn"))


async def _do(place: _Place[Any]) -> None:
    try:
        result = await place.work()
    except BaseException as error:
        if not place.done.done():
            if isinstance(error, asyncio.CancelledError):
                place.done.cancel()
            else:
                place.done.set_exception(error)
        return
    if not place.done.done():
        place.done.set_result(result)
