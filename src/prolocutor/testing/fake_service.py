"""FakeService and FakeRequest: a scripted service, and a request made by hand."""

from __future__ import annotations

import inspect
from typing import Any

from prolocutor.contracts.connector import DeltaSink
from prolocutor.dialog.plain import decode, encode


class FakeService:
    """A service with scripted replies, which records its requests.

    A reply is a value, an exception to raise, or a function of the request (async or plain). The
    last reply serves all further calls; without any the reply is None.

        chitchat = FakeService([{"text": "Hello.", "confidence": 0.5}], ValueError("no more"))
        Service("chitchat", chitchat)

    """

    def __init__(self, *replies: Any) -> None:
        self.requests: list[Any] = []
        self._replies = replies or (None,)

    @property
    def calls(self) -> int:
        """The number of calls."""
        return len(self.requests)

    async def __call__(self, request: Any) -> Any:
        """Record the request and return the next reply."""
        self.requests.append(request)
        reply = self._replies[min(self.calls, len(self._replies)) - 1]
        if isinstance(reply, BaseException):
            raise reply
        if not callable(reply):
            return reply
        given = reply(request)
        return await given if inspect.isawaitable(given) else given


class FakeDeltas:
    """Keeps the words of a connector; `restarts` counts the new beginnings."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.confidence: float | None = None
        self.restarts = 0

    def add(self, text: str, confidence: float | None = None) -> None:
        """Keep a piece."""
        self.pieces.append(text)
        self.confidence = confidence

    def restart(self) -> None:
        """Forget all pieces."""
        self.pieces.clear()
        self.restarts += 1


class FakeRequest:
    """A request as the engine makes it, of any value."""

    def __init__(
        self,
        value: Any = None,
        *,
        service: str = "service",
        turn_id: str = "0" * 32,
        key: str | None = None,
        timeout: float = 2.0,
        deltas: DeltaSink | None = None,
    ) -> None:
        self.service = service
        self.turn_id = turn_id
        self.key = key or f"{turn_id}/{service}"
        self.timeout = timeout
        self.deltas = deltas
        self._body = encode(value)

    def value(self) -> Any:
        """Return a fresh decoded copy of the value."""
        return decode(self._body)

    def body(self) -> bytes:
        """Return the value as JSON."""
        return self._body
