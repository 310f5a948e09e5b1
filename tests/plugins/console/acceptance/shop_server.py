"""A shop's assistant behind its real doors, in a thread of its own, before a browser."""

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Self, TypeVar

from prolocutor.web.authentication import AccessPolicy
from tests.integration.doors.shop import Shop, a_shop

T = TypeVar("T")

PATIENCE = 180.0


class ShopServer:
    """The shop, open until the block ends."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self._folder, self._options = folder, options
        self._ready: queue.Queue[BaseException | None] = queue.Queue()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        error = self._ready.get(timeout=PATIENCE)
        if error is not None:
            raise error
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    def begin(self, work: Callable[[Shop], Awaitable[T]]) -> Callable[[], T]:
        """Begin some work in the loop of the shop; what is returned waits for its end."""

        async def run() -> T:
            return await work(self._shop)

        future = asyncio.run_coroutine_threadsafe(run(), self._loop)
        return lambda: future.result(PATIENCE)

    def do(self, work: Callable[[Shop], Awaitable[T]]) -> T:
        """Do some work in the loop of the shop."""
        return self.begin(work)()

    def asked(self, text: str, user: str, rating: int | None = None) -> str:
        """Have a person ask something, and perhaps rate the reply; return the reply.

        What operators see of it is written.
        """

        async def asked(shop: Shop) -> str:
            reply = await shop.asked(text, user, rating)
            await shop.settle()
            return reply

        return self.do(asked)

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            self._ready.put(error)

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with a_shop(self._folder, access=AccessPolicy(), **self._options) as shop:
            self._shop, self.url = shop, shop.url
            self._ready.put(None)
            await self._stop.wait()
