"""The life of an app, as the server or ASGI's lifespan messages say."""

from __future__ import annotations

from typing import Protocol

from prolocutor.web.asgi import Receive, Send


class Openable(Protocol):
    """What is opened before the first request and closed after the last one."""

    async def open(self) -> None:
        """Get ready for the first request."""

    async def close(self) -> None:
        """Release all resources; there are no more requests."""


async def follow_lifespan(app: Openable, receive: Receive, send: Send) -> None:
    """Open and close an app as another ASGI server says."""
    await receive()
    try:
        await app.open()
    except Exception as error:
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        raise
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await app.close()
    await send({"type": "lifespan.shutdown.complete"})
