"""Runs a coroutine to its end, for callers that are not async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")

PATIENCE: Final = 1.0
"""Seconds that cancelled calls of services may take to end before the loop is closed."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result, with uvloop where that is installed.

    Unlike `asyncio.run` it does not wait for ever for a service that swallows its cancellation.
    """
    if asyncio._get_running_loop() is not None:
        raise RuntimeError("an event loop is running here already: await the coroutine")
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_with_strays_abandoned(work))


async def _with_strays_abandoned(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=PATIENCE)
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
