"""Cursors are opaque, and those of other lists are refused."""

import msgspec
import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.console.paging import CursorCodec


class AfterRow(msgspec.Struct):
    at: float
    number: int


def test_a_cursor_is_read_as_it_was_written() -> None:
    codec = CursorCodec(AfterRow)
    written = codec.write(AfterRow(1.5, 2**62))
    assert written is not None
    assert written.replace("-", "").replace("_", "").isalnum()
    assert codec.read(written) == AfterRow(1.5, 2**62)
    assert codec.write(None) is codec.read(None) is None


@pytest.mark.parametrize("wrong", ["x", "%%", "é", "AAAA", "", "gqJhdMs_8", "a" * 1999, "\0"])
def test_a_text_that_is_no_cursor_is_refused(wrong: str) -> None:
    with pytest.raises(BadInput) as caught:
        CursorCodec(AfterRow).read(wrong)
    assert caught.value.field == "cursor"
