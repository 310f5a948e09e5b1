"""Server-sent events are read as the standard says, however the stream is cut."""

import pytest

from prolocutor.connectors.parts.event_stream import EventStream
from prolocutor.errors import BadReply
from prolocutor.plugins.mcp.connector.http_peer import ServerEvent, ServerEvents

STREAM = (
    b": a comment\r\nid: 7\nretry: 250\ndata: one\r\n\r\nevent: ping\rdata:two\rdata: lines\r\r"
    b"data\n\nnothing: here\n\ndata: {\"last\": 1}\n\n"
)  # fmt: skip
EVENTS = [
    ServerEvent(b"one"),
    ServerEvent(b"two\nlines", "ping"),
    ServerEvent(b'{"last": 1}'),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_however_the_stream_is_cut(size: int) -> None:
    found: list[ServerEvent] = []
    stream = ServerEvents(lambda event: found.append(event) or False)  # type: ignore[func-returns-value]

    for at in range(0, len(STREAM), size):
        assert stream.feed(STREAM[at : at + size]) is False

    assert found == EVENTS
    assert stream.last_id == "7"
    assert stream.retry == 0.25


def test_a_stream_is_enough_when_its_taker_says_so() -> None:
    stream = ServerEvents(lambda event: event.event == "ping")

    assert stream.feed(STREAM) is True


@pytest.mark.parametrize("piece", [b"x" * 2000, b"\n" * 200_001])
def test_a_stream_without_end_is_refused(piece: bytes) -> None:
    stream = ServerEvents(lambda event: False, max_bytes=1000 if b"x" in piece else 10**6)

    with pytest.raises(BadReply):
        stream.feed(piece)


class Counted(bytes):
    """A piece of a stream that counts the bytes that are copied to put it behind others."""

    copied = 0

    def __radd__(self, before: bytes) -> bytes:
        Counted.copied += len(before)
        return bytes(before) + bytes(self)


@pytest.mark.parametrize("stream", [ServerEvents, EventStream])
def test_a_long_line_in_drops_is_not_copied_at_each_of_them(
    stream: type[ServerEvents] | type[EventStream],
) -> None:
    reading = stream(lambda event: False)
    Counted.copied = 0

    for _ in range(10_000):
        reading.feed(Counted(b"x" * 10))
    reading.feed(Counted(b"\n"))

    assert Counted.copied <= 100_000
