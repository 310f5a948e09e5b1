"""A thread of its own that does jobs for the event loop, many at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar, TypeVarTuple

from prolocutor.errors import StoreError

Args = TypeVarTuple("Args")
T = TypeVar("T")

StoreJob = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments; a job's outcome is what it returned, or what it raised."""

_Asked = tuple["asyncio.Future[Any]", StoreJob]


class JobRunner(Protocol):
    """What a worker works at; all of it is called in the worker's thread."""

    def open(self) -> None:
        """Get ready; what it raises, `Worker.started` raises."""

    def run(self, jobs: list[StoreJob]) -> list[Any]:
        """Do the jobs and give one outcome each, an exception for a job that failed."""

    def close(self) -> None:
        """Let go of everything."""


class WorkerThread:
    """Takes what was submitted since it last looked, and resolves all of it at once.

    The thread is a daemon: a process that ends does not wait for it.
    """

    def __init__(self, name: str, desk: JobRunner, *, at_most: int = 512) -> None:
        self._desk = desk
        self._at_most = at_most
        self._queue: SimpleQueue[list[_Asked] | None] = SimpleQueue()
        self._asked: list[_Asked] = []
        self._loop = asyncio.get_running_loop()
        self.started: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._stopping = False
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def submit(self, function: Callable[[*Args], T], *args: *Args) -> asyncio.Future[T]:
        """Have the function called in the thread; the future gets what it returns or raises."""
        if self._stopping:
            raise StoreError("the store is closed")
        future: asyncio.Future[T] = self._loop.create_future()
        if not self._asked:
            self._loop.call_soon(self._hand_over)
        self._asked.append((future, (function, args)))
        return future

    async def stop(self) -> None:
        """Do what was submitted, then end the thread."""
        if not self._stopping:
            self._stopping = True
            self._hand_over()
            self._queue.put(None)
        await asyncio.shield(self._ended)

    def _hand_over(self) -> None:
        if self._asked:
            self._queue.put(self._asked)
            self._asked = []

    def _work(self) -> None:
        try:
            self._desk.open()
        except BaseException as error:
            self._tell(_settle, self.started, error)
            self._tell(_settle, self._ended, None)
            return
        self._tell(_settle, self.started, None)
        self._serve()
        try:
            self._desk.close()
        except BaseException as error:
            self._tell(_settle, self._ended, error)
        self._tell(_settle, self._ended, None)

    def _serve(self) -> None:
        waiting: list[_Asked] = []
        more = True
        while more or waiting:
            while more and (not waiting or not self._queue.empty()):
                asked = self._queue.get()
                if asked is None:
                    more = False
                else:
                    waiting += asked
            group, waiting = waiting[: self._at_most], waiting[self._at_most :]
            if group:
                self._tell(_resolve, group, self._outcomes([job for _, job in group]))

    def _outcomes(self, jobs: list[StoreJob]) -> list[Any]:
        try:
            return self._desk.run(jobs)
        except BaseException as error:
            return [error] * len(jobs)

    def _tell(self, function: Callable[..., None], *args: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(function, *args)


def _resolve(group: list[_Asked], outcomes: list[Any]) -> None:
    for (future, _), outcome in zip(group, outcomes, strict=True):
        _settle(future, outcome)


def _settle(future: asyncio.Future[Any], outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, BaseException):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
