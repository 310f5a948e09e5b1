"""ConnectionFlow: how much is read from a connection, and written to it, at a time."""

from __future__ import annotations

import asyncio


class ConnectionFlow:
    """The transport of a connection with what holds it up: an app or a client that is behind."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.is_held = False
        """Whether the client is behind: wait for `writable` before the next `write`."""
        self.write = transport.write
        self._transport = transport
        self._is_paused = False
        self._writable = asyncio.Event()

    def pause_reading(self) -> None:
        """Read no more until `resume_reading`."""
        if not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()

    def hold(self) -> None:
        """Note that the client has too much to read."""
        self.is_held = True
        self._writable.clear()

    def release(self) -> None:
        """Note that the client has read enough, or has left."""
        self.is_held = False
        self._writable.set()

    async def writable(self) -> None:
        """Wait until the client has read enough, or has left."""
        await self._writable.wait()
