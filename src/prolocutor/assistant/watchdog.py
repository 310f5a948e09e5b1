"""Watchdog: names code in our own process that never yields the event loop.

A service that blocks the loop (`time.sleep` in an async function, a pattern that tracks back for
ever) holds up every turn; nothing in the loop can notice. A daemon thread does: it names the
service, logs its stack, and opens its breaker when the loop comes round again. An import, or the
compilation of a pattern, is done once, so it is logged alone: slow machines take seconds for both.
"""

from __future__ import annotations

import asyncio
import faulthandler
import inspect
import logging
import math
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import monotonic, process_time
from types import CodeType, FrameType, TracebackType
from typing import Any, Final
from weakref import WeakSet

from prolocutor.errors import ConfigError
from prolocutor.functions import resolve
from prolocutor.pipeline.guard import Guard, RunningCell
from prolocutor.plan.pipeline import StageService

log = logging.getLogger(__name__)

BLOCKED_SECONDS: Final = 1.0
"""Seconds after which a loop that has not come round is held up."""
LOOK_INTERVAL: Final = 0.25
"""Seconds between two looks; only while turns are running is the loop disturbed at all."""
SAMPLE_INTERVAL: Final = 0.05
"""Seconds between two samples of the stack, which have to agree on who is to blame."""
IDLE_SHARE: Final = 0.02
"""The share of a processor below which a process counts as idle."""
DONE_ONCE: Final = ("<frozen importlib", str(Path(re.__file__).with_name("_compiler.py")))
"""The beginnings of the names of files with code that imports, and that compiles patterns."""
MOST_FRAMES: Final = 8
"""Frames of the stack of code that holds up the loop, in the log."""


class ServiceCode:
    """The functions of the services of an assistant."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        found = [(_function_code(guard.service), guard) for guard in guards]
        self._known = [(code, guard) for code, guard in found if code is not None]

    def find_guard(self, codes: Iterable[CodeType]) -> Guard | None:
        """Return the guard of the first of these that a service's function is, or defines.

        Any other code of a file counts where that file has the function of a single service.
        """
        for code in codes:
            here = [one for one in self._known if one[0].co_filename == code.co_filename]
            for function, guard in here:
                if f"{code.co_qualname}.".startswith(f"{function.co_qualname}."):
                    return guard
            if len(here) == 1:
                return here[0][1]
        return None


running: Final[WeakSet[ServiceCode]] = WeakSet()
"""The watchdogs of the assistants that run in this process."""


def service_on(codes: Iterable[CodeType], otherwise: str) -> str:
    """Return `service NAME` for the innermost code of any, else `otherwise`."""
    each = list(codes)
    guards = [guard for one in list(running) if (guard := one.find_guard(each)) is not None]
    return f"service {guards[0].service.name}" if guards else otherwise


def codes_of_frame(frame: FrameType | None) -> Iterator[CodeType]:
    """Yield the code of a frame, and of its callers."""
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


def codes_of_error(trace: TracebackType | None) -> list[CodeType]:
    """Return the code that an exception passed through, where it was raised first."""
    codes = []
    while trace is not None:
        codes.append(trace.tb_frame.f_code)
        trace = trace.tb_next
    return codes[::-1]


def _function_code(service: StageService) -> CodeType | None:
    target: Any = service.call.target
    if service.call.connector not in (None, "python"):
        return None  # it runs elsewhere, and may not be imported here
    if isinstance(target, str):
        try:
            target = resolve(target)
        except ConfigError:  # a URL
            return None
    while isinstance(target, partial):
        target = target.func
    target = inspect.unwrap(target) if callable(target) else target
    code = getattr(target, "__code__", None)
    if code is None:
        call = getattr(target, "__call__", None)  # noqa: B004 - an object of a class that has one
        code = getattr(call, "__code__", None)
    return code if isinstance(code, CodeType) else None


class Watchdog:
    """Watches an event loop from a thread of its own, while `busy` says that turns are running."""

    def __init__(
        self,
        busy: Callable[[], bool],
        guards: Sequence[Guard],
        cell: RunningCell,
        *,
        limit: float = BLOCKED_SECONDS,
        pace: float = LOOK_INTERVAL,
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
        faulthandler's thread is none of Python's. A process has a single watchdog.
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
        began, spent = monotonic(), process_time()
        if came_round.wait(self._limit):
            return
        while self._is_starved(monotonic() - began, process_time() - spent):
            if came_round.wait(self._pace):
                return
        suspect = self._culprit(loop, thread_id)
        if came_round.wait(min(SAMPLE_INTERVAL, self._limit)):
            return
        guard, stack = self._culprit(loop, thread_id), _thread_stack(thread_id)
        guard = guard if guard is suspect else None
        who = f"service {guard.service.name}" if guard else "code of no service"
        is_done_once = _is_done_once(sys._current_frames().get(thread_id))
        log.error("the event loop is held up by %s:\n%s", who, stack)
        while not came_round.wait(self._pace):
            if self._stopped.is_set():
                return
        if guard is not None and not is_done_once:
            loop.call_soon_threadsafe(guard.breaker.trip)

    def _is_starved(self, seconds: float, cpu_seconds: float) -> bool:
        """Return whether the process computes, and other programs take the processor from it.

        Code that sleeps takes no processor time. After ten times the limit it is held up anyway.
        """
        return IDLE_SHARE * seconds < cpu_seconds < self._limit and seconds < 10 * self._limit

    def _culprit(self, loop: asyncio.AbstractEventLoop, thread_id: int) -> Guard | None:
        """Return the guard of the service with code that runs in the loop now.

        Its guard says so where it runs without a task of its own, else the task's name does. In a
        callback or a task that it has left there it is known by its code.
        """
        task = asyncio.current_task(loop)
        guard = self._running.guard or (self._guards.get(task.get_name()) if task else None)
        frame = sys._current_frames().get(thread_id)
        return guard or self._code.find_guard(codes_of_frame(frame))


def _is_done_once(frame: FrameType | None) -> bool:
    """Return whether the callback that the loop runs now imports, or compiles a pattern."""
    for code in codes_of_frame(frame):
        if code.co_filename.startswith(DONE_ONCE):
            return True
        if code.co_filename == asyncio.events.__file__:
            break
    return False


def _thread_stack(thread_id: int) -> str:
    """Return the innermost frames of a thread, without those of the import system."""
    frame = sys._current_frames().get(thread_id)
    frames = [] if frame is None else traceback.extract_stack(frame)
    own = [one for one in frames if not one.filename.startswith("<frozen importlib")]
    return "".join(traceback.format_list(own[-MOST_FRAMES:]))
