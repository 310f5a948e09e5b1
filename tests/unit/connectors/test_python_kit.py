"""A Python function keeps what every connector keeps, in each of the ways it can be called."""

import asyncio
from collections.abc import Callable
from typing import Any

from prolocutor.connectors.python import PythonConnector
from prolocutor.contracts.connector import Connector
from prolocutor.testing import behaviours
from prolocutor.testing.connector_kit import ConnectorKit


class TestInThreads(ConnectorKit):
    async def connect(self, behaviour: str) -> Connector:
        return PythonConnector(getattr(behaviours, behaviour), name=behaviour)

    async def connect_batched(self, behaviour: str) -> Connector:
        return PythonConnector(getattr(behaviours, behaviour), name=behaviour, batched=True)


class TestInTheEventLoop(ConnectorKit):
    async def connect(self, behaviour: str) -> Connector:
        return PythonConnector(getattr(behaviours, behaviour), name=behaviour, inline=True)

    async def connect_batched(self, behaviour: str) -> Connector:
        function = getattr(behaviours, behaviour)
        return PythonConnector(function, name=behaviour, inline=True, batched=True)

    # An inline function never yields, by choice, so its call cannot be cancelled.
    test_a_cancelled_call_ends_at_once_and_later_calls_work = None  # type: ignore[assignment]


class TestAwaited(ConnectorKit):
    async def connect(self, behaviour: str) -> Connector:
        return PythonConnector(_awaitable(behaviour), name=behaviour)

    async def connect_batched(self, behaviour: str) -> Connector:
        return PythonConnector(_awaitable(behaviour), name=behaviour, batched=True)


def _awaitable(behaviour: str) -> Callable[[Any], Any]:
    function = getattr(behaviours, behaviour)

    async def target(request: Any) -> Any:
        if isinstance(request, dict) and "seconds" in request:
            await asyncio.sleep(request["seconds"])
        return function(request)

    return target
