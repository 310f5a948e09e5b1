"""The types of ASGI, the interface between a server and an app, and the life of an app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from prolocutor.contracts.channel import Openable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


async def follow_lifespan(app: Openable, receive: Receive, send: Send) -> None:
    """Open and close an app by the lifespan messages of another ASGI server."""
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
