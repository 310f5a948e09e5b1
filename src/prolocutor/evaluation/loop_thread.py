"""LoopThread: an event loop in a thread of its own, by which plain code drives what is async."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
V = TypeVar("V")

PATIENCE: Final = 10.0
"""Seconds that closing may take; what is not closed then is left to the end of the interpreter."""


class LoopThread(Generic[T]):
    """Keeps something open, such as an assistant, in a loop and thread of its own.

    Whatever opening it raises is raised where the thread is made. It is a daemon thread.
    """

    def __init__(self, opening: AbstractAsyncContextManager[T], name: str) -> None:
        self._opening = opening
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._open = True
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()
        try:
            self.opened: T = self._run(opening.__aenter__())
        except BaseException:
            self._stop()
            raise

    def call(self, work: Coroutine[Any, Any, V]) -> V:
        """Run a coroutine in the loop and wait for its end; `RuntimeError` once it is closed."""
        if not self._open:
            work.close()
            raise RuntimeError("the assistant was shut down")
        return self._run(work)

    def close(self) -> None:
        """Close what was opened, and end; a second time does nothing."""
        with self._lock:
            was_open, self._open = self._open, False
        if was_open:
            try:
                self._run(self._opening.__aexit__(None, None, None), PATIENCE)
            finally:
                self._stop()

    def _run(self, work: Coroutine[Any, Any, V], timeout: float | None = None) -> V:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout)

    def _stop(self) -> None:
        self._open = False
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        if not self._thread.is_alive():
            self._loop.close()
