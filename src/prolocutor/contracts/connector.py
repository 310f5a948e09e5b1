"""Connector: the way to one service.

Life cycle: the assistant makes a connector when it is built (no traffic, no event loop needed),
calls `send` as often as it likes and from many turns at once, and `aclose` once at the end. `send`
may be cancelled at any await and then must leave nothing behind that would disturb a later call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from prolocutor.dialog.plain import Plain
from prolocutor.errors import ServiceError


class Request(Protocol):
    """What one service is asked in one call."""

    @property
    def service(self) -> str:
        """Name of the service."""

    @property
    def turn_id(self) -> str:
        """The turn that asks, 32 hex."""

    @property
    def key(self) -> str:
        """`<turn_id>/<service>[/n]`: the same when a turn is run again after a crash."""

    @property
    def timeout(self) -> float:
        """Seconds until the answer is of no use any more."""

    def value(self) -> Any:
        """Return a fresh decoded copy of what is asked; whoever gets it may change it."""

    def body(self) -> bytes:
        """Return what is asked as JSON."""


Replies = Sequence[Plain | ServiceError]
"""One checked reply, or one error, for each request of a call, in their order."""

ImmediateAnswer = Callable[[Request], Plain | ServiceError]
"""Asks a service and gives its checked answer without ever waiting."""


class Connector(Protocol):
    """The way to one service, whatever it is and wherever it runs.

    One that never waits may offer `answer` beside `send`, an `Answer`; None where it does wait.
    """

    async def send(self, requests: Sequence[Request]) -> Replies:
        """Ask the service and give one answer for each request, in their order.

        There is exactly one request unless the service has `batch_size > 1`. Every answer has been
        checked to be JSON (`plain.check`, `plain.parse`); an item that is not is a `ServiceError`
        in its place. What goes wrong for all of them is raised as a `ServiceError`.
        """

    async def aclose(self) -> None:
        """Let go of connections, threads and child processes."""
