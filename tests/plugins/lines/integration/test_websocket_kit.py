"""The connector to WebSockets keeps what every connector must keep."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from prolocutor.contracts.connector import Connector
from prolocutor.plugins.lines.websocket import WebSocketConnector, WebSocketService
from prolocutor.testing import behaviours
from prolocutor.testing.connector_kit import ConnectorKit
from tests.integration.peers.socket_peer import behaving, socket_peer


class TestWebSocketConnector(ConnectorKit):
    @pytest.fixture(autouse=True)
    async def _peers(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as self.stack:
            yield

    async def connect(self, behaviour: str) -> Connector:
        act = behaving(getattr(behaviours, behaviour))
        peer = await self.stack.enter_async_context(socket_peer(act))
        return WebSocketConnector(WebSocketService(url=peer.url), name="service")
