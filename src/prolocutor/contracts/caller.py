"""Caller: asks a service from outside the pipeline's graph."""

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
        stage: str | None = None,
        key: str | None = None,
        formatted: bool = False,
    ) -> Any:
        """Ask the service and return its checked reply; raise `ServiceError`.

        Services of several stages may have one name: `stage` says which is meant (as in YAML,
        `annotators`); None: the skill of that name, or where there is none the first service.
        `key` is the `Idempotency-Key` (`<turn id>/<service>[/n]`), the same in a second run; None:
        one of its own. `formatted`: the request is an agent state, for the service's formatters.
        """
