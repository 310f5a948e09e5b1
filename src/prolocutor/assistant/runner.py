"""Event loops for callers that have none: of a program, and of code that is not async."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from contextvars import copy_context
from threading import Lock, Thread, current_thread
from typing import Any, Final, Generic, Self, TypeVar

from prolocutor.assistant.watchdog import codes_of_error, codes_of_frame, service_on
from prolocutor.background import BackgroundTasks

log = logging.getLogger(__name__)


T = TypeVar("T")


_SOMEBODY: Final = "code that runs in it"

CANCEL_TIMEOUT: Final = 1.0
"""Seconds that cancelled calls of services may take to end before the loop is closed."""

V = TypeVar("V")

START_PATIENCE: Final = 10.0
"""Seconds that closing may take; what is not closed then is left to the end of the interpreter."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result, with uvloop where that is installed.

    Unlike `asyncio.run` it does not wait for ever for a service that swallows its cancellation, and
    goes on where a service stops the event loop or raises `SystemExit` in a callback or a task of
    its own: only the coroutine or a signal ends it.
    """
    if asyncio._get_running_loop() is not None:
        raise RuntimeError("an event loop is running here already: await the coroutine")
    program = _Program(work)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        stops = _Stops(runner.get_loop())
        while True:
            try:
                return runner.run(program.follower())
            except (RuntimeError, SystemExit) as error:
                if runner.get_loop().is_closed() or program.has_raised(error):
                    raise
                if isinstance(error, RuntimeError):
                    log.error("the event loop was stopped by %s; it goes on", stops.by)
                else:
                    who = service_on(codes_of_error(error.__traceback__), _SOMEBODY)
                    what = "SystemExit left the event loop, raised by %s; it goes on"
                    log.error(what, who, exc_info=error)
                if program.is_over:
                    return program.result()


class _Stops:
    """Notes who stops an event loop: `by` is the last one."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.by = _SOMEBODY
        self._stop = loop.stop
        loop.stop = self._note  # type: ignore[method-assign]

    def _note(self) -> None:
        self.by = service_on(codes_of_frame(sys._getframe(1)), _SOMEBODY)
        self._stop()


class _Program(Generic[T]):
    """A coroutine in a task of its own, which is followed anew each time the loop was left."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self._followers: list[Coroutine[Any, Any, T]] = []

    @property
    def is_over(self) -> bool:
        """Whether the coroutine has ended."""
        return self._task is not None and self._task.done()

    def has_raised(self, error: BaseException) -> bool:
        """Return whether the coroutine raised this exception."""
        task = self._task
        return bool(task and task.done() and not task.cancelled() and task.exception() is error)

    def result(self) -> T:
        """Return the coroutine's result, or raise its exception."""
        assert self._task is not None, "it has not begun"
        return self._task.result()

    def follower(self) -> Coroutine[Any, Any, T]:
        """Return a future of the coroutine's result; cancelling it (Ctrl-C) cancels
        both."""
        self._followers.append(self._follow())
        return self._followers[-1]

    async def _follow(self) -> T:
        if self._task is None:
            self._task = BackgroundTasks("program").start(self._leaving_nobody(), awaited=True)
        task = self._task
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        return self.result()

    async def _leaving_nobody(self) -> T:
        try:
            return await self._work
        finally:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            left = {task for task in others if task.get_coro() not in self._followers}
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=CANCEL_TIMEOUT)
            for task in left:
                if not task.done():
                    _abandon(task)


def _abandon(task: asyncio.Task[Any]) -> None:
    """Remove a task from the loop, which then does not wait for its end."""
    asyncio.tasks._unregister_task(task)
    task._log_destroy_pending = False  # type: ignore[attr-defined]


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


class LoopThread(Generic[T]):
    """Opens something, such as an assistant, in a loop and thread of its own, and keeps it open.

    `opened` is the opened object. Exceptions of opening are raised where the thread is made. It is
    a daemon thread. As a context manager it closes the opened object.
    """

    def __init__(self, opening: AbstractAsyncContextManager[T], name: str) -> None:
        self._opening = opening
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready: Future[T] = Future()
        self._lock = Lock()
        self._open = True
        self._fault: BaseException | None = None
        run = copy_context().run
        self._thread = Thread(target=run, args=(self._run,), name=name, daemon=True)
        self._thread.start()
        try:
            self.opened: T = self._ready.result()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, work: Coroutine[Any, Any, V]) -> V:
        """Run a coroutine in the loop and return its result; Ctrl-C cancels it.

        Raise `RuntimeError` once it is closed, and in the loop itself.
        """
        if not self._open or current_thread() is self._thread:
            work.close()
            what = "cannot wait for itself: await it" if self._open else "was shut down"
            raise RuntimeError(f"the assistant {what}")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Close the opened object and end the thread; a second time does nothing.

        Raise the exception of closing.
        """
        with self._lock:
            was_open, self._open = self._open, False
        if was_open:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(START_PATIENCE)
            if not self._thread.is_alive():
                self._loop.close()
            if self._fault is not None:
                raise self._fault

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._live())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())

    async def _live(self) -> None:
        """Open and close in the same task, as time-outs and task groups demand."""
        try:
            async with self._opening as opened:
                self._ready.set_result(opened)
                await self._stop.wait()
        except BaseException as error:
            if self._ready.done():
                self._fault = error
            else:
                self._ready.set_exception(error)
