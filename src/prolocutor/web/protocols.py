"""uvicorn's protocols, with bounds on heads and connections."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from prolocutor.web.error_table import ErrorResponse, HttpError, error_response
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.websockets import ABORT

_TOO_LARGE: Final = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE


class BoundedHttpProtocol(HttpToolsProtocol):
    """One HTTP connection; a head has to arrive in time and within its size."""

    def __init__(self, *args: Any, limits: ListenerLimits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits
        self._head = 0
        self._reading_head = True
        self._timer: asyncio.TimerHandle | None = None
        self._refusal = ErrorResponse(400, "this is not HTTP", "bad_request")

    def connection_made(self, transport: Any) -> None:
        """Take a connection unless too many are open."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            self._refusal = ErrorResponse(503, "too many connections are open", "overloaded")
            self.send_400_response("")
            return
        self._timer = self.loop.call_later(self._limits.patience, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Feed the parser; a head that is incomplete after it gets a time limit."""
        super().data_received(data)
        if self._reading_head and not self.transport.is_closing():
            self._head += len(data)
            if self._head > self._limits.head:
                self._refuse(_TOO_LARGE, "the headers are too large")
            elif self._timer is None:
                self._timer = self.loop.call_later(self._limits.patience, self._give_up)

    def on_message_begin(self) -> None:
        """Start to read a head."""
        self._reading_head, self._head = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Refuse a head that is too large, and have the app answer any other."""
        self._reading_head = False
        self._stop_timer()
        size = len(self.url)
        for name, value in self.headers:
            size += len(name) + len(value)
        if size > self._limits.head:
            self._refusal = error_response(HttpError(_TOO_LARGE, "the headers are too large"))
            raise ValueError("head too large")
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, as JSON, and close the connection."""
        del msg
        body = self._refusal.encoded()
        self.transport.write(
            b"%bcontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
            % (STATUS_LINE[self._refusal.status], len(body), body)
        )
        self.transport.close()

    def _give_up(self) -> None:
        self._timer = None
        if self._head:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "the headers did not come in time")
        else:
            self.transport.close()

    def _refuse(self, status: HTTPStatus, what: str) -> None:
        self._refusal = error_response(HttpError(status, what))
        self.send_400_response(what)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


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
