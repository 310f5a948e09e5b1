"""WorkerThreads: bounded daemon threads for the plain functions of a service.

A hanging function delays neither other services nor the end of the interpreter.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from typing import Any, Final, Literal

from prolocutor.contracts.connector import Replies
from prolocutor.errors import NoPlace, ServiceError, ServiceRaised
from prolocutor.functions import text_and_place

log = logging.getLogger(__name__)

IDLE_SECONDS: Final = 30.0


class WorkerThreads:
    """Daemon threads of a service: started on demand, ended after idling."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._jobs: SimpleQueue[_ThreadCall | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._alive = 0
        self._wanted = 0  # calls waiting or running, cancelled or not
        self._lost = 0  # threads still running a cancelled call

    async def run(
        self, target: Callable[..., Any], asked: Any, read: Callable[[Any], Replies]
    ) -> Replies:
        """Call `target(asked)` in a thread and return `read(result)`.

        Its exceptions become a `ServiceError`. Raise `NoPlace` if all threads are held by cancelled
        calls.
        """
        job = _ThreadCall(target, asked, read)
        self._submit(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._give_up(job)
            raise

    def close(self) -> None:
        """Let idle threads end; working threads end with their function."""
        with self._lock:
            for _ in range(self._alive):
                self._jobs.put(None)
            self._alive = 0

    def _submit(self, job: _ThreadCall) -> None:
        with self._lock:
            if self._lost >= self._most:
                raise NoPlace(f"all {self._most} threads are held by calls that never ended")
            self._wanted += 1
            grow = self._wanted > self._alive and self._alive < self._most
            self._alive += grow
            self._jobs.put(job)
        if grow:
            self._start_thread(job)

    def _start_thread(self, job: _ThreadCall) -> None:
        thread = threading.Thread(target=self._work, name=f"service {self._name}", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system gives no more threads
            with self._lock:
                self._alive -= 1
                alone = self._alive == 0
            if alone:
                self._give_up(job)
                raise NoPlace(str(error)) from None

    def _work(self) -> None:
        while (job := self._next()) is not None:
            if self._take(job):
                outcome = job.work(self._name)
                self._finish(job)
                job.post(outcome)
                del outcome
            del job

    def _next(self) -> _ThreadCall | None:
        """Wait for a call; None ends this thread, which is no longer counted."""
        try:
            return self._jobs.get(timeout=IDLE_SECONDS)
        except Empty:
            with self._lock:
                try:
                    return self._jobs.get_nowait()
                except Empty:
                    self._alive -= 1
                    return None

    def _take(self, job: _ThreadCall) -> bool:
        with self._lock:
            if job.state == "given up":
                return False
            job.state = "running"
            return True

    def _finish(self, job: _ThreadCall) -> None:
        with self._lock:
            self._wanted -= 1
            self._lost -= job.state == "given up"
            job.state = "done"

    def _give_up(self, job: _ThreadCall) -> None:
        with self._lock:
            if job.state == "running":
                self._lost += 1
            elif job.state == "waiting":
                self._wanted -= 1
            if job.state != "done":
                job.state = "given up"


class _ThreadCall:
    """A call of a plain function, and its caller's future."""

    __slots__ = ("asked", "context", "future", "loop", "read", "state", "target")

    def __init__(
        self, target: Callable[..., Any], asked: Any, read: Callable[[Any], Replies]
    ) -> None:
        self.target = target
        self.asked = asked
        self.read = read
        self.context: Context = copy_context()
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Replies] = self.loop.create_future()
        self.state: Literal["waiting", "running", "given up", "done"] = "waiting"

    def work(self, name: str) -> Replies | ServiceError:
        """Call the function, in a thread; no exception leaves here."""
        try:
            return self.read(self.context.run(self.target, self.asked))
        except ServiceError as error:
            return error
        except BaseException as error:
            return make_failure(error, name)

    def post(self, outcome: Replies | ServiceError) -> None:
        """Hand the outcome to the event loop, unless the loop is closed."""
        try:
            self.loop.call_soon_threadsafe(self._settle, outcome)
        except RuntimeError:
            log.debug("an answer came after its event loop was closed")

    def _settle(self, outcome: Replies | ServiceError) -> None:
        if self.future.done():
            return
        if isinstance(outcome, ServiceError):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)


def make_failure(error: BaseException, name: str) -> ServiceRaised:
    """Make the error of a service from its exception, with or without a text."""
    log.debug("service %s raised", name, exc_info=error)
    return ServiceRaised(text_and_place(error))
