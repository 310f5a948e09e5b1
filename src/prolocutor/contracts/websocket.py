"""What a door sees of one WebSocket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from prolocutor.contracts.http import Visitor


class WebSocket(Protocol):
    """One WebSocket that is admitted and open; iterate over it for the client's messages."""

    visitor: Visitor
    path: str
    params: Mapping[str, str]

    def header(self, name: str) -> str | None:
        """Return the value of a header of the handshake by its lower-case name."""

    def query(self, name: str) -> str | None:
        """Return the last value of a query parameter."""

    def send(self, message: str | bytes) -> None:
        """Queue a message without waiting. A client that reads too slowly is disconnected."""

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the socket after all queued messages are sent."""

    async def room(self) -> None:
        """Wait until the client has taken most of the queued messages, or has disconnected."""

    def busy(self) -> AbstractContextManager[None]:
        """Return a context that counts as a request in flight: shutting down waits for it."""

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        """Return the client's messages until it disconnects or the listener stops."""
