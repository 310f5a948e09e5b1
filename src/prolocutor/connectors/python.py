"""PythonConnector: a service that is a Python function in this process.

Async functions are awaited where they are. Plain ones run in daemon threads of the service's own,
so a function that hangs holds up neither another service nor the end of the interpreter.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import threading
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from typing import Any, Final, Literal

from prolocutor.contracts.connector import Answer, Request
from prolocutor.contracts.selection import Selection
from prolocutor.dialog.plain import Plain, check
from prolocutor.errors import BadReply, NoPlace, ServiceError, ServiceRaised

log = logging.getLogger(__name__)

Replies = Sequence[Plain | ServiceError]

IDLE_SECONDS: Final = 30.0
MAX_TEXT: Final = 300


class PythonConnector:
    """The way to a function `target(request)`, async or plain.

    `batched`: the target takes a list of requests and gives a list of replies. `inline`: a plain
    function is quick, call it in the event loop itself. `max_threads`: most threads at once for a
    plain function; further calls wait for a free one, and fail at once when all are held by calls
    that were given up and never ended.
    """

    def __init__(
        self,
        target: Callable[..., Any],
        *,
        name: str,
        batched: bool = False,
        inline: bool = False,
        max_threads: int = 64,
    ) -> None:
        self.name = name
        self._target = target
        self._batched = batched
        self._awaited = _is_async(target)
        self._inline = inline
        self._plainly = self._awaited and not batched
        immediate = inline and not self._awaited and not batched
        self.answer: Answer | None = self._answer if immediate else None
        self._threads = _Threads(name, max_threads)

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Call the function and check what it gives; whatever it raises is `ServiceRaised`."""
        try:
            if self._plainly:
                return (_checked(await self._target(requests[0].value())),)
            if self._batched:
                asked: Any = [request.value() for request in requests]
                read: Callable[[Any], Replies] = functools.partial(_many, count=len(asked))
            else:
                asked = requests[0].value()
                read = _one
            if self._awaited:
                return read(await self._target(asked))
            if self._inline:
                return read(self._target(asked))
            return await self._threads.run(self._target, asked, read)
        except ServiceError:
            raise
        except asyncio.CancelledError as error:
            if _is_cancelled_from_outside():
                raise
            failure = _failure(error, self.name)
        except GeneratorExit as error:
            if not _is_in_a_task():
                raise
            failure = _failure(error, self.name)
        except BaseException as error:
            failure = _failure(error, self.name)
        raise failure

    def _answer(self, request: Request) -> Plain | ServiceError:
        try:
            return _checked(self._target(request.value()))
        except ServiceError as error:
            return error
        except BaseException as error:
            return _failure(error, self.name)

    async def aclose(self) -> None:
        """Let idle threads end; those at work end when their function does."""
        self._threads.close()


def _is_async(target: Callable[..., Any]) -> bool:
    call = getattr(target, "__call__", None)  # noqa: B004 - an object may have an async __call__
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(call)


def _is_cancelled_from_outside() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _is_in_a_task() -> bool:
    """Tell a function that raises GeneratorExit from a forgotten coroutine being cleared away."""
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


def _one(result: Any) -> Replies:
    return (_checked(result),)


def _many(results: Any, count: int) -> Replies:
    if not isinstance(results, list | tuple):
        _close_unawaited(results)
        raise BadReply(f"a batch wants a list of {count} replies, not a {type(results).__name__}")
    if len(results) != count:
        raise BadReply(f"{len(results)} replies to a batch of {count} requests")
    return [_item(result) for result in results]


def _item(result: Any) -> Plain | ServiceError:
    if isinstance(result, ServiceError):
        return result
    if isinstance(result, BaseException):
        return ServiceRaised(_text(result))
    try:
        return _checked(result)
    except BadReply as error:
        return error


def _checked(result: Any) -> Plain:
    try:
        if isinstance(result, Selection):
            first = check(result.first)
            return Plain(Selection(first.value, result.more), first.encoded)
        return check(result)
    except BadReply:
        _close_unawaited(result)
        raise
    except Exception as error:  # the value's own comparison or attributes raised
        log.debug("cannot check a %s", type(result).__name__, exc_info=error)
    raise BadReply(f"a {type(result).__name__} is nothing JSON can say")


def _close_unawaited(result: Any) -> None:
    if inspect.iscoroutine(result):
        result.close()


def _failure(error: BaseException, name: str) -> ServiceRaised:
    log.debug("service %s raised", name, exc_info=error)
    return ServiceRaised(_text(error))


def _text(error: BaseException) -> str:
    """Give `Type: message`, also for an exception whose own text raises or is endless."""
    try:
        text = str(error)[:MAX_TEXT].encode(errors="replace").decode()
    except Exception:
        text = "(its text cannot be told)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class _Job:
    """One call of a plain function, and the future in which somebody waits for it."""

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
        """Call the function, in a thread; nothing that it raises leaves here."""
        try:
            return self.read(self.context.run(self.target, self.asked))
        except ServiceError as error:
            return error
        except BaseException as error:
            return _failure(error, name)

    def post(self, outcome: Replies | ServiceError) -> None:
        """Hand the outcome to the event loop; when that is closed nobody waits any more."""
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


class _Threads:
    """Daemon threads of one service: started on demand, ended when idle for a while."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._alive = 0
        self._wanted = 0  # jobs waiting or running, given up or not
        self._lost = 0  # threads that still run a job which was given up

    async def run(
        self, target: Callable[..., Any], asked: Any, read: Callable[[Any], Replies]
    ) -> Replies:
        job = _Job(target, asked, read)
        self._submit(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._give_up(job)
            raise

    def close(self) -> None:
        with self._lock:
            for _ in range(self._alive):
                self._jobs.put(None)
            self._alive = 0

    def _submit(self, job: _Job) -> None:
        with self._lock:
            if self._lost >= self._most:
                raise NoPlace(f"all {self._most} threads are held by calls that never ended")
            self._wanted += 1
            grow = self._wanted > self._alive and self._alive < self._most
            self._alive += grow
            self._jobs.put(job)
        if grow:
            self._start_thread(job)

    def _start_thread(self, job: _Job) -> None:
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

    def _next(self) -> _Job | None:
        """Wait for a job; None is the end of this thread, which is counted out already."""
        try:
            return self._jobs.get(timeout=IDLE_SECONDS)
        except Empty:
            with self._lock:
                try:
                    return self._jobs.get_nowait()
                except Empty:
                    self._alive -= 1
                    return None

    def _take(self, job: _Job) -> bool:
        with self._lock:
            if job.state == "given up":
                return False
            job.state = "running"
            return True

    def _finish(self, job: _Job) -> None:
        with self._lock:
            self._wanted -= 1
            self._lost -= job.state == "given up"
            job.state = "done"

    def _give_up(self, job: _Job) -> None:
        with self._lock:
            if job.state == "running":
                self._lost += 1
            elif job.state == "waiting":
                self._wanted -= 1
            if job.state != "done":
                job.state = "given up"
