"""How much is taken from visitors."""

from __future__ import annotations

import msgspec

from prolocutor.bounds import Count


class ListenerLimits(msgspec.Struct, frozen=True):
    """How much is taken from visitors, in bytes, seconds and numbers.

    `body` of one request or one message of a socket; `head`: request line and headers; `query`:
    the part of the address after `?`; `patience`: how long a head or a body may take to come;
    `requests`: answered at once, sockets busy with a message included; `connections`: open at
    once; `outbox`: what waits for a slow reader of a socket before it is dropped.
    """

    body: Count = 1_000_000
    head: int = 65_536
    query: int = 8_192
    patience: float = 30.0
    requests: int = 2_000
    connections: Count = 10_000
    outbox: int = 1_000_000
