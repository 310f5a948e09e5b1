"""Cross-origin requests, as the Fetch standard has them."""

from typing import Any

import pytest

from prolocutor.web.asgi import Message, Receive, Scope, Send
from prolocutor.web.cors import CrossOrigin

FRIEND, STRANGER = b"https://friend.example", b"https://stranger.example"
PREFLIGHT = (b"access-control-request-method", b"POST")


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x", b"y")]})
    await send({"type": "http.response.body", "body": b"hello"})


async def answer(
    *headers: tuple[bytes, bytes], method: str = "GET", origins: tuple[str, ...] = ()
) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[Message] = []

    async def receive() -> Any:
        raise AssertionError("nothing is read")

    async def send(message: Message) -> None:
        sent.append(message)

    app = CrossOrigin(hello, origins or (FRIEND.decode(),))
    await app({"type": "http", "method": method, "headers": list(headers)}, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


async def test_an_allowed_site_may_read_the_response() -> None:
    status, headers, body = await answer((b"origin", FRIEND))

    assert status == 200
    assert body == b"hello"
    assert headers[b"x"] == b"y"
    assert headers[b"access-control-allow-origin"] == FRIEND
    assert headers[b"vary"] == b"Origin"


@pytest.mark.parametrize("headers", [[], [(b"origin", STRANGER)], [(b"origin", b"null")]])
async def test_no_other_site_may(headers: list[tuple[bytes, bytes]]) -> None:
    status, granted, body = await answer(*headers)

    assert status == 200
    assert body == b"hello"
    assert granted == {b"x": b"y"}


async def test_any_site_may_where_all_are_allowed() -> None:
    _, headers, _ = await answer((b"origin", STRANGER), origins=("*",))

    assert headers[b"access-control-allow-origin"] == b"*"


async def test_a_preflight_request_of_an_allowed_site_is_granted() -> None:
    status, headers, body = await answer((b"origin", FRIEND), PREFLIGHT, method="OPTIONS")

    assert status == 200
    assert body == b""
    assert headers[b"access-control-allow-origin"] == FRIEND
    assert b"POST" in headers[b"access-control-allow-methods"]
    assert b"Authorization" in headers[b"access-control-allow-headers"]


async def test_a_preflight_request_of_another_site_is_refused() -> None:
    status, headers, body = await answer((b"origin", STRANGER), PREFLIGHT, method="OPTIONS")

    assert status == 400
    assert headers == {}
    assert body == b""


async def test_options_that_are_no_preflight_request_go_on() -> None:
    assert (await answer((b"origin", FRIEND), method="OPTIONS"))[2] == b"hello"
