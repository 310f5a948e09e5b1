"""PacedReading: what servers send is read in small pieces, so that none holds the event loop."""

from __future__ import annotations

import asyncio
from typing import Final

READ: Final = 16 * 1024
"""Most bytes that a connection takes in one pass of the event loop.

A server may put thousands of chunks or frames into them, each of which costs some microseconds.
"""


class PacedReading(asyncio.BufferedProtocol):
    """To be inherited, after any `Protocol`: its `data_received` gets at most `READ` bytes at once,
    where asyncio reads 256 KiB for one without a buffer of its own.
    """

    __slots__ = ("_read",)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where the next bytes are put."""
        self._read = memoryview(bytearray(READ))
        return self._read

    def buffer_updated(self, nbytes: int) -> None:
        """Hand over the bytes that came."""
        self.data_received(bytes(self._read[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Take these bytes; the `Protocol` has it."""
        raise NotImplementedError
