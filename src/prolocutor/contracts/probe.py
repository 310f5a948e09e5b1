"""Probe: lets connectors recognize the service behind an address.

The options of a connector may have a class method `recognize`, a `Recognize`. All installed
connectors are asked at once; the surest answer wins.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import msgspec

from prolocutor.dialog.plain import JsonObject

T = TypeVar("T")

_GOOD = (200, 101)


class ProbeAnswer(msgspec.Struct, frozen=True):
    """An answer to a probe: a status and the body.

    The status is 0 without an answer, and 101 for an opened WebSocket, whose first message is the
    body.
    """

    status: int
    body: bytes = b""

    def json(self) -> Any:
        """Return the body of a successful answer as JSON, or None."""
        return self.read(Any)

    def read(self, kind: type[T]) -> T | None:
        """Return the body of a successful answer as JSON of a type, or None."""
        try:
            return msgspec.json.decode(self.body, type=kind) if self.status in _GOOD else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None


class FoundService(msgspec.Struct, frozen=True, kw_only=True):
    """The service behind an address, and the way to call it.

    - `what` names it for people, `name` suggests a name for the service (by default its connector's
      and its host's), `call` is the value for a file, to which the query of the address is added.
    - `timeout` is in seconds.
    - `notes` are for the person who adds it.

    `certainty`: 1 where the path of the address is the protocol's and the server there speaks it;
    up to 0.9 for an answer with its protocol's name from another place; below 0.5 for answers
    that others might give.

    `connector` is filled in by who asks, None where the address alone says enough.
    """

    what: str
    call: JsonObject | str
    name: str = ""
    timeout: int = 10
    certainty: float = 0.5
    notes: list[str] = []
    connector: str | None = None


class UrlProbe(Protocol):
    """Probes an address; equal requests of several connectors are sent once.

    Nothing is raised: a failure is an answer with status 0. No redirect is followed. The query of
    the given address goes with every request to its server, as does the key.
    """

    @property
    def url(self) -> str:
        """The address as it was given, of http, https, ws or wss, its query included."""

    @property
    def path(self) -> str:
        """The path of the address, without a slash at its end."""

    @property
    def key(self) -> str | None:
        """The key to send as a bearer token, if any."""

    def base(self, *endings: str) -> str:
        """Return the address without query, last slash and the first of these endings."""

    def append_query(self, url: str) -> str:
        """Return an address with the query of the given address after its own query."""

    async def get(self, url: str) -> ProbeAnswer:
        """Return the answer to a GET."""

    async def post(self, url: str, body: JsonObject) -> ProbeAnswer:
        """Return the answer to a POST of JSON."""

    async def greet(self, url: str) -> ProbeAnswer:
        """Open a WebSocket and return the first message it sends unasked, if any."""

    def note(self, tried: str) -> None:
        """Record a further failed attempt, for the detailed report."""


Recognize = Callable[[UrlProbe], Awaitable[FoundService | None]]
"""Returns the service behind an address, None if this connector cannot talk to it."""
