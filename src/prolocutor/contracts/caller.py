"""Caller: for those who must call a skill from outside the pipeline's graph."""

from __future__ import annotations

from typing import Any, Protocol


class Caller(Protocol):
    """Calls one service under its guard: time-out, breaker, places in flight."""

    async def call(
        self,
        service: str,
        request: dict[str, Any],
        *,
        timeout: float,
        key: str | None = None,
        formatted: bool = False,
    ) -> Any:
        """Ask the service and give its checked reply; raises `ServiceError`.

        `key` is the `Idempotency-Key` (`<turn id>/<service>[/n]`), the same in a second run; None:
        one of its own. `formatted`: the request is an agent state, for the service's formatters.
        """
