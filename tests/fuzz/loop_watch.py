"""A watch for event loops: how much CPU time each step takes that nothing else can use."""

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LIMIT = 0.050
"""Seconds of CPU time for which a step may hold the loop."""


class LoopWatch:
    """The steps of one thread's event loop that held it for too long."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self.longest = 0.0
        self.doing = ""
        """What the test does, to be named beside what held the loop."""

    def check(self) -> None:
        """Raise AssertionError if a step held the loop for too long."""
        assert self.held == [], self.held


@contextmanager
def watched_loop(limit: float = LIMIT) -> Iterator[LoopWatch]:
    """Watch the loop of this thread.

    It counts the CPU time of the thread, so that a busy machine fails no test, and not that of
    collecting garbage, which belongs to no step.
    """
    watch, thread, run = LoopWatch(), threading.get_ident(), asyncio.Handle._run
    collecting = [0.0, 0.0]  # when it began, and how long it took in this step

    def timed(handle: asyncio.Handle) -> Any:
        if threading.get_ident() != thread:
            return run(handle)
        collecting[1] = 0.0
        begun = time.thread_time()
        try:
            return run(handle)
        finally:
            took = time.thread_time() - begun - collecting[1]
            watch.longest = max(watch.longest, took)
            if took > limit:
                watch.held.append(f"{took * 1000:.0f} ms: {handle!r:.300} ({watch.doing:.500})")

    def collected(phase: str, _: Any) -> None:
        if threading.get_ident() == thread:
            if phase == "start":
                collecting[0] = time.thread_time()
            else:
                collecting[1] += time.thread_time() - collecting[0]

    asyncio.Handle._run = timed  # type: ignore[method-assign]
    gc.callbacks.append(collected)
    try:
        yield watch
    finally:
        asyncio.Handle._run = run  # type: ignore[method-assign]
        gc.callbacks.remove(collected)
