"""WorkerThread: a thread for jobs of the event loop, many at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from time import monotonic
from typing import Any, Protocol, TypeVar, TypeVarTuple

from prolocutor.errors import StoreError

Args = TypeVarTuple("Args")
T = TypeVar("T")

StoreJob = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments; a job's outcome is its result or its exception."""

_Submitted = tuple["asyncio.Future[Any]", StoreJob]


class JobRunner(Protocol):
    """Does the jobs of a `WorkerThread`; all methods are called in its thread."""

    def open(self) -> None:
        """Get ready; `WorkerThread.started` raises the exceptions of this method."""

    def run(self, jobs: list[StoreJob]) -> list[Any]:
        """Do the jobs and return an outcome for each, an exception for a failed job."""

    def close(self) -> None:
        """Release all resources."""


class JobWorker(Protocol):
    """Does jobs for the event loop."""

    def submit(self, function: Callable[[*Args], T], *args: *Args) -> asyncio.Future[T]:
        """Call the function; the future gets its result or exception."""

    async def stop(self) -> None:
        """Do submitted jobs, and end."""


class WorkerThread:
    """Does all jobs submitted since the last group, and resolves them at once.

    Groups have `at_most` jobs. Outcomes wait for the next group if it calls the same function and
    they took less than `within` seconds, so jobs submitted together finish together. The thread is
    a daemon: an ending process does not wait for it.
    """

    def __init__(
        self, name: str, runner: JobRunner, *, at_most: int = 512, within: float = 0.0
    ) -> None:
        self._runner = runner
        self._at_most = at_most
        self._within = within
        self._queue: SimpleQueue[list[_Submitted] | None] = SimpleQueue()
        self._submitted: list[_Submitted] = []
        self._loop = asyncio.get_running_loop()
        self.started: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._stopping = False
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def submit(self, function: Callable[[*Args], T], *args: *Args) -> asyncio.Future[T]:
        """Call the function in the thread; the future gets its result or exception."""
        if self._stopping:
            raise StoreError("the store is closed")
        future: asyncio.Future[T] = self._loop.create_future()
        if not self._submitted:
            # Once an iteration of the loop: its submitted jobs go to the thread, and to the disk,
            # together. To wake the thread for each job alone would cost more than the job.
            self._loop.call_soon(self._pass_on)
        self._submitted.append((future, (function, args)))
        return future

    async def stop(self) -> None:
        """Do submitted jobs, then end the thread."""
        if not self._stopping:
            self._stopping = True
            self._pass_on()
            self._queue.put(None)
        await asyncio.shield(self._ended)

    def _pass_on(self) -> None:
        if self._submitted:
            self._queue.put(self._submitted)
            self._submitted = []

    def _work(self) -> None:
        try:
            self._runner.open()
        except BaseException as error:
            self._call_soon(_settle, self.started, error)
            self._call_soon(_settle, self._ended, None)
            return
        self._call_soon(_settle, self.started, None)
        self._serve()
        try:
            self._runner.close()
        except BaseException as error:
            self._call_soon(_settle, self._ended, error)
        self._call_soon(_settle, self._ended, None)

    def _serve(self) -> None:
        waiting: list[_Submitted] = []
        done: list[_Submitted] = []
        outcomes: list[Any] = []
        since = 0.0
        more = True
        while more or waiting:
            while more and (not waiting or not self._queue.empty()):
                submitted = self._queue.get()
                if submitted is None:
                    more = False
                else:
                    waiting += submitted
            group, waiting = waiting[: self._at_most], waiting[self._at_most :]
            if not group:
                continue
            since = since if done else monotonic()
            outcomes += self._outcomes([job for _, job in group])
            done += group
            alike = waiting and waiting[0][1][0] == group[-1][1][0]
            if not (alike and monotonic() - since < self._within):
                self._call_soon(_resolve, done, outcomes)
                done, outcomes = [], []

    def _outcomes(self, jobs: list[StoreJob]) -> list[Any]:
        try:
            return self._runner.run(jobs)
        except BaseException as error:
            return [error] * len(jobs)

    def _call_soon(self, function: Callable[..., None], *args: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: no caller is left
            self._loop.call_soon_threadsafe(function, *args)


class InlineWorker:
    """Does each job at once, in the submitting thread, after `before`."""

    def __init__(self, runner: JobRunner, before: Callable[[], None]) -> None:
        self._runner = runner
        self._before = before
        self._loop = asyncio.get_running_loop()

    def submit(self, function: Callable[[*Args], T], *args: *Args) -> asyncio.Future[T]:
        """Call the function; the future has its result or exception."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._before()
        (outcome,) = self._runner.run([(function, args)])
        _settle(future, outcome)
        return future

    async def stop(self) -> None:
        """Do nothing: all is done."""


def _resolve(group: list[_Submitted], outcomes: list[Any]) -> None:
    for (future, _), outcome in zip(group, outcomes, strict=True):
        _settle(future, outcome)


def _settle(future: asyncio.Future[Any], outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, BaseException):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
