"""Background: an event loop beside the main thread, which waits for a person to type."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from threading import Thread
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Background(Generic[T]):
    """Holds something open in the event loop of another thread, for as long as the block runs.

    `value` is what was opened; `run` awaits something in that loop.
    """

    def __init__(self, opened: AbstractAsyncContextManager[T]) -> None:
        self._opened = opened
        self._ready: Future[T] = Future()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = Thread(target=self._turn, name="prolocutor-background")

    @property
    def value(self) -> T:
        """What was opened."""
        return self._ready.result()

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._ready.result()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Await something there and give its result; Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    def _turn(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._live())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())

    async def _live(self) -> None:
        try:
            async with self._opened as value:
                self._ready.set_result(value)
                await self._stop.wait()
        except BaseException as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)
