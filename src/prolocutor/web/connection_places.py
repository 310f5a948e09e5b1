"""ConnectionPlaces: how many connections a server has, from where, and what they keep in memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from prolocutor.web.client_address import client_name
from prolocutor.web.limits import ListenerLimits

SPARE: Final = 32
"""Connections beyond the limits that may ask for the health of the server, and nothing else."""


class ConnectionPlaces:
    """The places for the connections of one server.

    `shared`: whether many clients come from an address, such as a proxy's, which is not limited.
    `spare`: the connections without a place, the oldest first.
    """

    def __init__(
        self, limits: ListenerLimits, shared: Callable[[str], bool] = lambda _: False
    ) -> None:
        self.limits = limits
        self.spare: dict[Any, None] = {}
        self.held = 0
        """Bytes that came and are not taken up yet, or were sent and are not read."""
        self._shared = shared
        self._taken = 0
        self._taken_by: Counter[str] = Counter()
        self._held_by: Counter[str] = Counter()
        self._holding: dict[str, dict[asyncio.Transport, int]] = {}

    def take(self, address: str) -> bool:
        """Take a place for a connection of an address; return False where there is none."""
        if self._taken >= self.limits.connections:
            return False
        name = client_name(address)
        if self._taken_by[name] >= self.limits.address_connections and not self._shared(address):
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
        """Note the bytes that a connection keeps in memory.

        Where all keep too many, the connection is cut off that has kept some for longest, of the
        address that keeps most.
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
