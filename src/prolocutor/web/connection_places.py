"""ConnectionPlaces: limits for a server's connections, by number, address and memory."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final

from prolocutor.web.client_address import client_name
from prolocutor.web.limits import ListenerLimits

SPARE_CONNECTIONS: Final = 32
"""Connections beyond the limits that may ask for the health of the server, and nothing else."""

MAX_BEGUN: Final = 16
"""Requests that are begun in one pass of the event loop."""

MAX_FOLLOWING: Final = 8
"""Further requests begun in one pass that had to wait behind a request of their own connection."""


class ConnectionPlaces:
    """The places for the connections of a server.

    `shared`: whether many clients share an address, such as a proxy's, and so has no limit.
    `spare`: the connections without a place, the oldest first.
    """

    def __init__(
        self, limits: ListenerLimits, shared: Callable[[str], bool] = lambda _: False
    ) -> None:
        self.limits = limits
        self.spare: dict[Any, None] = {}
        self.held = 0
        """Received bytes not processed yet, and sent bytes not read yet."""
        self._shared = shared
        self._of_one = limits.connections_of_one
        self._taken = 0
        self._taken_by: Counter[str] = Counter()
        self._held_by: Counter[str] = Counter()
        self._holding: dict[str, dict[asyncio.Transport, int]] = {}
        self.turns = RequestTurns()

    def take(self, address: str) -> bool:
        """Take a place for a connection of an address; return False if no place is free."""
        if self._taken >= self.limits.connections:
            return False
        name = client_name(address)
        if self._taken_by[name] >= self._of_one and not self._shared(address):
            return False
        self._taken += 1
        self._taken_by[name] += 1
        return True

    def leave(self, address: str) -> None:
        """Give a place back."""
        name = client_name(address)
        self._taken -= 1
        self._taken_by[name] -= 1
        if not self._taken_by[name]:
            del self._taken_by[name]

    def hold(self, transport: asyncio.Transport, address: str, size: int) -> None:
        """Note the size of a connection's data in memory, in bytes.

        If all connections together keep too many bytes, cut off a connection of the address with
        the most kept bytes: the connection with kept bytes for the longest time.
        """
        name = client_name(address)
        there = self._holding.setdefault(name, {})
        change = size - there.get(transport, 0)
        self.held += change
        self._held_by[name] += change
        if size:
            there[transport] = size
        else:
            there.pop(transport, None)
        if not there:
            del self._holding[name], self._held_by[name]
        while self.held > self.limits.held:
            self._cut_off()

    def _cut_off(self) -> None:
        most = max(self._held_by, key=self._held_by.__getitem__)
        transport = next(iter(self._holding[most]))
        self.hold(transport, most, 0)
        transport.abort()


class RequestTurns:
    """The order in which requests begin: a few in each pass of the event loop.

    So other connections are read, written and answered in between, however many requests come at
    once. A request after a wait behind another request of its connection yields to requests without
    such a wait.
    """

    def __init__(self) -> None:
        self._first: deque[Callable[[], None]] = deque()
        self._following: deque[Callable[[], None]] = deque()
        self._left = MAX_BEGUN
        self._is_due = False

    def take(self, begin: Callable[[], None], *, is_following: bool = False) -> None:
        """Begin a request in its turn, at once if only a few have begun in this pass."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._begin_some)
        if is_following:
            self._following.append(begin)
        elif self._left:
            self._left -= 1
            begin()
        else:
            self._first.append(begin)

    def _begin_some(self) -> None:
        first, following = self._first, self._following
        some = [first.popleft() for _ in range(min(MAX_BEGUN, len(first)))]
        self._left = MAX_BEGUN - len(some)
        some += [following.popleft() for _ in range(min(MAX_FOLLOWING, len(following)))]
        self._is_due = bool(some)
        if some:
            asyncio.get_running_loop().call_soon(self._begin_some)
        for begin in some:
            begin()
