"""The limits of the listener, and the count of requests in flight."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import msgspec

from prolocutor.bounds import Count, about
from prolocutor.web.quotas import ADDRESS, ANONYMOUS, PERSON, TOKEN, VisitorQuotas

_OF_ONE: Final = 1_000
"""Open connections of one address where the limit of all is far away."""


class ListenerLimits(msgspec.Struct, frozen=True):
    """The limits of the listener, in bytes, seconds and numbers.

    - `head`: request line and headers.
    - `query`: the part of the address after `?`.
    - `patience`: the time for a head or a body to arrive.
    - `requests`: requests in flight, including WebSockets with a message in hand.
    - `outbox`: bytes queued for a WebSocket whose client reads slowly, before it is disconnected.
    - `held`: received but unprocessed bytes, and unread responses, of all connections.
    """

    body: Annotated[
        Count, about("The size of the largest request or WebSocket message.", unit="bytes")
    ] = 1_000_000
    head: Annotated[int, about("", hidden=True)] = 65_536
    query: Annotated[int, about("", hidden=True)] = 8_192
    patience: Annotated[float, about("", hidden=True)] = 30.0
    requests: Annotated[int, about("", hidden=True)] = 2_000
    connections: Annotated[
        Count,
        about(
            "The greatest number of open connections; a few more may ask for "
            "`/health/live` and `/health/ready` only.",
            unit="connections",
        ),
    ] = 10_000
    address_connections: Annotated[
        Count | None,
        about(
            "The greatest number of open connections from one address; by default "
            "1,000, but at most a quarter of `connections`. There is no such limit for "
            "`trusted_proxies`, and for this machine while its callers are operators.",
            unit="connections",
        ),
    ] = None
    address_requests: Annotated[
        Count,
        about(
            "The greatest number of requests in flight from one address, without those of "
            "operators.",
            unit="requests",
        ),
    ] = 200
    outbox: Annotated[int, about("", hidden=True)] = 1_000_000
    held: Annotated[int, about("", hidden=True)] = 128_000_000
    keep_alive: Annotated[
        Count,
        about(
            "The time for which an idle connection stays open. It should be longer than "
            "in clients and proxies in front, since a request that crosses the closing "
            "of its connection is lost.",
            unit="seconds",
        ),
    ] = 75
    person: Annotated[VisitorQuotas, about("The rate limit of one person.")] = PERSON
    token: Annotated[VisitorQuotas, about("The rate limit of one key or token.")] = TOKEN
    address: Annotated[
        VisitorQuotas, about("The rate limit of one address, without the requests of operators.")
    ] = ADDRESS
    anonymous: Annotated[
        VisitorQuotas, about("The rate limit of all anonymous visitors together.")
    ] = ANONYMOUS
    wrong_keys: Annotated[
        Count,
        about(
            "The number of unknown keys and tokens from one address in a minute; beyond "
            "it the address is refused, unless it sends a secret that it used before.",
            unit="keys",
        ),
    ] = 10

    @property
    def connections_of_one(self) -> int:
        """The limit of open connections of an address."""
        usual = min(_OF_ONE, max(1, self.connections // 4))
        return self.address_connections or usual


class InFlight:
    """The number of requests in flight; `with in_flight:` adds 1."""

    def __init__(self) -> None:
        self.by_address: dict[str, int] = {}
        """HTTP requests in flight, by the name of the client's address."""
        self._count = 0
        self._none_left = asyncio.Event()

    def __len__(self) -> int:
        """Return the number of requests in work."""
        return self._count

    def __enter__(self) -> None:
        """Count one more."""
        self._count += 1

    def __exit__(self, *_: object) -> None:
        """Count one less."""
        self._count -= 1
        if not self._count:
            self._none_left.set()

    def begin(self, name: str) -> None:
        """Add 1 to the requests of an address."""
        self._count += 1
        self.by_address[name] = self.by_address.get(name, 0) + 1

    def end(self, name: str) -> None:
        """Count one less."""
        self.__exit__()
        left = self.by_address[name] - 1
        if left:
            self.by_address[name] = left
        else:
            del self.by_address[name]

    async def empty(self) -> None:
        """Wait until nothing is being answered."""
        while self._count:
            self._none_left.clear()
            await self._none_left.wait()
