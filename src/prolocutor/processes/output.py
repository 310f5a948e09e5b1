"""ProcessOutput: what a process prints goes to the log."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Final

log = logging.getLogger(__name__)

MAX_LINE: Final = 2000


class ProcessOutput:
    """Passes what a process prints to the log, line by line; `last` is the last line.

    The pipe is our own. With asyncio's a process counts as ended only when its output is closed,
    which processes that it leaves behind may hold open for long.
    """

    def __init__(self, name: str) -> None:
        self.last = ""
        self._name = name
        self._lines = asyncio.StreamReader()
        self._writing: int | None = None
        self._transport: asyncio.ReadTransport | None = None

    async def open(self) -> int:
        """Make the pipe and return the end to write to."""
        reading, self._writing = os.pipe()
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._lines), os.fdopen(reading, "rb", 0)
        )
        return self._writing

    def hand_over(self) -> None:
        """Close our copy of the end to write to, which the process has now."""
        if self._writing is not None:
            os.close(self._writing)
            self._writing = None

    async def read(self) -> None:
        """Pass on what is printed until the pipe ends."""
        while True:
            try:
                line = await self._lines.readline()
            except ValueError:
                line = b"(a line too long to show)"
            if not line:
                return
            text = line.decode(errors="replace").rstrip()[:MAX_LINE]
            log.info("%s: %s", self._name, text)
            self.last = text or self.last

    def close(self) -> None:
        """Stop reading; nothing more is passed on."""
        self.hand_over()
        if self._transport is not None:
            self._transport.close()
