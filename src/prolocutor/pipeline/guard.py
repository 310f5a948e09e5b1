"""What stands around every call of one service: its breaker, its places in flight, its retries."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Callable
from typing import Literal

from prolocutor.contracts.connector import Connector, ImmediateAnswer, Request
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BreakerOpen, NoPlace, ServiceError
from prolocutor.pipeline import plan
from prolocutor.pipeline.batching import Batcher

log = logging.getLogger(__name__)

BreakerState = Literal["closed", "open", "half-open"]


class CircuitBreaker:
    """Leaves a failing service alone for a while, then lets one call try.

    It counts failures, not the share of them, so it works for a single address as well.
    """

    def __init__(
        self,
        rule: plan.Breaker,
        changed: Callable[[BreakerState], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state: BreakerState = "closed"
        self._rule = rule
        self._changed = changed
        self._clock = clock
        self.failures: deque[float] = deque(maxlen=rule.failures)
        """When it failed since its last success."""
        self._opened = 0.0

    def pass_through(self) -> None:
        """Let a call through or raise `BreakerOpen`; after the cool-down one call may try."""
        if self.state == "closed":
            return
        rest = self._opened + self._rule.cooldown - self._clock()
        if self.state == "half-open" or rest > 0:
            raise BreakerOpen(f"left alone after {self._rule.failures} failures")
        self._turn("half-open")

    def failed(self) -> None:
        """Take note of a failure."""
        if self.state == "open":
            return
        now = self._clock()
        self.failures.append(now)
        full = len(self.failures) == self._rule.failures
        if self.state == "half-open" or (full and now - self.failures[0] <= self._rule.window):
            self._opened = now
            self._turn("open")

    def trip(self) -> None:
        """Open at once, whatever was counted: it held up all others."""
        self._opened = self._clock()
        self.failures.append(self._opened)
        if self.state != "open":
            self._turn("open")

    def succeeded(self) -> None:
        """Take note of a success."""
        self.failures.clear()
        if self.state != "closed":
            self._turn("closed")

    def undecided(self) -> None:
        """Take note that a call ended without showing whether the service works."""
        if self.state == "half-open":
            self._turn("open")

    def _turn(self, state: BreakerState) -> None:
        self.state = state
        self._changed(state)


class Guard:
    """Makes the calls of one service, all turns together."""

    def __init__(
        self,
        service: plan.Service,
        connector: Connector,
        changed: Callable[[str, BreakerState], None],
    ) -> None:
        self.service = service
        self.breaker = CircuitBreaker(service.breaker, self._breaker_changed)
        self._connector = (
            Batcher(connector, service.batch_size) if service.batch_size > 1 else connector
        )
        self._send = self._connector.send
        self._answer: ImmediateAnswer | None = getattr(self._connector, "answer", None)
        self.immediate = self._answer is not None and not service.retries
        """Whether `answer` may be used in place of `call`: it never waits."""
        self._changed = changed
        self._free = service.max_in_flight
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def in_flight(self) -> int:
        """Calls running now, strays included."""
        return self.service.max_in_flight - self._free

    async def call(self, request: Request) -> Plain | ServiceError:
        """Ask the service once a place is free, again where `retries` allows."""
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
            self.breaker.undecided()
            raise
        finally:
            if self._waiting:
                self._leave()
            else:
                self._free += 1

    def answer(self, request: Request) -> Plain | ServiceError:
        """Ask a service that never waits; in the event loop it takes no place."""
        assert self._answer is not None
        if self.breaker.state != "closed":
            try:
                self.breaker.pass_through()
            except BreakerOpen as error:
                return error
        return self._answer(request)

    def note(self, error: ServiceError | None) -> None:
        """Tell the breaker how a call went; what the guard itself refused does not count."""
        if error is None:
            if self.breaker.failures:
                self.breaker.succeeded()
        elif isinstance(error, NoPlace):
            self.breaker.undecided()
        elif not isinstance(error, BreakerOpen):
            self.breaker.failed()

    def sends_by(self, connector: Connector) -> bool:
        """Return whether this is the way its requests go."""
        return self._connector is connector

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
            self.breaker.undecided()
            raise

    def _leave(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _breaker_changed(self, state: BreakerState) -> None:
        log.warning("breaker of service %s is now %s", self.service.name, state)
        self._changed(self.service.name, state)
