"""A server-sent stream is cut into the data of its events, and ends some time."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prolocutor.connectors.parts.event_stream import EventStream
from prolocutor.errors import BadReply

STREAM = (
    b": hello\nevent: x\ndata: one\n\ndata:two\r\n\r\n"
    b"id: 3\ndata:  three \n\nretry: 1\n\ndata: four"
)


class Taken:
    def __init__(self, last: bytes = b"") -> None:
        self.data: list[bytes] = []
        self._last = last

    def take(self, data: bytes) -> bool:
        self.data.append(data)
        return data == self._last


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_however_a_stream_is_cut_its_events_are_the_same(cuts: list[int]) -> None:
    taken = Taken()
    stream = EventStream(taken.take)
    places = sorted({0, *cuts, len(STREAM)})
    for start, end in pairwise(places):
        assert not stream.feed(STREAM[start:end])

    assert taken.data == [b"one", b"two", b"three"]
    stream.end()
    assert taken.data[3:] == [b"four"]


def test_nothing_is_taken_after_enough() -> None:
    taken = Taken(b"[DONE]")

    assert EventStream(taken.take).feed(b"data: 1\ndata: [DONE]\ndata: 2\n")
    assert taken.data == [b"1", b"[DONE]"]


@pytest.mark.parametrize("piece", [b"\n", b"\r\n", b":\n", b"data: x\n", b"x\n"])
def test_a_stream_without_end_is_given_up_by_its_lines(piece: bytes) -> None:
    stream = EventStream(Taken().take, max_lines=1000)

    stream.feed(piece * 1000)
    with pytest.raises(BadReply, match="more than 1,000 lines"):
        stream.feed(piece)


def test_a_stream_without_end_is_given_up_by_its_bytes() -> None:
    stream = EventStream(Taken().take, max_bytes=1000)

    stream.feed(b"data: " + b"x" * 994)
    with pytest.raises(BadReply, match="more than 1,000 bytes"):
        stream.feed(b"x")
