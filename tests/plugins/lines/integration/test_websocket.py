"""A service behind a WebSocket: its answers keep to their calls whatever becomes of the line."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from aiohttp import web

from prolocutor.dialog.plain import Plain
from prolocutor.errors import BadReply, ConfigError, ServiceRefused, ServiceUnreachable
from prolocutor.plugins.lines.websocket import WebSocketConnector, WebSocketService
from prolocutor.testing.connector_kit import ask, closing
from prolocutor.testing.fake_service import FakeDeltas, FakeRequest
from tests.integration.connectors.raw_server import raw_server
from tests.integration.peers.socket_peer import behaving, socket_peer

ECHO = behaving(lambda asked: asked)


async def value(bot: WebSocketConnector, asked: Any, timeout: float = 5.0) -> Any:
    (reply,) = await bot.send([FakeRequest(asked, timeout=timeout)])
    return reply.value if isinstance(reply, Plain) else reply


async def test_calls_share_one_connection_that_is_opened_with_a_key() -> None:
    async with (
        socket_peer(ECHO) as peer,
        closing(
            WebSocketConnector(
                WebSocketService(url=peer.url, key="right", headers={"X-A": "b"}), name="bot"
            )
        ) as bot,
    ):
        assert await asyncio.gather(*(value(bot, n) for n in range(20))) == list(range(20))

    assert len(peer.headers) == 1
    assert peer.headers[0]["Authorization"] == "Bearer right"
    assert peer.headers[0]["X-A"] == "b"


@pytest.mark.parametrize("timeout", [20.0, 0.05])
async def test_a_late_answer_is_taken_for_no_other_call(timeout: float) -> None:
    held: list[web.WebSocketResponse] = []
    came = asyncio.Event()

    async def act(asked: Any, socket: web.WebSocketResponse) -> None:
        if asked == "slow":
            held.append(socket)
            came.set()
        elif asked != "kept":
            for one in held:  # what is late comes before the answer
                with suppress(ConnectionError):  # a connection that was given up
                    await one.send_str('"late"')
                    await one.send_str('"kept"')
            await socket.send_str(json.dumps(asked))

    async with (
        socket_peer(act) as peer,
        closing(WebSocketConnector(WebSocketService(url=peer.url), name="b")) as bot,
    ):
        slow = asyncio.create_task(value(bot, "slow", timeout=timeout))
        kept = asyncio.create_task(value(bot, "kept"))
        await came.wait()
        slow.cancel()
        await asyncio.wait([slow])
        assert await value(bot, "next") == "next"
        assert await kept == "kept"

    assert slow.cancelled()
    assert len(peer.headers) == 2


async def test_a_broken_connection_fails_its_calls_and_is_opened_again() -> None:
    async def act(asked: Any, socket: web.WebSocketResponse) -> None:
        if asked == "end":
            await socket.close(code=1011)
        else:
            await socket.send_str(json.dumps(asked))

    async with (
        socket_peer(act) as peer,
        closing(WebSocketConnector(WebSocketService(url=peer.url), name="b")) as bot,
    ):
        failed = await value(bot, "end")
        assert await value(bot, 1) == 1
        await peer.hang_up()
        assert 2 in [await value(bot, 2), await value(bot, 2)]  # the end may still be on its way
        port = int(peer.url.split(":")[2].split("/")[0])

    assert isinstance(failed, ServiceUnreachable)
    assert "1011" in str(failed)
    async with closing(WebSocketConnector(WebSocketService(url=peer.url), name="b")) as bot:
        assert isinstance(await ask(bot, 3), ServiceUnreachable)
        async with socket_peer(ECHO, port=port):
            assert await value(bot, 4) == 4


async def test_a_server_that_hangs_up_on_everyone_is_left_alone_for_a_while() -> None:
    async def act(asked: Any, socket: web.WebSocketResponse) -> None:
        await socket.close()

    async with (
        socket_peer(act) as peer,
        closing(WebSocketConnector(WebSocketService(url=peer.url), name="b")) as bot,
    ):
        failures = [str(await value_or_error(bot)) for _ in range(4)]

    assert "it is tried again in" in failures[-1]
    assert len(peer.headers) == 2


async def value_or_error(bot: WebSocketConnector) -> Any:
    try:
        return await value(bot, 1, timeout=0.2)
    except ServiceUnreachable as error:
        return error


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("not JSON", BadReply),
        ('["x"', BadReply),
        ("[" * 10_000, BadReply),
        ('"' + "x" * 3_000_000 + '"', ServiceUnreachable),
    ],
)
async def test_nonsense_is_a_failure_and_the_next_call_works(said: str, expected: type) -> None:
    async def act(asked: Any, socket: web.WebSocketResponse) -> None:
        await socket.send_str(said if asked == "bad" else json.dumps(asked))

    async with (
        socket_peer(act) as peer,
        closing(WebSocketConnector(WebSocketService(url=peer.url), name="b")) as bot,
    ):
        assert isinstance(await value(bot, "bad"), expected)
        assert await value(bot, "good") == "good"


async def test_words_are_handed_on_and_greetings_passed_over() -> None:
    async def act(asked: Any, socket: web.WebSocketResponse) -> None:
        for piece in ("Good ", "day."):
            await socket.send_str(json.dumps({"delta": piece}))
        await socket.send_str('{"confidence": 0.9}')

    deltas = FakeDeltas()
    async with (
        socket_peer(act, opening=["hello!"]) as peer,
        closing(WebSocketConnector(WebSocketService(url=peer.url, greetings=1), name="b")) as bot,
    ):
        (reply,) = await bot.send([FakeRequest({}, deltas=deltas)])

    assert isinstance(reply, Plain)
    assert reply.value == {"text": "Good day.", "confidence": 0.9}
    assert deltas.pieces == ["Good ", "day."]


async def test_a_server_that_opens_no_socket_is_a_failure() -> None:
    async with (
        socket_peer(ECHO) as peer,
        closing(WebSocketConnector(WebSocketService(url=peer.url, key="wrong"), name="b")) as bot,
    ):
        assert isinstance(await ask(bot, 1), ServiceRefused)
    for answer in (b"HTTP/1.1 200 OK\r\n\r\nhello", b"garbage\r\n\r\n", b""):
        async with raw_server(answer) as server:
            bot = WebSocketConnector(
                WebSocketService(url=server.url.replace("http", "ws")), name="b"
            )
            async with closing(bot):
                assert isinstance(await ask(bot, 1), ServiceUnreachable)


async def test_a_refusal_in_very_many_chunks_is_not_read_to_its_end() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    async with raw_server(head + b"1\r\n[\r\n" * 20_000 + b"0\r\n\r\n") as server:
        bot = WebSocketConnector(WebSocketService(url=server.url.replace("http", "ws")), name="b")
        async with closing(bot):
            reply = await ask(bot, 1)

    assert "status 200" not in str(reply)


@pytest.mark.parametrize("pings", [900, 2_000])
async def test_a_server_that_pings_without_end_is_given_up(pings: int) -> None:
    async def act(asked: Any, socket: web.WebSocketResponse) -> None:
        with suppress(ConnectionError):
            for _ in range(pings):
                await socket.ping()
            await socket.send_str(json.dumps(asked))

    async with (
        socket_peer(act) as peer,
        closing(WebSocketConnector(WebSocketService(url=peer.url), name="b")) as bot,
    ):
        is_answered = await value(bot, "hi") == "hi"

    assert is_answered == (pings < 1_000)


@pytest.mark.parametrize("url", ["ftp://h/", "ws://", "bot", "ws://h:99999/"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        WebSocketConnector(WebSocketService(url=url), name="b")
