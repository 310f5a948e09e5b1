"""TcpProxy: a line to a server that can be cut, or held with all that is on it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

PIECE: Final = 65_536


class TcpProxy:
    """Forwards connections to `target`, a port of this machine.

    `hold` keeps what is sent and closes nothing, as a network that swallows packets; `cut` resets
    every connection and refuses new ones; `mend` lets everything pass again.
    """

    def __init__(self, target: int) -> None:
        self.port = 0
        self._target = target
        self._passes = asyncio.Event()
        self._passes.set()
        self._is_cut = False
        self._lines: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._forward, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def aclose(self) -> None:
        """Close everything."""
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()

    def hold(self) -> None:
        """Keep all that is sent from now on."""
        self._passes.clear()

    def cut(self) -> None:
        """Reset every connection and refuse new ones."""
        self._is_cut = True
        for line in list(self._lines):
            line.transport.abort()

    def mend(self) -> None:
        """Let everything pass again."""
        self._is_cut = False
        self._passes.set()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        await self._passes.wait()
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, back}
        self._lines |= ends
        pumps = {
            asyncio.ensure_future(self._pump(reader, back)),
            asyncio.ensure_future(self._pump(there, writer)),
        }
        self._tasks |= pumps
        await asyncio.wait(pumps)
        self._tasks -= pumps
        self._lines -= ends

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await source.read(PIECE):
                await self._passes.wait()
                sink.write(piece)
                await sink.drain()
        sink.transport.abort()
