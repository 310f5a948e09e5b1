"""uvicorn's WebSocket protocol, with a way to abort a connection."""

from __future__ import annotations

from typing import Any, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from prolocutor.web.websockets import ABORT


class AbortableWebSocketProtocol(WebSocketsSansIOProtocol):
    """One WebSocket that the app can abort, by an ASGI extension."""

    def handle_connect(self, event: Any) -> None:
        """Start the handshake, with the extension in its scope."""
        super().handle_connect(event)
        if hasattr(self, "scope"):
            extensions = cast("dict[str, Any]", self.scope["extensions"])
            extensions[ABORT] = self.transport.abort

    async def send(self, message: Any) -> None:
        """Send what the app says. uvicorn logs an error unless a refusal ends the handshake."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            self.handshake_complete = True
