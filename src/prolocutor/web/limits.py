"""The limits of the listener."""

from __future__ import annotations

import msgspec

from prolocutor.bounds import Count
from prolocutor.web.quotas import ADDRESS, ANONYMOUS, PERSON, TOKEN, VisitorQuotas


class ListenerLimits(msgspec.Struct, frozen=True):
    """The limits of the listener, in bytes, seconds and numbers.

    `body`: one request or one message of a WebSocket; `head`: request line and headers; `query`:
    the part of the address after `?`; `patience`: how long a head or a body may take to arrive;
    `requests`: in flight, WebSockets with a message in hand included; `connections`: open ones;
    `outbox`: queued for a WebSocket whose client reads slowly, before it is disconnected.
    `keep_alive`: whole seconds for which a line without a request stays open: longer than clients
    keep theirs, as one that is closed under a client costs it the request that it just sent.
    `person`, `token`, `address` and `anonymous` bound what one of each, or all anonymous visitors
    together, ask for. `wrong_keys`: unknown keys and tokens from one address in a minute.
    """

    body: Count = 1_000_000
    head: int = 65_536
    query: int = 8_192
    patience: float = 30.0
    requests: int = 2_000
    connections: Count = 10_000
    outbox: int = 1_000_000
    keep_alive: Count = 75
    person: VisitorQuotas = PERSON
    token: VisitorQuotas = TOKEN
    address: VisitorQuotas = ADDRESS
    anonymous: VisitorQuotas = ANONYMOUS
    wrong_keys: Count = 10
