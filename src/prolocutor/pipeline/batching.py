"""Many requests, one call: what waits for one service goes out together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from prolocutor.contracts.connector import Connector, Request
from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, NoPlace, ServiceError, ServiceRaised
from prolocutor.pipeline.calls import start_now

Waiting = tuple[Request, "asyncio.Future[Plain]"]

MAX_LOST: Final = 16
"""Calls of one service that were given up and go on; then no more are made."""


class Batcher:
    """A connector before a connector: gathers waiting requests into calls of `size`.

    One call is on its way at a time. A request that finds none goes out at the loop's next round,
    with all that came in the meantime; while a call is away the others gather. There is no fixed
    wait.
    """

    def __init__(self, connector: Connector, size: int) -> None:
        self._connector = connector
        self._size = size
        self._queue: deque[Waiting] = deque()
        self._sender: asyncio.Task[Any] | None = None
        self._lost: set[asyncio.Task[Any]] = set()

    async def send(self, requests: Sequence[Request]) -> Sequence[Plain | ServiceError]:
        """Wait for the reply to one request; cancelling takes it out of the queue."""
        (request,) = requests
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Plain] = loop.create_future()
        self._queue.append((request, reply))
        if self._sender is None:
            self._sender = start_now(self._send_all(), loop)
        return (await reply,)

    async def aclose(self) -> None:
        """Let go of the service."""
        await self._connector.aclose()

    async def _send_all(self) -> None:
        try:
            await asyncio.sleep(0)
            while batch := self._next():
                await self._send(batch)
        finally:
            self._sender = None

    def _next(self) -> list[Waiting]:
        batch: list[Waiting] = []
        while self._queue and len(batch) < self._size:
            waiting = self._queue.popleft()
            if not waiting[1].done():
                batch.append(waiting)
        return batch

    async def _send(self, batch: list[Waiting]) -> None:
        if len(self._lost) >= MAX_LOST:
            _settle(
                batch, [NoPlace(f"{MAX_LOST} calls that were given up never ended")] * len(batch)
            )
            return
        away = start_now(self._ask_for(batch), asyncio.get_running_loop())
        wanted = [reply for _, reply in batch]
        gone = asyncio.gather(*wanted, return_exceptions=True)
        await asyncio.wait((away, gone), return_when=asyncio.FIRST_COMPLETED)
        if not away.done():
            away.cancel()
            self._lost.add(away)
            away.add_done_callback(self._lost.discard)

    async def _ask_for(self, batch: list[Waiting]) -> None:
        error = await self._try(batch)
        if error is None:
            return
        if not error.answered or len(batch) == 1:
            _settle(batch, [error] * len(batch))
            return
        for waiting in batch:
            alone = await self._try([waiting])
            if alone is not None:
                _settle([waiting], [alone])

    async def _try(self, batch: list[Waiting]) -> ServiceError | None:
        """Send a batch and hand out its replies; give the error where all of it failed."""
        try:
            replies = await self._connector.send([request for request, _ in batch])
            if len(replies) != len(batch):
                return BadReply(f"{len(replies)} replies to {len(batch)} requests")
        except ServiceError as error:
            return error
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and not any(
                not reply.done() for _, reply in batch
            ):
                raise
            return ServiceRaised(f"{type(error).__name__}: {error}")
        _settle(batch, replies)
        return None


def _settle(batch: list[Waiting], replies: Sequence[Plain | ServiceError]) -> None:
    for (_, future), reply in zip(batch, replies, strict=True):
        if future.done():
            continue
        if isinstance(reply, ServiceError):
            future.set_exception(reply)
        else:
            future.set_result(reply)
