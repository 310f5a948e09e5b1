"""A door's view of an HTTP request or WebSocket, and the visitor's quota."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Final, Literal, Protocol

import msgspec

Access = Literal["all", "known", "operators"]
"""Who may use a route: everyone, without limits; those whom `auth` admits; operators alone."""


KeyScope = Literal["operate", "converse", "read", "admin"]
"""The uses that a key is allowed."""

QuotaKind = Literal["turns", "uploads", "programs", "backlog"]


class Visitor(msgspec.Struct, frozen=True):
    """The identity behind a request.

    An operator may speak for any user, a person only for `user`; an anonymous visitor is a new
    person.

    - `names` are the person's names in the assistant, for each door another: all data stored under
      any of them belong to this person.
    - `name` is the name of an operator, or of a person who signed in.
    - `scopes` are the permissions of an operator, None for all.
    - `session` is the id of the session of a person who signed in; an operator who did so has a
      `user` of their own.
    - `key` tells the keys of operators, and tokens that the store has, apart; "" for others.
    """

    kind: Literal["operator", "person", "anonymous"]
    user: str | None = None
    names: frozenset[str] = frozenset()
    name: str = ""
    scopes: frozenset[KeyScope] | None = None
    session: str | None = None
    key: str = ""

    def may(self, access: Access, *, reads: bool) -> bool:
        """Return whether the key may use a route, by its scopes, if it has any."""
        if self.scopes is None or "admin" in self.scopes:
            return True
        if reads and "read" in self.scopes:
            return True
        if access == "operators":
            return "operate" in self.scopes
        return not self.scopes.isdisjoint(("operate", "converse"))


class HttpRequest(Protocol):
    """An admitted HTTP request."""

    visitor: Visitor
    method: str
    path: str
    root: str
    """The part of the address before `path` if another app mounts ours."""
    params: Mapping[str, str]
    """The parts of the path that the route names in braces."""

    def header(self, name: str) -> str | None:
        """Return the value of a header by its lower-case name."""

    def query(self, name: str) -> str | None:
        """Return the last value of a query parameter."""

    async def body(self) -> bytes:
        """Read the whole body, within the listener's limits."""

    async def left(self) -> None:
        """Wait until the client has left, or the response is sent; the body has to be read."""


class HttpResponse(msgspec.Struct, frozen=True):
    """The response to a request; `body` is sent whole, or in pieces if it may be long.

    Each of `cookies` is the value of a header `Set-Cookie`.
    """

    body: bytes | AsyncIterator[bytes] = b""
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}
    cookies: tuple[str, ...] = ()


class WebSocket(Protocol):
    """An admitted, open WebSocket; iterating over it yields the client's messages."""

    visitor: Visitor
    path: str
    params: Mapping[str, str]

    def header(self, name: str) -> str | None:
        """Return the value of a header of the handshake by its lower-case name."""

    def query(self, name: str) -> str | None:
        """Return the last value of a query parameter."""

    def send(self, message: str | bytes) -> None:
        """Queue a message without waiting. A client is disconnected when it reads too slowly."""

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the socket after all queued messages are sent."""

    async def room(self) -> None:
        """Wait until the client has taken most of the queued messages, or has disconnected."""

    def busy(self) -> AbstractContextManager[None]:
        """Return a context to count as a request in flight: shutting down waits for it."""

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        """Return the client's messages until it disconnects or the listener stops."""


class RequestQuota(Protocol):
    """The quota of a visitor."""

    def spend(self, kind: QuotaKind, user: str, cost: int = 1) -> None:
        """Count a use of a kind for a person; of uploads, `cost` is the number of bytes.

        Of the backlog `cost` is the number of messages that were said before and are shown again.
        Raise `QuotaExceeded`, and count nothing, where it is more than may be now.
        """

    def count_socket(self, user: str) -> AbstractContextManager[None]:
        """Return a context in which a person has one more socket open; raise `QuotaExceeded`."""


REQUEST_QUOTA: Final[ContextVar[RequestQuota | None]] = ContextVar("REQUEST_QUOTA", default=None)


def spend(kind: QuotaKind, user: str, cost: int = 1) -> None:
    """Count a use of a kind for a person in the quota of the running request, if it has any."""
    quota = REQUEST_QUOTA.get()
    if quota is not None:
        quota.spend(kind, user, cost)


def count_socket(user: str) -> AbstractContextManager[None]:
    """Return a context in which a person has one more socket open; raise `QuotaExceeded`."""
    quota = REQUEST_QUOTA.get()
    return nullcontext() if quota is None else quota.count_socket(user)
