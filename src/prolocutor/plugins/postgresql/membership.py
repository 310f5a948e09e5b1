"""Membership: this store as a replica among the replicas of its database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from prolocutor.clocks import elapsed
from prolocutor.contracts.shared_store import DEFAULT_LEASE
from prolocutor.errors import StoreAway
from prolocutor.plugins.postgresql.database_line import Row
from prolocutor.plugins.postgresql.lanes import JobLane
from prolocutor.plugins.postgresql.statements import SQL

NAME: Final = "prolocutor {}"
"""The application name of a replica's connections, before the schema.

`inherit_turns` ends those of the dead by it."""


class Membership:
    """The number and lease of this replica, and its return after being declared dead.

    `lane` is the lane for hints and beats; its writes need not survive a crash of the database.
    `renamed` is called with the new name of the connections.
    """

    def __init__(
        self,
        lane: JobLane,
        *,
        forget: Callable[[], None],
        renamed: Callable[[str], None],
        cut_off: Callable[[float], None],
    ) -> None:
        self._lane = lane
        self._forget = forget
        self._renamed = renamed
        self._cut_off = cut_off
        self._joining = asyncio.Lock()
        self._url = ""
        self.number: int | None = None
        """Our number, None before the first join."""
        self.lease = DEFAULT_LEASE
        self.alone = True
        """Whether `join` was never called: then the caller keeps the order of its own turns."""
        self._until = 0.0
        self._clock_start = time.time() - elapsed()

    @property
    def lease_left(self) -> float:
        """Seconds until the lease runs out, by the monotonic clock."""
        return self._until - monotonic()

    @property
    def connected_at(self) -> float:
        """The time of the first connection to the server, by the monotonic clock."""
        return self._lane.since

    def clock(self) -> float:
        """Return the database's time, measured at the last beat and extrapolated since."""
        return self._clock_start + elapsed()

    async def require_number(self) -> int:
        """Return this replica's number; join first if need be."""
        if self.number is None:
            async with self._joining:
                if self.number is None:
                    await self._join()
        assert self.number is not None
        return self.number

    async def join(self, lease: float, url: str) -> int:
        """Become a replica, or change the lease of this replica."""
        self.lease, self._url, self.alone = lease, url, False
        if self.number is not None:
            await self.leave()
        return await self.rejoin()

    async def rejoin(self) -> int:
        """Become a replica under a new number."""
        async with self._joining:
            await self._join()
        assert self.number is not None
        return self.number

    async def beat(self) -> bool:
        """Prolong the lease; if this replica was declared dead, join again and return False."""
        number = await self.require_number()
        asked = monotonic()
        within = max(1.0, self.lease / 2)
        try:
            rows = await self.fetch("beat", number, self.lease, within=within)
        except StoreAway:
            self._cut_off(within)
            raise
        if rows[0][0] is None:
            await self.rejoin()
            return False
        self._until = asked + self.lease
        self._set_clock(rows[0][0])
        return True

    async def leave(self) -> None:
        """Let other replicas take over this replica's turns at once."""
        if self.number is not None:
            await self.fetch("leave", self.number, within=2.0)
            self.number = None

    async def fetch(self, name: str, *values: Any, within: float) -> list[Row]:
        """Run a statement on the line for hints and beats."""
        return await self._lane.fetch(SQL[name], *values, within=within)

    async def _join(self) -> None:
        asked = monotonic()
        rows = await self.fetch("join_replicas", self._url, self.lease, within=8.0)
        self._forget()
        self.number = int(rows[0][0])
        self._set_clock(rows[0][1])
        self._until = asked + self.lease
        self._renamed(NAME.format(self.number))

    def _set_clock(self, now: float) -> None:
        self._clock_start = now - elapsed()
