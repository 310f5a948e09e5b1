"""FeedFollower: the rows of a person's feed, for as long as a client listens."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from prolocutor.contracts.store import FeedRow, FeedStore
from prolocutor.errors import PersonMoved, StoreError

log = logging.getLogger(__name__)

PAGE: Final = 100
RETRY: Final = 1.0
"""Seconds after which a feed that could not be read is read again."""


class FeedFollower:
    """Hands each new row of a person's feed to `take` once, page by page; `after` is the last."""

    def __init__(
        self,
        store: FeedStore,
        user: str,
        take: Callable[[list[FeedRow]], Awaitable[None]],
        after: int = 0,
    ) -> None:
        self.after = after
        self._store = store
        self._user = user
        self._take = take
        self._reading = asyncio.Lock()

    async def follow(self, news: asyncio.Event) -> None:
        """Hand over what is new whenever there is `news`, without end; raise `PersonMoved`."""
        while True:
            await news.wait()
            try:
                await self.catch_up(news)
            except PersonMoved:
                raise
            except StoreError as error:
                log.error("a person's feed cannot be read: %s", error)
                await asyncio.sleep(RETRY)

    async def catch_up(self, news: asyncio.Event) -> None:
        """Hand over what is new now; others may do so too, the order stays. Raise `StoreError`."""
        async with self._reading:
            while news.is_set():
                news.clear()
                try:
                    await self._read_on()
                except StoreError:
                    news.set()
                    raise

    async def _read_on(self) -> None:
        rows = await self._store.feed(self._user, self.after, PAGE)
        if not rows and await self._store.feed_end(self._user) < self.after:
            self.after = 0  # the person was deleted; their feed starts anew
            rows = await self._store.feed(self._user, 0, PAGE)
        while rows:
            await self._take(rows)
            self.after = rows[-1].n
            full = len(rows) == PAGE
            rows = await self._store.feed(self._user, self.after, PAGE) if full else []
