"""Answers are read within limits, whatever a server sends and however it is cut."""

import pytest

from prolocutor.connectors.parts.http_answer import (
    EVENT_STREAM,
    MAX_HEAD,
    MAX_INFORMATIONAL,
    HttpAnswerReader,
)
from prolocutor.errors import BadReply

MOST = 1000
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


class Pieces:
    """A stream that has enough once a full stop came."""

    kinds = frozenset({EVENT_STREAM})

    def __init__(self) -> None:
        self.body = b""

    def feed(self, piece: bytes) -> bool:
        if b"!" in piece:
            raise BadReply("no exclamation marks")
        self.body += piece
        return b"." in piece


def read(*pieces: bytes, stream: Pieces | None = None) -> HttpAnswerReader:
    reader = HttpAnswerReader()
    reader.begin(MOST, stream)
    for piece in pieces:
        if reader.is_done or reader.failure:
            break
        reader.feed(piece)
    return reader


def bytewise(answer: bytes) -> list[bytes]:
    return [answer[at : at + 1] for at in range(len(answer))]


HINTS = b"HTTP/1.1 103 Early Hints\r\nContent-Length: 7\r\n\r\n"
WHOLE = [
    (OK + b"Content-Length: 2\r\n\r\nhi", 200, b"hi", True),
    (OK + b"Content-Length: 0\r\n\r\n", 200, b"", True),
    (OK + CHUNKED + b"1\r\nh\r\n1;x=y\r\ni\r\n0\r\nT: 1\r\n\r\n", 200, b"hi", True),
    (OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", False),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", False),
    (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", True),
    (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
    (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, b"", True),
    (b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", 404, b"no", True),
    (HINTS + OK + b"Content-Length: 2\r\n\r\nhi", 200, b"hi", True),
    (b"HTTP/1.1 200\nContent-Length: 2\n\nhi", 200, b"hi", True),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "status", "body", "keeps_open"), WHOLE)
def test_a_whole_answer_is_read(answer: bytes, status: int, body: bytes, keeps_open: bool) -> None:
    for pieces in ([answer], bytewise(answer)):
        reader = read(*pieces)
        reply = reader.reply()

        assert reader.failure is None
        assert reader.has_ended
        assert reply.status == status
        assert reply.body == body
        assert reader.keeps_open == keeps_open


BAD = [
    (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "not HTTP"),
    (b"\x16\x03\x01\x02\x00", "not HTTP"),
    (b"HTTP/1.1 2xx OK\r\n\r\n", "not HTTP"),
    (OK + b"Content-Length: x\r\n\r\n", "not HTTP"),
    (OK + b"Content-Length: -1\r\n\r\n", "not HTTP"),
    (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "not HTTP"),
    (OK + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "not HTTP"),
    (OK + CHUNKED + b"xyz\r\n", "not HTTP"),
    (OK + CHUNKED + b"ffffffffffffffffff\r\n", "not HTTP"),
    (OK + b"Transfer-Encoding: gzip\r\n\r\n", "transfer encoding 'gzip', which is not understood"),
    (OK + b"Content-Encoding: br\r\n\r\n", "encoded as 'br', which was not asked for"),
    (OK + b"Content-Length: 1001\r\n\r\n", "1,001 bytes, more than the 1,000 allowed"),
    (OK + b"\r\n" + b"x" * 1001, "more than the 1,000 bytes allowed"),
    (OK + b"Content-Length: 99999999999999999999999\r\n\r\n", "not HTTP"),
    (b"HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "switches to another"),
    (b"HTTP/1.1 101 X\r\n\r\n", "switches to another protocol"),
    (OK + b"X: " + b"x" * MAX_HEAD, "a head of more than 65,536 bytes"),
    (OK + b"X: y\r\n" * MAX_HEAD, "a head of more than 65,536 bytes"),
    (b"HTTP/1.1 200 " + b"x" * 2 * MAX_HEAD, "a head of more than 65,536 bytes"),
    (b"\r\n" * MAX_HEAD, "a head of more than 65,536 bytes"),
    (b"HTTP/1.1 102 Wait\r\n\r\n" * 100_000, "more than 32 informational answers"),
    (b"HTTP/1.1 000 Nothing\r\n\r\n", "status 0, which is none of HTTP"),
    (b"HTTP/1.1 099 Little\r\nContent-Length: 2\r\n\r\nno", "status 99, which is none of HTTP"),
    (OK + CHUNKED + b"0\r\n" + b"T: x\r\n" * MAX_HEAD, "more than"),
    (OK + CHUNKED + b"1;" + b"x" * 10 * MAX_HEAD, "bytes with the framing"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "text"), BAD, ids=[f"{n}" for n in range(len(BAD))])
def test_what_cannot_be_taken_is_a_bad_reply(answer: bytes, text: str) -> None:
    reader = read(*(answer[at : at + 65536] for at in range(0, min(len(answer), 1 << 21), 65536)))

    assert isinstance(reader.failure, BadReply)
    assert text in str(reader.failure)


def test_as_many_informational_answers_as_allowed_are_passed_over() -> None:
    reader = read(b"HTTP/1.1 102 Wait\r\n\r\n" * MAX_INFORMATIONAL, WHOLE[0][0])

    assert reader.reply().body == b"hi"


@pytest.mark.parametrize("more", [b"x", b"HTTP/1.1 200 OK\r\n", WHOLE[0][0], WHOLE[3][0], b"\0"])
@pytest.mark.parametrize("answer", [WHOLE[0][0], WHOLE[2][0], WHOLE[3][0]])
def test_bytes_after_an_answer_do_not_change_it_and_close_the_connection(
    answer: bytes, more: bytes
) -> None:
    reader = read(answer + more)

    assert reader.failure is None
    assert reader.reply().body == b"hi"
    assert not reader.keeps_open


def test_answers_of_one_connection_do_not_mix() -> None:
    reader = read(
        b"HTTP/1.1 302 X\r\nLocation: /\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nhi"
    )
    first = reader.reply()
    reader.begin(MOST, None)
    reader.feed(b"HTTP/1.1 300 OK\r\nContent-Length: 2\r\n\r\nho")

    assert first.is_redirect
    assert reader.reply().body == b"ho"
    assert not reader.reply().is_redirect
    assert reader.seconds_kept(60) == 60


def test_an_answer_may_end_with_the_connection_only_where_nothing_else_ends_it() -> None:
    assert read(OK + b"\r\nhi").ends_with_connection
    assert not read(OK + b"Content-Length: 3\r\n\r\nhi").ends_with_connection
    assert not read(OK + CHUNKED).ends_with_connection
    assert not read(OK).ends_with_connection


def test_of_an_answer_with_an_error_status_little_is_read() -> None:
    reader = read(b"HTTP/1.1 500 X\r\nContent-Length: 100000\r\n\r\n" + b"x" * 8_001)

    assert reader.is_done
    assert reader.is_refusal
    assert not reader.has_ended


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("timeout=5", 4.0),
        ("timeout=1, max=100", 0.5),
        ("max=5, Timeout = 30", 29.0),
        ("timeout=0", 0.0),
        ('timeout="5"', 4.0),
        ("timeout=999999999", 60.0),
        ("timeout=-1", 60.0),
        ("max=5", 60.0),
        ("", 60.0),
    ],
)
def test_a_connection_is_kept_as_long_as_the_server_says(value: str, seconds: float) -> None:
    reader = read(OK + f"Keep-Alive: {value}\r\nContent-Length: 0\r\n\r\n".encode())

    assert reader.seconds_kept(60) == seconds


STREAM = (
    OK + b"Content-Type: Text/Event-Stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def test_an_event_stream_goes_to_the_stream_until_that_has_enough() -> None:
    stream = Pieces()
    reader = read(STREAM + b"2\r\nhi\r\n", b"1\r\n.\r\n", b"4\r\nmore\r\n", stream=stream)

    assert stream.body == b"hi."
    assert reader.is_done
    assert not reader.has_ended
    assert reader.reply().is_streamed
    assert reader.reply().body == b""


def test_a_stream_that_raises_ends_the_answer() -> None:
    reader = read(STREAM + b"1\r\n!\r\n", stream=Pieces())

    assert "no exclamation marks" in str(reader.failure)


def test_an_answer_without_events_does_not_go_to_the_stream() -> None:
    stream = Pieces()
    reader = read(OK + b"Content-Type: text/plain\r\nContent-Length: 1\r\n\r\n.", stream=stream)

    assert reader.reply().body == b"."
    assert stream.body == b""
