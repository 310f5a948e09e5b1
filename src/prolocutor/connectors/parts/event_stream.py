"""Streamed answers: server-sent events, lines of JSON, and a reply word by word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from prolocutor.connectors.parts.http_answer import EVENT_STREAM
from prolocutor.contracts.connector import DeltaSink
from prolocutor.dialog.generated_words import DEFAULT_CONFIDENCE, add_words
from prolocutor.dialog.plain import MAX_BYTES, Plain, check, parse
from prolocutor.errors import BadReply, ServiceUnreachable

MAX_STREAM_BYTES: Final = 16_000_000
MAX_STREAM_LINES: Final = 200_000

ACCEPT: Final = "application/json, text/event-stream, application/x-ndjson"


class EventStream:
    """A stream of events. `take` gets the data of each event and returns whether it is enough. With
    `json_lines` a line of JSON (an object, a list) counts as the data of an event.

    Raise `BadReply` for an endless stream: more than `max_bytes` bytes or `max_lines` lines, blank
    lines included.
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
        """Take the rest after the last line break; return whether the events are enough now."""
        return self._is_enough(bytes(self._rest))

    def _is_enough(self, line: bytes) -> bool:
        if line.startswith(b"data:"):
            return self._take(line[5:].strip())
        return self._json_lines and line.startswith((b"{", b"[")) and self._take(line.strip())


class _StreamedWords(msgspec.Struct, forbid_unknown_fields=True):
    """The next words of a reply, and how sure the service is of it."""

    delta: str
    confidence: float | None = None


_read_words: Final = msgspec.json.Decoder(_StreamedWords).decode


class StreamedReply:
    """The body of a streamed answer: `{"delta": TEXT, "confidence"?: NUMBER}` again and again, then
    the stage's reply, which ends it. A single hypothesis without text gets the words as its text.
    `[DONE]` ends it too: the words are then a hypothesis, of the last confidence.

    Each is the data of an event, or a line. `deltas` takes the words, where there is a listener.
    """

    __slots__ = ("_confidence", "_deltas", "_events", "_left", "_pieces", "_reply")

    kinds: Final = frozenset({EVENT_STREAM, b"application/x-ndjson", b"application/jsonl"})

    def __init__(self, deltas: DeltaSink | None) -> None:
        self._deltas = deltas
        self._events: EventStream | None = None
        self._pieces: list[str] = []
        self._left = MAX_BYTES
        self._confidence = DEFAULT_CONFIDENCE
        self._reply: Plain | None = None

    def feed(self, piece: bytes) -> bool:
        """Take a piece of the body and return whether the reply is there."""
        if self._events is None:
            self._events = EventStream(self.take, json_lines=True)
        return self._events.feed(piece)

    def whole(self) -> Plain:
        """Return the reply; `ServiceUnreachable` if the stream broke off before it."""
        if self._reply is None and self._events is not None:
            self._events.end()
        if self._reply is None:
            raise ServiceUnreachable("the stream broke off before the reply")
        return self._reply

    def take(self, data: bytes) -> bool:
        """Take words, or the reply, and return whether the reply is there."""
        if not data:
            return False
        if data == b"[DONE]":
            text = "".join(self._pieces)
            self._reply = check([{"text": text, "confidence": self._confidence}] if text else [])
            return True
        try:
            words = _read_words(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            reply = parse(data)
            whole = add_words(reply.value, "".join(self._pieces))
            self._reply = reply if whole is reply.value else check(whole)
            return True
        self._left -= len(data)
        if self._left < 0:
            raise BadReply(f"more than the {MAX_BYTES:,} bytes allowed")
        if words.confidence is not None:
            self._confidence = words.confidence
        self._pieces.append(words.delta)
        if self._deltas is not None:
            self._deltas.add(words.delta, words.confidence)
        return False
