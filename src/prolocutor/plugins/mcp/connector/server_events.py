"""ServerEvents: splits a server-sent stream into events with their ids.

Source: the WHATWG's HTML standard, 9.2. `EventStream` is the simpler reader for streams whose
events are single data lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

from prolocutor.connectors.parts.event_stream import MAX_STREAM_BYTES, MAX_STREAM_LINES
from prolocutor.connectors.parts.http_answer import EVENT_STREAM
from prolocutor.errors import BadReply

_BREAK: Final = re.compile(rb"\r\n|\n|\r")


class ServerEvent(msgspec.Struct, frozen=True):
    """An event: its data lines, joined, and its type."""

    data: bytes
    event: str = "message"


class ServerEvents:
    """A stream of events (`BodyStream`).

    `take` gets each event and returns whether to stop. `last_id` is the id to resume after, None if
    the server gives no ids; `retry` is the pause before that in seconds. `BadReply` is raised for
    more than `max_bytes` bytes or an endless line.
    """

    kinds: Final = frozenset({EVENT_STREAM})

    def __init__(
        self, take: Callable[[ServerEvent], bool], *, max_bytes: int = MAX_STREAM_BYTES
    ) -> None:
        self.last_id: str | None = None
        self.retry: float | None = None
        self._take = take
        self._max_bytes = max_bytes
        self._bytes = self._lines = 0
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._event = ""

    def feed(self, piece: bytes) -> bool:
        """Read a piece of the stream; return whether to stop."""
        self._bytes += len(piece)
        if self._bytes > self._max_bytes:
            raise BadReply(f"a stream of more than {self._max_bytes:,} bytes")
        if b"\n" not in piece and b"\r" not in piece and not self._rest.endswith(b"\r"):
            self._rest.extend(piece)
            return False
        text = bytes(self._rest) + piece
        # A line that ends in a carriage return may go on with its line feed in the next piece.
        held = text.endswith(b"\r")
        *lines, rest = _BREAK.split(text[:-1] if held else text)
        self._rest = bytearray(rest)
        if held:
            self._rest += b"\r"
        self._lines += len(lines)
        if self._lines > MAX_STREAM_LINES:
            raise BadReply(f"a stream of more than {MAX_STREAM_LINES:,} lines")
        return any(self._read(line) for line in lines)

    def _read(self, line: bytes) -> bool:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._event = value.decode(errors="replace")
        elif field == b"id" and b"\0" not in value:
            self.last_id = value.decode(errors="replace")
        elif field == b"retry" and value.isdigit():
            self.retry = min(int(value[:9]) / 1000, 60.0)
        return False

    def _dispatch(self) -> bool:
        data, event = b"\n".join(self._data), self._event
        self._data, self._event = [], ""
        return bool(data) and self._take(ServerEvent(data, event or "message"))
