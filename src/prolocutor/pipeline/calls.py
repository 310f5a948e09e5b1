"""Owns the running calls of services: starts, time-outs, strays. No other file touches tasks.

A call is a real `asyncio.Task` whose first step runs at once, so a service without suspension costs
no trip through the event loop: by `eager_start` since Python 3.12, by `start_by_first_step` on
3.11; if neither works, the first step waits for the loop's next round. A late or unwanted call is
cancelled and never joined: it becomes a stray, counted until it ends by itself.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
from asyncio.tasks import _enter_task, _leave_task
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from time import monotonic
from typing import Any, Final, Generic, TypeVar

from prolocutor.errors import ServiceError, ServiceLate, ServiceRaised
from prolocutor.functions import error_text

Token = TypeVar("Token")


Work = Coroutine[Any, Any, Any]
StartTask = Callable[[Work, asyncio.AbstractEventLoop, str | None], "asyncio.Task[Any]"]


def start_later(
    work: Work, loop: asyncio.AbstractEventLoop, name: str | None = None
) -> asyncio.Task[Any]:
    """Make a task whose first step runs in the loop's next round, the default of asyncio."""
    return loop.create_task(work, name=name)


def start_eagerly(
    work: Work, loop: asyncio.AbstractEventLoop, name: str | None = None
) -> asyncio.Task[Any]:
    """Make a task and run its first step at once, by `eager_start` (Python 3.12 and later)."""
    return asyncio.Task(work, loop=loop, name=name, eager_start=True)  # type: ignore[call-arg]


class _FirstStep:
    """Catches the `call_soon` by which a new task schedules its first step."""

    __slots__ = ("context", "run")

    run: Any
    context: Context | None

    def catch(self, run: Any, *_: Any, context: Context | None = None) -> None:
        self.run = run
        self.context = context


_first_step = _FirstStep()
_catch = _first_step.catch


def start_by_first_step(
    work: Work, loop: asyncio.AbstractEventLoop, name: str | None = None
) -> asyncio.Task[Any]:
    """Make a task and run its first step at once, like `eager_start`, on Python 3.11.

    A new task schedules its first step by `call_soon` of its loop; this function catches the step
    and runs it, in the task's own context and with the task as the current task.
    """
    loop.call_soon = _catch  # type: ignore[method-assign, assignment]
    try:
        task = asyncio.Task(work, loop=loop, name=name)
    finally:
        del loop.call_soon
    step, context = _first_step.run, _first_step.context
    current = asyncio.current_task(loop)
    if current is not None:
        _leave_task(loop, current)
    try:
        if context is None:
            step()
        else:
            context.run(step)
    finally:
        if current is not None:
            _enter_task(loop, current)
    return task


def fastest_start() -> StartTask:
    """Return the fastest working function of this interpreter for starting a task."""
    if sys.version_info >= (3, 12):
        return start_eagerly
    loop, work = asyncio.new_event_loop(), _nothing()
    try:
        start_by_first_step(work, loop, None)
    except Exception:
        return start_later
    finally:
        work.close()
        loop.close()
    return start_by_first_step


async def _nothing() -> None:
    """Do nothing, for testing a way of starting tasks."""


start_now: Final[StartTask] = fastest_start()
"""Makes a task and runs its first step at once, where this interpreter can."""


class Strays:
    """Cancelled calls before their end, of all turns together.

    Their number is bounded by the services' places in flight: a stray keeps its place.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def take(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task and keep it until it has ended."""
        task.cancel()
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class ServiceCall(Generic[Token]):
    """A running call; `over` once its outcome is known or no longer wanted."""

    __slots__ = ("over", "task", "token", "until")

    def __init__(self, token: Token, until: float) -> None:
        self.token = token
        self.until = until
        self.over = False
        self.task: asyncio.Task[Any] | None = None


class NoTask:
    """A block without a current task in its loop.

    A service cannot cancel its turn by cancelling the current task.
    """

    __slots__ = ("_left", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._left: asyncio.Task[Any] | None = None

    def __enter__(self) -> None:
        self._left = asyncio.current_task(self._loop)
        if self._left is not None:
            _leave_task(self._loop, self._left)

    def __exit__(self, *_: object) -> None:
        if self._left is not None:
            _enter_task(self._loop, self._left)
            self._left = None


class RunningCalls(Generic[Token]):
    """The running calls of a turn; `settled` has the outcomes: (token, result or error).

    Calls are made within `apart`.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, strays: Strays) -> None:
        self.settled: deque[tuple[Token, Any]] = deque()
        self.apart = NoTask(loop)
        self._loop = loop
        self._strays = strays
        self._running: set[ServiceCall[Token]] = set()
        self._limits: list[tuple[float, int, ServiceCall[Token]]] = []
        self._waiter: asyncio.Future[None] | None = None

    def start(
        self, work: Work, token: Token, seconds: float, now: float, name: str | None = None
    ) -> ServiceCall[Token]:
        """Start a call with a limit of `seconds`, in a task named `name`.

        The call may have settled already when this method returns.
        """
        call = ServiceCall(token, now + seconds)
        task = start_now(self._run(call, work), self._loop, name)
        if not call.over:
            call.task = task
            self._running.add(call)
            heapq.heappush(self._limits, (call.until, id(call), call))
        return call

    def drop(self, call: ServiceCall[Token]) -> None:
        """Cancel a call whose outcome is no longer wanted."""
        if not call.over:
            call.over = True
            self._running.discard(call)
            if call.task is not None:
                self._strays.take(call.task)
                call.task = None

    @property
    def idle(self) -> bool:
        """Whether nothing is running and nothing has settled."""
        return not self._running and not self.settled

    def close(self) -> None:
        """Drop all running calls."""
        for call in list(self._running):
            self.drop(call)

    async def wait(self, until: float) -> None:
        """Wait until a call settles or is late, or the clock (`time.monotonic`) shows `until`."""
        self._expire()
        if self.settled:
            return
        wake_at = min(until, self._limits[0][0]) if self._limits else until
        self._waiter = self._loop.create_future()
        timer = self._loop.call_later(wake_at - monotonic(), self.wake)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None
        self._expire()

    async def _run(self, call: ServiceCall[Token], work: Work) -> None:
        try:
            outcome: Any = await work
        except ServiceError as error:
            outcome = error
        except asyncio.CancelledError:
            outcome = ServiceRaised("cancelled itself")
        except BaseException as error:
            outcome = ServiceRaised(error_text(error))
        if call.over:
            return
        call.over = True
        if call.task is not None:
            self._running.discard(call)
            call.task = None
        self.settled.append((call.token, outcome))
        if self._waiter is not None:
            self.wake()

    def wake(self) -> None:
        """End the current `wait`, if any."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _expire(self) -> None:
        limits = self._limits
        while limits and (limits[0][2].over or limits[0][0] <= monotonic()):
            call = heapq.heappop(limits)[2]
            if not call.over:
                self.drop(call)
                self.settled.append((call.token, ServiceLate("no answer in time")))
