"""The life of an app, as the server or ASGI's lifespan messages say."""

from __future__ import annotations

from prolocutor.contracts.channel import Openable
from prolocutor.web.asgi import Receive, Send


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
