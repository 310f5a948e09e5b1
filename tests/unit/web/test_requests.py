"""Bodies read under limits, without any server."""

from typing import Any

import pytest

from prolocutor.errors import BadInput
from prolocutor.web.error_table import HttpError
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.requests import AsgiConnection, AsgiRequest


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
        return AsgiRequest(scope, self.receive, {}, ListenerLimits(body=10))


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
    ("query", "value"),
    [(b"", None), (b"x=1", "1"), (b"x=1&x=%C3%A4", "ä"), (b"x=", ""), (b"y", None)],
)
def test_the_last_value_of_a_query_parameter_counts(query: bytes, value: str | None) -> None:
    assert (
        AsgiConnection({"path": "/", "query_string": query, "headers": []}, {}).query("x") == value
    )


@pytest.mark.parametrize("digits", [18, 19, 30, 5000])
async def test_a_declared_length_of_many_digits_is_too_large(digits: int) -> None:
    with pytest.raises(HttpError) as refused:
        await Body().request(content_length="9" * digits, expect="100-continue").body()

    assert refused.value.status == 413
