"""A server whose every connection is a script, on a real socket."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Script = Callable[["Visit"], Awaitable[None]]


class ScriptedServer:
    """Where it listens, and how many connections came."""

    def __init__(self) -> None:
        self.url = ""
        self.port = 0
        self.visits = 0


class Visit:
    """One connection of a client: what it asks, and what it gets."""

    def __init__(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.number = number
        self._reader = reader
        self._writer = writer

    async def request(self) -> tuple[dict[str, str], bytes]:
        """Read one request; `EOFError` if there is none."""
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
        }
        return headers, await self._reader.readexactly(int(headers["content-length"]))

    async def head(self) -> None:
        """Read the head of a request and leave the body where it is."""
        await self._reader.readuntil(b"\r\n\r\n")

    async def say(self, *pieces: bytes) -> None:
        """Send pieces, each as a packet of its own as far as that can be had."""
        for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()

    def reset(self) -> None:
        """Close the connection so that the client sees a reset."""
        linger = struct.pack("ii", 1, 0)  # on, for 0 seconds
        self._writer.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, linger
        )
        self._writer.transport.abort()

    async def until_it_goes(self) -> None:
        """Wait until the client closes the connection."""
        while await self._reader.read(1 << 16):
            pass


@asynccontextmanager
async def scripted_server(
    script: Script,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[ScriptedServer]:
    """Run the script for each connection, and close the connection at its end."""
    server = ScriptedServer()
    visits: set[asyncio.Task[None]] = set()

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        visits.add(task)
        server.visits += 1
        try:
            await script(Visit(server.visits, reader, writer))
        except (EOFError, ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            visits.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    listener = await asyncio.start_server(visit, host, port, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    server.url = f"http{'s' if tls else ''}://{shown}:{server.port}/agent"
    try:
        yield server
    finally:
        listener.close()
        for task in visits:
            task.cancel()
        await asyncio.gather(*visits, return_exceptions=True)
        await listener.wait_closed()
