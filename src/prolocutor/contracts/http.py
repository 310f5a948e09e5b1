"""What a door sees of one HTTP request, and the response that it gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Literal, Protocol

import msgspec

Access = Literal["all", "known", "operators"]
"""Who may use a route: everyone, without limits; those whom `auth` admits; operators alone."""


KeyScope = Literal["operate", "converse", "read", "admin"]
"""What a key may be used for."""


class Visitor(msgspec.Struct, frozen=True):
    """The identity behind a request.

    An operator may speak for any user, a person only for `user`; an anonymous visitor is a new
    person. `names` are the person's names in the assistant, one for each door: what is stored
    under any of them belongs to this person. `name` is what an operator is called, or a person who
    signed in; `scopes` what an operator may do, None for everything. `session` is the id of the
    session of a person who signed in; an operator who did so has a `user` of their own.
    """

    kind: Literal["operator", "person", "anonymous"]
    user: str | None = None
    names: frozenset[str] = frozenset()
    name: str = ""
    scopes: frozenset[KeyScope] | None = None
    session: str | None = None

    def may(self, access: Access, *, reads: bool) -> bool:
        """Return whether the scopes of the key, if it has any, let it use a route."""
        if self.scopes is None or "admin" in self.scopes:
            return True
        if reads and "read" in self.scopes:
            return True
        if access == "operators":
            return "operate" in self.scopes
        return not self.scopes.isdisjoint(("operate", "converse"))


class HttpRequest(Protocol):
    """One HTTP request that has been admitted."""

    visitor: Visitor
    method: str
    path: str
    root: str
    """What stands before `path` in the address where another app mounts ours."""
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
    """The response to a request; `body` is sent whole, or piece by piece where it may be long.

    Each of `cookies` is the value of a header `Set-Cookie`.
    """

    body: bytes | AsyncIterator[bytes] = b""
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}
    cookies: tuple[str, ...] = ()
