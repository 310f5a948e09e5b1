"""StdioLines: the messages of a protocol over a pair of pipes, a message a line."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from typing import BinaryIO, Final

from prolocutor.background import BackgroundTasks

MAX_LINE: Final = 4_000_000


class StdioLines:
    """The lines from and to a client; sent lines are written in order."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()

    def send(self, line: bytes) -> None:
        """Write a line."""
        self._lines.put_nowait(line)

    async def serve(
        self,
        read: BinaryIO,
        write: BinaryIO,
        take: Callable[[bytes | None], None],
        finish: Callable[[], Awaitable[object]],
    ) -> None:
        """Pass lines to `take` until their end, then await `finish` and write the remaining lines.

        `take` gets None for a line that is too long.
        """
        incoming: asyncio.Queue[bytes | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def put(line: bytes | None) -> None:
            loop.call_soon_threadsafe(incoming.put_nowait, line)

        threading.Thread(target=_read_lines, args=(read, put), daemon=True).start()
        writing = BackgroundTasks("lines to a client").start(self._write(write), awaited=True)
        while (line := await incoming.get()) is not None:
            if line.strip():
                take(None if len(line) > MAX_LINE else line)
        await finish()
        self._lines.put_nowait(b"")
        await writing

    async def _write(self, write: BinaryIO) -> None:
        while line := await self._lines.get():
            await asyncio.to_thread(_write_line, write, line)


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Reserve standard input and output for messages; printed text goes to stderr from now on."""
    read, write = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return read, write


def _read_lines(read: BinaryIO, put: Callable[[bytes | None], None]) -> None:
    try:
        while line := read.readline(MAX_LINE + 1):
            put(line)
            while len(line) > MAX_LINE and not line.endswith(b"\n"):
                line = read.readline(MAX_LINE + 1)  # the rest of a line that is refused
    finally:
        put(None)


def _write_line(write: BinaryIO, line: bytes) -> None:
    try:
        write.write(line + b"\n")
        write.flush()
    except OSError:
        return  # the client is gone; the end of its input follows
