"""CircuitBreaker: when a failing service is left alone, and when it is tried again."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Literal

from prolocutor.errors import BreakerOpen
from prolocutor.plan.pipeline import Breaker

log = logging.getLogger(__name__)

BreakerState = Literal["closed", "open", "half-open"]


class CircuitBreaker:
    """Leaves a failing service alone for a while, then lets one call try.

    It counts failures, not the share of them, so it works for a single address as well. `changed`
    gets the name of the service with each new state.
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
        """Let a call through or raise `BreakerOpen`; after the cool-down one call may try."""
        if self.state == "closed":
            return
        rest = self._opened + self._rule.cooldown - self._clock()
        if self._trying if self.state == "half-open" else rest > 0:
            raise BreakerOpen(f"left alone after {self._rule.failures} failures")
        self._trying = True
        if self.state != "half-open":
            self._turn("half-open")

    def let_try(self) -> None:
        """Let the next call try, however much of the cool-down is left; an open one is half-open.

        Nothing changes for a closed one, and while a call tries.
        """
        if self.state == "open":
            self._opened = self._clock() - self._rule.cooldown
            self._trying = False
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
        if self.state == "half-open" and self._trying:
            self._turn("open")

    def _turn(self, state: BreakerState) -> None:
        self.state = state
        log.warning("breaker of service %s is now %s", self._service, state)
        self._changed(self._service, state)
