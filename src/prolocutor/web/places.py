"""Places: how much is being answered now."""

from __future__ import annotations

import asyncio


class Places:
    """Counts what is being answered; whoever stops can wait until nothing is.

    `with places:` takes a place for a while.
    """

    def __init__(self) -> None:
        self._taken = 0
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        """The number of places taken."""
        return self._taken

    def __enter__(self) -> None:
        """Take a place."""
        self._taken += 1

    def __exit__(self, *_: object) -> None:
        """Return it back."""
        self._taken -= 1
        if not self._taken:
            self._changed.set()

    async def empty(self) -> None:
        """Wait until no place is taken."""
        while self._taken:
            self._changed.clear()
            await self._changed.wait()
