"""StreamedReply: a reply that comes as events or lines of JSON, its words first."""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.connectors.parts.event_stream import EventStream
from prolocutor.connectors.parts.http_answer import EVENT_STREAM
from prolocutor.contracts.connector import DeltaSink
from prolocutor.dialog.generated_words import CONFIDENCE, with_words
from prolocutor.dialog.plain import MAX_BYTES, Plain, check, parse
from prolocutor.errors import BadReply, ServiceUnreachable

ACCEPT: Final = "application/json, text/event-stream, application/x-ndjson"


class _Words(msgspec.Struct, forbid_unknown_fields=True):
    """The next words of a reply, and how sure the service is of it."""

    delta: str
    confidence: float | None = None


_read_words: Final = msgspec.json.Decoder(_Words).decode


class StreamedReply:
    """The body of a streamed answer: `{"delta": TEXT, "confidence"?: NUMBER}` again and again, then
    the stage's reply, which ends it. A single hypothesis without text gets the words as its text.
    `[DONE]` ends it too: the words are then a hypothesis, of the confidence that came last.

    Each is the data of an event, or a line. `deltas` takes the words, where there is a listener.
    """

    __slots__ = ("_confidence", "_deltas", "_events", "_left", "_pieces", "_reply")

    kinds: Final = frozenset({EVENT_STREAM, b"application/x-ndjson", b"application/jsonl"})

    def __init__(self, deltas: DeltaSink | None) -> None:
        self._deltas = deltas
        self._events: EventStream | None = None
        self._pieces: list[str] = []
        self._left = MAX_BYTES
        self._confidence = CONFIDENCE
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
            whole = with_words(reply.value, "".join(self._pieces))
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
