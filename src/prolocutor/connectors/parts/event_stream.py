"""EventStream: cuts a server-sent stream into the data of its events.

Source: the WHATWG's HTML standard, 9.2. Of its fields only `data` matters here; an event of several
`data` lines is handed over line by line, which the servers that are asked do not send.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prolocutor.connectors.parts.http_answer import EVENT_STREAM
from prolocutor.errors import BadReply

MAX_STREAM_BYTES: Final = 16_000_000
MAX_STREAM_LINES: Final = 200_000


class EventStream:
    """A stream of events. `take` gets the data of each and returns whether that is enough. With
    `json_lines` a line of JSON (an object, a list) counts as the data of an event.

    `BadReply` for a stream without end: more than `max_bytes` bytes or `max_lines` lines, whatever
    is in them, blank ones too.
    """

    kinds: Final = frozenset({EVENT_STREAM})

    def __init__(
        self,
        take: Callable[[bytes], bool],
        *,
        max_bytes: int = MAX_STREAM_BYTES,
        max_lines: int = MAX_STREAM_LINES,
        json_lines: bool = False,
    ) -> None:
        self._take = take
        self._max_bytes = max_bytes
        self._max_lines = max_lines
        self._json_lines = json_lines
        self._bytes = 0
        self._lines = 0
        self._rest = bytearray()

    def feed(self, piece: bytes) -> bool:
        """Take a piece of the stream and return whether the events so far are enough."""
        self._bytes += len(piece)
        if self._bytes > self._max_bytes:
            raise BadReply(f"a stream of more than {self._max_bytes:,} bytes")
        *lines, rest = piece.split(b"\n")
        if lines and self._rest:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
        self._rest += rest
        self._lines += len(lines)
        if self._lines > self._max_lines:
            raise BadReply(f"a stream of more than {self._max_lines:,} lines")
        return any(self._is_enough(line) for line in lines)

    def end(self) -> bool:
        """Take what came after the last line break; return whether the events are enough now."""
        return self._is_enough(bytes(self._rest))

    def _is_enough(self, line: bytes) -> bool:
        if line.startswith(b"data:"):
            return self._take(line[5:].strip())
        return self._json_lines and line.startswith((b"{", b"[")) and self._take(line.strip())
