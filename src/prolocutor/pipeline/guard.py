"""The guard of every call of a service: breaker, places in flight, retries, batches."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from prolocutor.contracts.calls import CallWatch, WireExchange, wire_exchanges
from prolocutor.contracts.connector import Connector, ImmediateAnswer, Replies, Request
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, BreakerOpen, NoPlace, ServiceError, ServiceRaised
from prolocutor.functions import error_text
from prolocutor.pipeline.calls import start_now
from prolocutor.plan.pipeline import Breaker, StageService

log = logging.getLogger(__name__)


BreakerState = Literal["closed", "open", "half-open"]

Waiting = tuple[Request, "asyncio.Future[Plain]"]

MAX_LOST: Final = 16
"""Calls of one service that were given up and go on; then no more are made."""


class CircuitBreaker:
    """Leaves a failing service alone for a while, then lets a single call try.

    It counts failures, not their share, so it works for a single address as well. `changed` is
    called with the name of the service and each new state.
    """

    def __init__(
        self,
        service: str,
        rule: Breaker,
        changed: Callable[[str, BreakerState], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state: BreakerState = "closed"
        self._service = service
        self._rule = rule
        self._changed = changed
        self._clock = clock
        self.failures: deque[float] = deque(maxlen=rule.failures)
        """When it failed since its last success."""
        self._opened = 0.0
        self._trying = False

    def pass_through(self) -> None:
        """Let a call through or raise `BreakerOpen`; after the cool-down a single call may try."""
        if self.state == "closed":
            return
        rest = self._opened + self._rule.cooldown - self._clock()
        if self._trying if self.state == "half-open" else rest > 0:
            raise BreakerOpen(f"left alone after {self._rule.failures} failures")
        self._trying = True
        if self.state != "half-open":
            self._turn("half-open")

    def let_try(self) -> None:
        """End the cool-down of an open breaker: it is half-open, and the next call may try.

        A closed breaker does not change, nor does a half-open breaker whose call is trying.
        """
        if self.state == "open":
            self._opened = self._clock() - self._rule.cooldown
            self._trying = False
            self._turn("half-open")

    def record_failure(self) -> None:
        """Record a failure."""
        if self.state == "open":
            return
        now = self._clock()
        self.failures.append(now)
        full = len(self.failures) == self._rule.failures
        if self.state == "half-open" or (full and now - self.failures[0] <= self._rule.window):
            self._opened = now
            self._turn("open")

    def trip(self) -> None:
        """Open at once, regardless of the count: the service blocked all others."""
        self._opened = self._clock()
        self.failures.append(self._opened)
        if self.state != "open":
            self._turn("open")

    def record_success(self) -> None:
        """Record a success."""
        self.failures.clear()
        if self.state != "closed":
            self._turn("closed")

    def record_undecided(self) -> None:
        """Record that a call ended without showing whether the service works."""
        if self.state == "half-open" and self._trying:
            self._turn("open")

    def _turn(self, state: BreakerState) -> None:
        self.state = state
        log.warning("breaker of service %s is now %s", self._service, state)
        self._changed(self._service, state)


class RunningCell:
    """Holds the `guard` of the service whose code runs in the event loop now, or None.

    Guards set it around code that runs without its own task. A call with its own task is known by
    the task's name (`Guard.task_name`).
    """

    __slots__ = ("guard",)

    def __init__(self) -> None:
        self.guard: Guard | None = None


class Guard:
    """Makes the calls of a service, for all turns together."""

    def __init__(
        self,
        service: StageService,
        connector: Connector,
        changed: Callable[[str, BreakerState], None],
        cell: RunningCell | None = None,
    ) -> None:
        self.service = service
        self.task_name = f"service {service.name} {id(self):x}"
        self._cell = RunningCell() if cell is None else cell
        self.breaker = CircuitBreaker(service.name, service.breaker, changed)
        batches = service.batch_size > 1 and not getattr(connector, "gathers_batches", False)
        self._connector = (
            Batcher(connector, service.batch_size, self.task_name) if batches else connector
        )
        target: object = connector
        while (kept := getattr(target, "kept", None)) is not None:
            target = kept
        self.is_foreign = not type(target).__module__.startswith("prolocutor.")
        """Whether the connector is a plug-in's or a user's own: its replies are checked again."""
        self.format: str = str(getattr(connector, "format", "plain"))
        """The format of its replies' texts, unless the service names another."""
        self._send = self._connector.send
        self._answer: ImmediateAnswer | None = getattr(self._connector, "answer", None)
        self.immediate = self._answer is not None and not service.retries
        """Whether `answer` may be used in place of `call`: it never waits."""
        self._free = service.max_in_flight
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def in_flight(self) -> int:
        """The number of running calls, including strays."""
        return self.service.max_in_flight - self._free

    async def call(self, request: Request) -> Plain | ServiceError:
        """Ask the service as soon as a place is free, and again as often as `retries` allows."""
        if self.breaker.state != "closed":
            self.breaker.pass_through()
        if self._free > 0:
            self._free -= 1
        else:
            await self._place()
        try:
            if self.service.retries:
                return await self._call_patiently(request)
            (reply,) = await self._send((request,))
            return reply
        except asyncio.CancelledError:
            self.breaker.record_undecided()
            raise
        finally:
            if self._waiting:
                self._leave()
            else:
                self._free += 1

    async def call_alone(self, request: Request) -> Plain | ServiceError:
        """Ask the service once, past its breaker and without waiting for a place."""
        if self._free <= 0:
            raise NoPlace(f"{self.in_flight} calls are running")
        self._free -= 1
        try:
            (reply,) = await self._send((request,))
            return reply
        finally:
            if self._waiting:
                self._leave()
            else:
                self._free += 1

    def answer(self, request: Request) -> Plain | ServiceError:
        """Ask a service that never waits and needs no place."""
        assert self._answer is not None
        if self.breaker.state != "closed":
            try:
                self.breaker.pass_through()
            except BreakerOpen as error:
                return error
        cell = self._cell
        cell.guard = self
        try:
            return self._answer(request)
        except BaseException as error:
            return ServiceRaised(error_text(error))
        finally:
            cell.guard = None

    def observe(self, watch: CallWatch, stage: str) -> None:
        """Show each call from now on to `watch`, with the service's stage."""
        send, answer = self._send, self._answer

        async def send_seen(requests: Sequence[Request]) -> Replies:
            wire: list[WireExchange] = []
            wire_exchanges.set(wire)
            end = watch.begin(stage, requests[0], wire)
            try:
                replies = await send(requests)
            except BaseException as error:
                end(error)
                raise
            end(replies[0])
            return replies

        self._send = send_seen
        if answer is not None:

            def answer_seen(request: Request) -> Plain | ServiceError:
                end = watch.begin(stage, request, [])
                reply = answer(request)
                end(reply)
                return reply

            self._answer = answer_seen

    def watch_function(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function to run `work` as code of this service."""

        def run(*given: Any, **named: Any) -> Any:
            self._cell.guard = self
            try:
                return work(*given, **named)
            finally:
                self._cell.guard = None

        return run

    def note(self, error: ServiceError | None) -> None:
        """Record the outcome of a call in the breaker; the guard's own refusals do not count."""
        if error is None:
            if self.breaker.failures:
                self.breaker.record_success()
        elif isinstance(error, NoPlace):
            self.breaker.record_undecided()
        elif not isinstance(error, BreakerOpen):
            self.breaker.record_failure()

    async def aclose(self) -> None:
        """Let go of the service."""
        await self._connector.aclose()

    async def _call_patiently(self, request: Request) -> Plain | ServiceError:
        for attempt in range(self.service.retries):
            error = await self._attempt(request)
            if not isinstance(error, ServiceError) or not error.passing:
                return error
            self.note(error)
            if self.breaker.state == "open":
                return error
            await asyncio.sleep(0.1 * 2**attempt * random.uniform(0.5, 1.5))
        return await self._attempt(request)

    async def _attempt(self, request: Request) -> Plain | ServiceError:
        if request.deltas is not None:
            request.deltas.restart()
        try:
            (reply,) = await self._send((request,))
        except ServiceError as error:
            return error
        return reply

    async def _place(self) -> None:
        if len(self._waiting) >= self.service.max_in_flight:
            raise NoPlace(f"{self.in_flight} calls are running and as many wait")
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave()
            elif turn in self._waiting:
                self._waiting.remove(turn)
            self.breaker.record_undecided()
            raise

    def _leave(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class Batcher:
    """A connector around a connector: it gathers waiting requests into calls of `size`.

    One call runs at a time. Without a running call, a request is sent in the loop's next round,
    together with all requests that have come until then; during a call, requests gather. There is
    no fixed wait.
    """

    def __init__(self, connector: Connector, size: int, task_name: str | None = None) -> None:
        self._task_name = task_name
        self._connector = connector
        self._size = size
        self._queue: deque[Waiting] = deque()
        self._sender: asyncio.Task[Any] | None = None
        self._lost: set[asyncio.Task[Any]] = set()

    async def send(self, requests: Sequence[Request]) -> Sequence[Plain | ServiceError]:
        """Wait for the reply to a request; cancelling takes it out of the queue."""
        (request,) = requests
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Plain] = loop.create_future()
        self._queue.append((request, reply))
        if self._sender is None:
            self._sender = start_now(self._send_all(), loop, None)
        return (await reply,)

    async def aclose(self) -> None:
        """Let go of the service."""
        await self._connector.aclose()

    async def _send_all(self) -> None:
        try:
            await asyncio.sleep(0)
            while batch := self._next():
                await self._send(batch)
        finally:
            self._sender = None

    def _next(self) -> list[Waiting]:
        batch: list[Waiting] = []
        while self._queue and len(batch) < self._size:
            waiting = self._queue.popleft()
            if not waiting[1].done():
                batch.append(waiting)
        return batch

    async def _send(self, batch: list[Waiting]) -> None:
        if len(self._lost) >= MAX_LOST:
            error = NoPlace(f"{MAX_LOST} calls that were given up never ended")
            _settle_batch(batch, [error] * len(batch))
            return
        loop = asyncio.get_running_loop()
        away = start_now(self._ask_batch(batch), loop, self._task_name)
        gone = asyncio.gather(*(reply for _, reply in batch), return_exceptions=True)
        await asyncio.wait((away, gone), return_when=asyncio.FIRST_COMPLETED)
        if not away.done():
            away.cancel()
            self._lost.add(away)
            away.add_done_callback(self._lost.discard)

    async def _ask_batch(self, batch: list[Waiting]) -> None:
        error = await self._try(batch)
        if error is None:
            return
        if not error.answered or len(batch) == 1:
            _settle_batch(batch, [error] * len(batch))
            return
        for waiting in batch:
            alone = await self._try([waiting])
            if alone is not None:
                _settle_batch([waiting], [alone])

    async def _try(self, batch: list[Waiting]) -> ServiceError | None:
        """Send a batch and hand out its replies; return the error if the whole batch failed."""
        try:
            replies = await self._connector.send([request for request, _ in batch])
            if len(replies) != len(batch):
                return BadReply(f"{len(replies)} replies to {len(batch)} requests")
        except ServiceError as error:
            return error
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and not any(
                not reply.done() for _, reply in batch
            ):
                raise
            return ServiceRaised(error_text(error))
        _settle_batch(batch, replies)
        return None


def _settle_batch(batch: list[Waiting], replies: Sequence[Any]) -> None:
    """Hand out replies of any type: a connector may break its promise."""
    for (_, future), reply in zip(batch, replies, strict=True):
        if future.done():
            continue
        if isinstance(reply, ServiceError):
            future.set_exception(reply)
        else:
            future.set_result(reply)
