"""LoopThread: an event loop in a thread of its own, for plain code that drives something async."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from threading import Lock, Thread, current_thread
from typing import Any, Final, Generic, Self, TypeVar

T = TypeVar("T")
V = TypeVar("V")

PATIENCE: Final = 10.0
"""Seconds that closing may take; what is not closed then is left to the end of the interpreter."""


class LoopThread(Generic[T]):
    """Opens something, such as an assistant, in a loop and thread of its own, and keeps it open.

    `opened` is what was opened. What opening raises is raised where the thread is made. It is a
    daemon thread. As a context manager it closes what it opened.
    """

    def __init__(self, opening: AbstractAsyncContextManager[T], name: str) -> None:
        self._opening = opening
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready: Future[T] = Future()
        self._lock = Lock()
        self._open = True
        self._fault: BaseException | None = None
        self._thread = Thread(target=self._run, name=name, daemon=True)
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
        """Close what was opened and end the thread; a second time does nothing.

        Raise what closing raised.
        """
        with self._lock:
            was_open, self._open = self._open, False
        if was_open:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(PATIENCE)
            if not self._thread.is_alive():
                self._loop.close()
            if self._fault is not None:
                raise self._fault

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._live())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())

    async def _live(self) -> None:
        """Open and close in one task, as time-outs and task groups demand."""
        try:
            async with self._opening as opened:
                self._ready.set_result(opened)
                await self._stop.wait()
        except BaseException as error:
            if self._ready.done():
                self._fault = error
            else:
                self._ready.set_exception(error)
