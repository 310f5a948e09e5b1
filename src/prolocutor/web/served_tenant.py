"""ServedTenant: one tenant's app, started, kept and started again without the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Final

from prolocutor.errors import ProlocutorError
from prolocutor.tenancy import TENANT, Tenant
from prolocutor.web.asgi import Receive, Scope, Send
from prolocutor.web.listener import Listener

log = logging.getLogger(__name__)

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds between two starts of a tenant that fails: the pause is doubled up to the longest."""

GRACE: Final = 10.0
"""Seconds for the requests in flight of a tenant that is ended while the others go on."""

MakeApp = Callable[[asyncio.Event], AbstractAsyncContextManager[Listener]]
"""Makes the app of a tenant, not yet opened; the event is set when its store is lost for good."""


class ServedTenant:
    """One tenant of a server. A start that fails is tried again; nobody else waits for it.

    `make` is called in the tenant's own task, where `TENANT` is set. `hosts` are the names of
    hosts by which the tenant is addressed, in lower case.
    """

    def __init__(self, tenant: Tenant, hosts: Sequence[str], make: MakeApp) -> None:
        self.tenant = tenant
        self.name = tenant.name
        self.hosts = hosts
        self.app: Listener | None = None
        """Its app while it is served."""
        self.fault: str | None = None
        """Why it could not be started the last time."""
        self.tried = asyncio.Event()
        """Set when its first start has succeeded or failed."""
        self._make = make
        self._addresses: Collection[str] = ()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self, addresses: Collection[str]) -> None:
        """Start it in the background; `addresses` are those that the server listens on."""
        self._addresses = addresses
        self._task = asyncio.create_task(self._run(), name=f"tenant {self.name}")

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or serve a WebSocket, by its app, which has to be there."""
        assert self.app is not None
        token = TENANT.set(self.tenant)
        try:
            await self.app(scope, receive, send)
        finally:
            TENANT.reset(token)

    async def drain(self) -> None:
        """Take no new requests, and wait until all that were taken are answered."""
        if self.app is not None:
            await self.app.drain()

    async def aclose(self) -> None:
        """End it for good."""
        self._stop.set()
        if self._task is None:
            return
        if self.app is None:  # it starts, or waits to be started again
            self._task.cancel()
        await asyncio.wait({self._task})
        self.tenant.forget()

    async def is_ready(self) -> bool:
        """Return whether its turns are taken and can be stored."""
        return self.app is not None and await self.app.is_ready()

    async def _run(self) -> None:
        TENANT.set(self.tenant)
        pause = FIRST_PAUSE
        while not self._stop.is_set():
            try:
                await self._serve()
                pause = FIRST_PAUSE
            except Exception as error:
                self._note(error)
            self.tried.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stop.wait()
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _serve(self) -> None:
        """Serve until it is time to stop, or the store is lost."""
        lost = asyncio.Event()
        async with self._make(lost) as app:
            app.check_may_listen(self._addresses)
            await app.open()
            self.app, self.fault = app, None
            self.tried.set()
            log.info("the tenant %s is served", self.name)
            try:
                await _first_of(self._stop, lost)
                if lost.is_set():
                    self.app, self.fault = None, "another process has taken its store"
                    log.error("the tenant %s is ended: %s", self.name, self.fault)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(GRACE):
                            await app.drain()
            finally:
                await app.close()
                self.app = None

    def _note(self, error: Exception) -> None:
        expected = isinstance(error, ProlocutorError)
        fault = (
            "; ".join(str(error).splitlines()) if expected else f"{type(error).__name__}: {error}"
        )
        if fault != self.fault:
            log.error("the tenant %s cannot be served: %s", self.name, fault, exc_info=not expected)
        self.fault = fault


async def _first_of(*events: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()
