"""A watchdog for code in our own process that never yields the event loop.

A service that blocks the loop (`time.sleep` in an async function, a pattern that tracks back for
ever) holds up every turn; nothing in the loop can notice. A daemon thread does: it names the
service, logs its stack, and opens its breaker when the loop comes round again.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import math
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from prolocutor.assistant.service_code import ServiceCode, codes_of_frame, running
from prolocutor.pipeline.guard import Guard, RunningCell

log = logging.getLogger(__name__)

LIMIT: Final = 1.0
"""Seconds after which a loop that has not come round is held up."""
PACE: Final = 0.25
"""Seconds between two looks; only while turns are running is the loop disturbed at all."""
CONFIRMATION: Final = 0.05
"""Seconds between two samples of the stack, which have to agree on who is to blame."""


class Watchdog:
    """Watches one event loop from a thread of its own, while `busy` says that turns are running."""

    def __init__(
        self,
        busy: Callable[[], bool],
        guards: Sequence[Guard],
        cell: RunningCell,
        *,
        limit: float = LIMIT,
        pace: float = PACE,
    ) -> None:
        self._busy = busy
        self._guards = {guard.task_name: guard for guard in guards}
        self._code = ServiceCode(guards)
        self._running = cell
        self._limit = limit
        self._pace = pace
        self._stopped = threading.Event()
        self._last_resort: float | None = None

    def start(self) -> None:
        """Watch the running loop, to be called in its thread."""
        running.add(self._code)
        loop, thread_id = asyncio.get_running_loop(), threading.get_ident()
        threading.Thread(
            target=self._watch, args=(loop, thread_id), name="watchdog", daemon=True
        ).start()

    def stop(self) -> None:
        """Watch no longer."""
        running.discard(self._code)
        self._stopped.set()
        if self._last_resort is not None:
            faulthandler.cancel_dump_traceback_later()

    def arm(self, seconds: float = 10.0) -> None:
        """Have all stacks dumped to stderr when even this thread cannot run for so long.

        Code that never lets go of the interpreter (`9**9**9`) stops the watchdog as well; the
        faulthandler's thread is none of Python's. There is one for the whole process.
        """
        self._last_resort = seconds

    def _watch(self, loop: asyncio.AbstractEventLoop, thread_id: int) -> None:
        armed = -math.inf
        while not self._stopped.wait(self._pace):
            if self._last_resort is not None and monotonic() > armed + self._last_resort / 8:
                armed = monotonic()
                faulthandler.dump_traceback_later(self._last_resort)  # which starts a thread
            if self._busy():
                try:
                    self._look(loop, thread_id)
                except RuntimeError:
                    return  # the loop is closed

    def _look(self, loop: asyncio.AbstractEventLoop, thread_id: int) -> None:
        came_round = threading.Event()
        loop.call_soon_threadsafe(came_round.set)
        if came_round.wait(self._limit):
            return
        suspect = self._culprit(loop, thread_id)
        if came_round.wait(min(CONFIRMATION, self._limit)):
            return
        guard, stack = self._culprit(loop, thread_id), _stack_of(thread_id)
        guard = guard if guard is suspect else None
        who = f"service {guard.service.name}" if guard else "code of no service"
        log.error("the event loop is held up by %s:\n%s", who, stack)
        while not came_round.wait(self._pace):
            if self._stopped.is_set():
                return
        if guard is not None:
            loop.call_soon_threadsafe(guard.breaker.trip)

    def _culprit(self, loop: asyncio.AbstractEventLoop, thread_id: int) -> Guard | None:
        """Return the guard of the service whose code runs in the loop now.

        Its guard says so where it runs without a task of its own, else the task's name does. In a
        callback or a task that it has left there it is known by its code.
        """
        task = asyncio.current_task(loop)
        known = self._running.guard or (self._guards.get(task.get_name()) if task else None)
        frame = sys._current_frames().get(thread_id)
        return known or self._code.guard_of(codes_of_frame(frame))


def _stack_of(thread_id: int) -> str:
    frame = sys._current_frames().get(thread_id)
    return "" if frame is None else "".join(traceback.format_stack(frame))
