"""Whatever a service behind HTTP does, the turn is answered by the deadline."""

import asyncio

import pytest

from prolocutor import Assistant, Pipeline, Service
from prolocutor.testing.fake_service import FakeService
from tests.integration.connectors.scripted_server import Visit, scripted_server

DEADLINE = 2.0
OK = b"HTTP/1.1 200 OK\r\n"
EVENTS = OK + b"Content-Type: text/event-stream\r\n\r\n"

SAID = [
    b"",
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 500 Oops\r\nContent-Length: 10\r\n\r\nhalf",
    b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    OK + b"Content-Length: 10\r\n\r\n[",
    OK + b"Content-Length: 2\r\n\r\n7]",
    OK + b"Content-Length: 1\r\n\r\n1" * 100,
    OK + b"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n1",
    OK + b"Content-Length: 9999999999999\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
]

ENDLESS = [
    (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    (b"", b"x"),
    (OK, b"X: y\r\n"),
    (OK + b"\r\n", b"["),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
    (EVENTS, b"\n"),
    (EVENTS, b": comment\n"),
    (EVENTS, b'data: {"choices": []}\n\n'),
]


async def assert_answered(url: str, connector: str | None, turns: int = 2) -> None:
    """Take turns with the service and a sound one, which answers."""
    odd = Service("odd", f"{url}?model=m", connector=connector, timeout=DEADLINE)
    sound = Service("sound", FakeService({"text": "fine", "confidence": 0.5}))
    pipeline = Pipeline(skills=[odd, sound])
    async with Assistant(pipeline, store="memory:", deadline=DEADLINE) as assistant:
        for _ in range(turns):
            result = await assistant.turn("hi", user="ann")
            assert result.reply.text == "fine"


@pytest.mark.parametrize("connector", [None, "openai_chat"])
@pytest.mark.parametrize("said", SAID, ids=[f"{n}" for n in range(len(SAID))])
async def test_an_answer_that_is_none_harms_no_turn(said: bytes, connector: str | None) -> None:
    async def script(visit: Visit) -> None:
        await visit.request()
        await visit.say(said)

    async with scripted_server(script) as server:
        await assert_answered(server.url, connector)


@pytest.mark.parametrize("connector", [None, "openai_chat"])
@pytest.mark.parametrize(("start", "again"), ENDLESS, ids=[f"{n}" for n in range(len(ENDLESS))])
async def test_an_answer_without_end_harms_no_turn(
    start: bytes, again: bytes, connector: str | None
) -> None:
    block = again * (65536 // len(again))

    async def script(visit: Visit) -> None:
        await visit.request()
        await visit.say(start)
        while True:
            await visit.say(block)

    async with scripted_server(script) as server:
        await assert_answered(server.url, connector)


async def test_an_answer_in_drops_harms_no_turn() -> None:
    async def script(visit: Visit) -> None:
        await visit.request()
        await visit.say(OK + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            await visit.say(b"1\r\n \r\n")
            await asyncio.sleep(0)

    async with scripted_server(script) as server:
        await assert_answered(server.url, None, turns=1)
