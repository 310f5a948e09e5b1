"""The number of requests in flight, and waiting until there are none."""

from __future__ import annotations

import asyncio


class InFlight:
    """A count of the requests that are being answered; `with in_flight:` counts one."""

    def __init__(self) -> None:
        self._count = 0
        self._none_left = asyncio.Event()

    def __len__(self) -> int:
        """Return the number of requests that are being answered."""
        return self._count

    def __enter__(self) -> None:
        """Count one more."""
        self._count += 1

    def __exit__(self, *_: object) -> None:
        """Count one less."""
        self._count -= 1
        if not self._count:
            self._none_left.set()

    async def empty(self) -> None:
        """Wait until nothing is being answered."""
        while self._count:
            self._none_left.clear()
            await self._none_left.wait()
