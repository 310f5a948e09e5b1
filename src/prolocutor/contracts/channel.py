"""Channel: a front door, and what it needs to know of those who come in through it.

Life cycle: a channel is made with its assistant (no traffic, no event loop needed). The listener
asks once for its routes, awaits `open` before the first request and `close` after the last one.
`answer` functions run for many visitors at once. What they raise of the error tree (`errors.py`)
becomes the answer by the listener's table of errors; they need not catch it. A visitor may go away
at any await: a turn that was taken ends and is stored all the same.

Users: a channel gives `prefix` + its own name for a person to the assistant, so that two doors
never mean two people by one name. It lets nobody but operators speak for somebody else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

import msgspec

Access = Literal["all", "known", "operators"]
"""Who may come: whoever, without any limit; whom `auth` lets in; operators alone."""


class Visitor(msgspec.Struct, frozen=True):
    """Who came in: an operator may be any user, a person only `user`, an anonymous one is new.

    `names` is what the assistant calls a person, by all doors: whatever is known under one of them
    is theirs.
    """

    kind: Literal["operator", "person", "anonymous"]
    user: str | None = None
    names: frozenset[str] = frozenset()


class HttpRequest(Protocol):
    """One request over HTTP, admitted already."""

    visitor: Visitor
    method: str
    path: str
    params: Mapping[str, str]
    """The parts of the path that the route names in braces."""

    def header(self, name: str) -> str | None:
        """Return the value of a header by its lower-case name."""

    def query(self, name: str) -> str | None:
        """Return the last value of a parameter of the query."""

    async def body(self) -> bytes:
        """Read the whole body, within the listener's limits."""


class HttpResponse(msgspec.Struct, frozen=True):
    """What goes back: `body` whole, or piece by piece where it may be long."""

    body: bytes | AsyncIterator[bytes] = b""
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}


class WebSocket(Protocol):
    """One WebSocket, admitted and open; iterate over it for what the client sends."""

    visitor: Visitor
    path: str
    params: Mapping[str, str]

    def header(self, name: str) -> str | None:
        """Return the value of a header of the handshake by its lower-case name."""

    def query(self, name: str) -> str | None:
        """Return the last value of a parameter of the query."""

    def send(self, message: str | bytes) -> None:
        """Hand a message over; never waits. A client too slow to read is dropped."""

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close when all that was handed over is sent."""

    async def room(self) -> None:
        """Wait until the client has taken most of what was handed over, or is gone."""

    def busy(self) -> AbstractContextManager[None]:
        """Return what to hold while a message is worked off that was read already."""

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        """Return what the client sends until it is gone or the listener stops."""


class Route(msgspec.Struct, frozen=True):
    """One method of one address; `path` may have parts such as `{id}`, or `{rest:path}` at last."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    answer: Callable[[HttpRequest], Awaitable[HttpResponse]]
    access: Access = "known"


class WebSocketRoute(msgspec.Struct, frozen=True):
    """One address of WebSockets; when `answer` returns, the socket is closed."""

    path: str
    answer: Callable[[WebSocket], Awaitable[None]]
    access: Access = "known"


class Channel(Protocol):
    """A front door."""

    @property
    def name(self) -> str:
        """Its name in an assistant's file, and in the catalog of channels."""

    @property
    def prefix(self) -> str:
        """What stands before its users' names in the assistant; no other channel's is the same."""

    @property
    def routes(self) -> Sequence[Route | WebSocketRoute]:
        """Its addresses; no other channel has the same."""

    def openapi(self) -> dict[str, Any]:
        """Describe the HTTP routes: `paths` and `components` of an OpenAPI 3.1 document."""

    async def open(self) -> None:
        """Get ready for the first visitor."""

    async def close(self) -> None:
        """Let go of everything; the listener has no visitors any more."""
