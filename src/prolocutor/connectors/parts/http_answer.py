"""HttpAnswerReader: reads the answers of a connection in order, within limits.

The parser is httptools' (llhttp); its callbacks put the answer together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NoReturn, Protocol

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from prolocutor.errors import BadReply

MAX_HEAD: Final = 64 * 1024
"""The largest size in bytes of all heads of one exchange: status lines, headers, trailers."""

MAX_INFORMATIONAL: Final = 32
"""Most answers of status 1xx before the answer proper."""

MAX_REFUSAL: Final = 8_000
"""Bytes that are read of the body of an answer with an error status."""

MAX_STREAMED: Final = 256 * 1024 * 1024
"""Most bytes of an answer that goes to a stream, with its framing; the stream has its own limit."""

MAX_EXCERPT: Final = 200
"""Characters of an answer that are quoted in an error."""

EVENT_STREAM: Final = b"text/event-stream"
_TIMEOUT: Final = re.compile(rb"\btimeout\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_READ: Final = frozenset(
    {
        b"content-length",
        b"content-type",
        b"content-encoding",
        b"transfer-encoding",
        b"location",
        b"keep-alive",
        b"etag",
        b"mcp-session-id",
        b"www-authenticate",
    }
)


class BodyStream(Protocol):
    """Takes the body of an answer of these `kinds`, piece by piece."""

    @property
    def kinds(self) -> frozenset[bytes]:
        """The media types of accepted bodies."""

    def feed(self, piece: bytes) -> bool:
        """Feed a piece and return whether it is enough; an exception ends the exchange."""


class HttpReply(msgspec.Struct, frozen=True):
    """An answer: the body, cut after `MAX_REFUSAL` bytes for statuses other than 2xx.
    `is_streamed`: the body went to the stream instead. `is_redirect`: it names another address.
    `headers` are the relevant headers, by their lower-case names.
    """

    status: int
    body: bytes
    is_streamed: bool = False
    is_redirect: bool = False
    headers: Mapping[bytes, bytes] = {}


class HttpAnswerReader:
    """Reads the answers of a connection: `begin`, `feed` until `is_done` or `failure`, `reply`.

    `has_head`: the head of the answer is there. `has_ended`: the answer came to its own end.
    `keeps_open`: the server keeps the connection open, and no bytes followed the answer. `failure`:
    the reason for refusing the answer.
    """

    __slots__ = (
        "_body",
        "_has_enough",
        "_head_size",
        "_headers",
        "_informational",
        "_is_delimited",
        "_is_streamed",
        "_max_body",
        "_max_received",
        "_parser",
        "_received",
        "_status",
        "_stream",
        "failure",
        "has_ended",
        "has_head",
        "keeps_open",
    )

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        # As lenient as aiohttp's client: the URL was chosen by the user.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        self._headers: dict[bytes, bytes] = {}
        self._body: bytes | bytearray = b""
        self._stream: BodyStream | None = None
        self.failure: Exception | None = None
        self._status = self._received = self._head_size = self._informational = 0
        self._max_body = self._max_received = 0
        self._has_enough = self._is_delimited = self._is_streamed = False
        self.has_head = self.has_ended = self.keeps_open = False

    def begin(self, max_body: int, stream: BodyStream | None) -> None:
        """Get ready for the next answer; `max_body` is left to the stream where it is used."""
        self._headers = {}
        self._body = b""
        self._stream = stream
        self.failure = None
        self._status = self._received = self._head_size = self._informational = 0
        self._max_body = max_body
        self._max_received = MAX_HEAD + 8 * max_body  # a chunk of one byte takes six bytes
        self._has_enough = self._is_delimited = self._is_streamed = False
        self.has_head = self.has_ended = self.keeps_open = False

    def feed(self, data: bytes) -> None:
        """Parse received bytes."""
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:  # also where a callback raised
            self.keeps_open = False
            if self.failure is None and not self.has_ended:
                self.failure = BadReply(f"not HTTP: {str(error)[:MAX_EXCERPT]}")
        if self.failure is None and not self.is_done:
            if not self.has_head and self._received > MAX_HEAD:
                self.failure = BadReply(f"a head of more than {MAX_HEAD:,} bytes")
            elif self._received > self._max_received:
                self.failure = BadReply(f"more than {self._max_received:,} bytes with the framing")

    @property
    def is_done(self) -> bool:
        """Whether the answer is there, or as much of it as is wanted."""
        return self.has_ended or self._has_enough

    @property
    def has_begun(self) -> bool:
        """Whether anything of an answer came."""
        return self._received > 0

    @property
    def is_refusal(self) -> bool:
        """Whether the status is an error's."""
        return self.has_head and self._status // 100 != 2

    @property
    def ends_with_connection(self) -> bool:
        """Whether the end of the connection is the end of the answer."""
        return self.has_head and not self._is_delimited

    def reply(self) -> HttpReply:
        """Return the answer."""
        body = self._body if isinstance(self._body, bytes) else bytes(self._body)
        return HttpReply(self._status, body, self._is_streamed, self._is_redirect(), self._headers)

    def seconds_kept(self, most: float) -> float:
        """Return how long the server keeps the connection, less some time for the way to it."""
        match = _TIMEOUT.search(self._headers.get(b"keep-alive", b""))
        if match is None:
            return most
        seconds = float(match[1])
        return min(max(seconds - 1.0, seconds / 2), most)

    # -- callbacks of the parser -------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Stop at a second answer."""
        if self.has_ended:
            raise _StopParsing

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header, and keep it if it is relevant."""
        self._head_size += len(name) + len(value)
        if self._head_size > MAX_HEAD:
            self._give_up(f"a head of more than {MAX_HEAD:,} bytes")
        key = name.lower()
        if key in _READ and not self.has_head:
            self._headers[key] = value.rstrip(b" \t")  # RFC 9110, 5.5

    def on_headers_complete(self) -> None:
        """Decide by the head how the answer is read."""
        status = self._status = self._parser.get_status_code()
        if status < 200:
            self._skip_informational()
            return
        self.has_head = True
        self.keeps_open = self._parser.should_keep_alive()
        length = self._headers.get(b"content-length")
        coding = self._headers.get(b"transfer-encoding")
        self._is_delimited = length is not None or coding is not None
        if status // 100 != 2:
            self._max_body = MAX_REFUSAL
            self._has_enough = self._is_redirect()
            return
        self._check_encoding(coding)
        if self._stream is not None:
            kind = self._headers.get(b"content-type", b"").partition(b";")[0]
            if kind.strip().lower() in self._stream.kinds:
                self._is_streamed = True
                self._max_received = MAX_STREAMED
                return
        if length is not None and int(length) > self._max_body:
            self._give_up(f"{int(length):,} bytes, more than the {self._max_body:,} allowed")

    def on_body(self, piece: bytes) -> None:
        """Add a piece of the body, or hand it to the stream."""
        if self._has_enough:
            return
        if self._is_streamed and self._stream is not None:
            try:
                self._has_enough = self._stream.feed(piece)
            except Exception as error:
                self.failure = error
                raise
            return
        if isinstance(self._body, bytearray):
            self._body += piece
        elif self._body:
            self._body = bytearray(self._body)
            self._body += piece
        else:
            self._body = piece
        if len(self._body) > self._max_body:
            if self._status // 100 == 2:
                self._give_up(f"more than the {self._max_body:,} bytes allowed")
            self._has_enough = True

    def on_message_complete(self) -> None:
        """Note the end of the answer; a status 1xx is followed by another answer."""
        if self._status < 200:
            self._headers = {}
        else:
            self.has_ended = True

    def _skip_informational(self) -> None:
        self._informational += 1
        if self._status < 100:
            self._give_up(f"status {self._status}, which is none of HTTP")
        if self._status == 101:
            self._give_up("the server switches to another protocol")
        if self._informational > MAX_INFORMATIONAL:
            self._give_up(f"more than {MAX_INFORMATIONAL} informational answers")

    def _check_encoding(self, coding: bytes | None) -> None:
        if coding is not None and coding.strip().lower() != b"chunked":
            self._give_up(f"transfer encoding {_excerpt(coding)}, which is not understood")
        encoding = self._headers.get(b"content-encoding", b"").strip()
        if encoding and encoding.lower() != b"identity":
            self._give_up(f"encoded as {_excerpt(encoding)}, which was not asked for")

    def _is_redirect(self) -> bool:
        return self._status // 100 == 3 and b"location" in self._headers

    def _give_up(self, what: str) -> NoReturn:
        self.failure = BadReply(what)
        raise self.failure


class _StopParsing(Exception):
    """Bytes after an answer are not parsed."""


def _excerpt(value: bytes) -> str:
    return repr(value.decode("latin-1")[:MAX_EXCERPT])
