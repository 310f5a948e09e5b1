"""Bodies read under limits, without any server."""

from typing import Any

import pytest

from prolocutor.errors import BadInput
from prolocutor.web.authentication import OPERATOR
from prolocutor.web.error_table import HttpError
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.requests import AsgiRequest, parse_object


class Body:
    """A body in pieces; `left` are those that were not asked for."""

    def __init__(self, *pieces: bytes, ends: bool = True) -> None:
        self.left = [
            {"type": "http.request", "body": piece, "more_body": n < len(pieces) or not ends}
            for n, piece in enumerate(pieces, 1)
        ]

    async def receive(self) -> Any:
        return self.left.pop(0) if self.left else {"type": "http.disconnect"}

    def request(self, **headers: str) -> AsgiRequest:
        scope = {
            "method": "POST",
            "path": "/",
            "query_string": b"",
            "headers": [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()],
        }
        return AsgiRequest(scope, self.receive, OPERATOR, {}, ListenerLimits(body=10))


@pytest.mark.parametrize("pieces", [[b"0123456789"], [b""], [b"01234", b"56789"], [b"", b"", b"0"]])
async def test_a_body_within_the_limit_is_read(pieces: list[bytes]) -> None:
    assert await Body(*pieces).request().body() == b"".join(pieces)


@pytest.mark.parametrize("pieces", [[b"x" * 11], [b"x" * 10, b"x"]])
async def test_a_body_beyond_the_limit_is_refused(pieces: list[bytes]) -> None:
    with pytest.raises(HttpError) as refused:
        await Body(*pieces).request().body()

    assert refused.value.status == 413


@pytest.mark.parametrize("headers", [{}, {"content_length": "30"}])
async def test_the_rest_is_read_so_that_its_sender_hears_the_refusal(
    headers: dict[str, str],
) -> None:
    body = Body(b"x" * 11, b"x" * 10, b"x" * 9)

    with pytest.raises(HttpError):
        await body.request(**headers).body()

    assert body.left == []


async def test_a_rest_without_end_is_not_read_for_ever() -> None:
    body = Body(*[b"x" * 11] * 100, ends=False)

    with pytest.raises(HttpError):
        await body.request().body()

    assert len(body.left) > 80


async def test_a_client_that_waits_for_leave_is_not_listened_to() -> None:
    body = Body(b"x" * 30)

    with pytest.raises(HttpError):
        await body.request(content_length="30", expect="100-continue").body()

    assert len(body.left) == 1


@pytest.mark.parametrize("pieces", [[], [b"0123"], [b"x" * 11]])
async def test_a_client_that_leaves_is_at_fault(pieces: list[bytes]) -> None:
    with pytest.raises(BadInput, match="left"):
        await Body(*pieces, ends=False).request().body()


@pytest.mark.parametrize(
    "body",
    [
        rb'{"text": "\ud800"}',
        rb'{"text": "\ud800 and more"}',
        rb'{"text": "\udc00"}',
        rb'{"\ud83d": 1}',
        b'{"text": "\xed\xa0\x80"}',
    ],
)
def test_half_of_a_character_is_told_as_what_it_is(body: bytes) -> None:
    with pytest.raises(BadInput, match=r"^a lone surrogate is no Unicode text$"):
        parse_object(body)


@pytest.mark.parametrize(
    "body",
    [b"", b"no JSON", rb'{"text": "\ud800', rb'{"text": "\\ud800"', b'{"a": NaN}', b'"\xff"'],
)
def test_what_is_no_json_is_told_as_that(body: bytes) -> None:
    with pytest.raises(BadInput, match=r"^this is not JSON"):
        parse_object(body)


def test_a_character_of_two_halves_is_text() -> None:
    assert parse_object(rb'{"text": "\ud83d\ude00"}') == {"text": "\N{GRINNING FACE}"}
