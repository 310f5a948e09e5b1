"""The listener over real lines: addresses, sizes, times, and who may come."""

import asyncio
import json
import logging
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route, WebSocketRoute
from prolocutor.contracts.http import HttpRequest, HttpResponse, WebSocket
from prolocutor.testing.channel_kit import KEY, Gate, pipeline, run_door, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.listener import Listener
from tests.integration.doors.fakes import answer_to, deeppavlov, get, line, post

SMALL = ListenerLimits(body=1000, head=2000, query=100, patience=0.05)


class Room:
    """A door for these tests."""

    name = "room"
    prefix = "room:"

    def __init__(self, assistant: Assistant) -> None:
        self.sockets: list[WebSocket] = []
        self.left = asyncio.Event()
        self.gate = asyncio.Event()
        self.held = asyncio.Semaphore(0)
        self.routes = [
            Route("POST", "/size", self.size),
            Route("GET", "/break", self.fail),
            Route("GET", "/pieces", self.pieces),
            Route("GET", "/endless", self.endless),
            Route("GET", "/hold", self.hold),
            WebSocketRoute("/flood", self.flood),
            WebSocketRoute("/break", self.fail),
        ]

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def size(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(b"%d" % len(await request.body()))

    async def fail(self, _: object) -> HttpResponse:
        raise LookupError("the secret is 42")

    async def pieces(self, _: HttpRequest) -> HttpResponse:
        async def body() -> Any:
            for n in range(3):
                yield b"%d\n" % n

        return HttpResponse(body(), content_type="text/plain")

    async def hold(self, _: HttpRequest) -> HttpResponse:
        self.held.release()
        await self.gate.wait()
        return HttpResponse(b"")

    async def endless(self, _: HttpRequest) -> HttpResponse:
        async def body() -> Any:
            while True:
                yield b"x" * 100_000
                await asyncio.sleep(0)

        return HttpResponse(body(), content_type="text/plain")

    async def flood(self, socket: WebSocket) -> None:
        async for _ in socket:
            for _ in range(100):
                socket.send(b"x" * 100_000)
        self.left.set()


async def test_an_unknown_address_is_a_404() -> None:
    async with deeppavlov() as door:
        status, answer = await get(door, "/nothing/here")

    assert status == 404
    assert answer["code"] == "not_found"
    assert answer["field"] is None


async def test_a_wrong_method_is_told_the_right_ones() -> None:
    async with deeppavlov() as door, door.http.put("/") as response:
        answer = await response.json()

    assert response.status == 405
    assert response.headers["Allow"] == "POST, OPTIONS"
    assert answer["code"] == "method_not_allowed"


async def test_options_are_told() -> None:
    async with deeppavlov() as door, door.http.options("/api/user/ann") as response:
        pass

    assert response.status == 204
    assert response.headers["Allow"] == "DELETE, GET, HEAD, OPTIONS"


async def test_head_is_get_without_a_body() -> None:
    async with deeppavlov() as door, door.http.head("/ping") as response:
        body = await response.read()

    assert response.status == 200
    assert response.headers["Content-Length"] == "6"
    assert body == b""


async def test_a_page_where_a_socket_is_wanted_is_told_so() -> None:
    async with deeppavlov() as door:
        status, answer = await get(door, "/chat/ws")

    assert status == 426
    assert answer["code"] == "upgrade_required"


async def test_a_socket_where_there_is_none_is_refused() -> None:
    async with deeppavlov() as door:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await door.http.ws_connect("/ping")

    assert refused.value.status == 404


async def test_a_body_comes_in_pieces() -> None:
    async def pieces() -> Any:
        for _ in range(10):
            yield b"x" * 100

    async with run_door(Room, limits=SMALL) as door, door.http.post("/size", data=pieces()) as r:
        assert await r.text() == "1000"


async def test_a_response_goes_in_pieces() -> None:
    async with run_door(Room) as door, door.http.get("/pieces") as response:
        assert await response.text() == "0\n1\n2\n"


async def test_a_body_that_says_it_is_too_large_is_refused() -> None:
    too_much = b"x" * 1001
    async with (
        run_door(Room, limits=SMALL) as d,
        d.http.post("/size", data=too_much) as response,
    ):
        answer = await response.json()

    assert response.status == 413
    assert answer["code"] == "request_entity_too_large"


async def test_a_body_that_grows_too_large_is_refused() -> None:
    async def endless() -> Any:
        for _ in range(100):
            yield b"x" * 100

    async with (
        run_door(Room, limits=SMALL) as door,
        door.http.post("/size", data=endless()) as r,
    ):
        assert r.status == 413


async def test_whoever_asks_first_need_not_send_too_large_a_body() -> None:
    async with run_door(Room, limits=SMALL) as door:
        headers = {"Content-Length": "1000000", "Expect": "100-continue"}
        answer = await answer_to(door.url, b"POST /size HTTP/1.1\r\nHost: localhost", b"", headers)

    assert answer.startswith(b"HTTP/1.1 413 ")


async def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    async with run_door(Room, limits=SMALL) as door:
        head = b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10"
        answer = await answer_to(door.url, head, b"half")

    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("head", [b"GET /ping HTTP/1.1\r\nHost: loc", b"GET /pi"])
async def test_a_head_that_does_not_come_is_not_waited_for(head: bytes) -> None:
    async with run_door(Room, limits=SMALL) as door, line(door.url) as (reader, writer):
        writer.write(head)
        answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_a_second_head_that_does_not_come_is_not_waited_for() -> None:
    async with run_door(Room, limits=SMALL) as door, line(door.url) as (reader, writer):
        writer.write(b"GET /pieces HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"0\r\n\r\n")
        writer.write(b"GET /pieces HT")
        answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_a_silent_line_is_closed() -> None:
    async with run_door(Room, limits=SMALL) as door, line(door.url) as (reader, _):
        assert await reader.read() == b""


@pytest.mark.parametrize("more", [b"X: " + b"x" * 3000, b"\r\n".join([b"X: x" * 10] * 100)])
async def test_a_head_that_is_too_large_is_refused(more: bytes) -> None:
    async with run_door(Room, limits=SMALL) as door:
        answer = await answer_to(door.url, b"GET /ping HTTP/1.1\r\nHost: localhost\r\n" + more)

    assert answer.startswith(b"HTTP/1.1 431 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "request_header_fields_too_large"


async def test_a_head_without_end_is_refused() -> None:
    async with run_door(Room, limits=SMALL) as door, line(door.url) as (reader, writer):
        writer.write(b"GET /ping HTTP/1.1\r\nX: ")
        for _ in range(5):
            writer.write(b"x" * 1000)
            await writer.drain()
        answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 431 ")


async def test_what_is_not_http_is_refused() -> None:
    async with deeppavlov() as door, line(door.url) as (reader, writer):
        writer.write(b"\x16\x03\x01\x02 hello\r\n\r\n")
        answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "bad_request"


async def test_a_query_that_is_too_long_is_refused() -> None:
    async with deeppavlov(limits=SMALL) as door:
        status, answer = await get(door, "/api/dialogs/", x="x" * 100)

    assert status == 414
    assert answer["code"] == "request_uri_too_long"


async def test_too_much_at_once_is_refused() -> None:
    async with deeppavlov(limits=ListenerLimits(requests=1)) as door, asyncio.TaskGroup() as group:
        first = group.create_task(post(door, user_id="ann", payload="wait"))
        await door.gate.entered.wait()
        async with door.http.post("/", json={"user_id": "bob"}) as response:
            answer = await response.json()
        ping = await get(door, "/ping")
        door.gate.opened.set()

    assert response.status == 429
    assert answer["code"] == "overloaded"
    assert ping[0] == 200
    assert response.headers["Retry-After"] == "1"
    assert first.result()[0] == 200


async def test_lines_beyond_the_limit_may_ask_for_the_health_alone() -> None:
    request = b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answers = []
    async with (
        deeppavlov(limits=ListenerLimits(connections=1)) as door,
        line(door.url) as (reader, writer),
    ):
        writer.write(request % b"/ping")
        await reader.readuntil(b"pong")
        for path in (b"/ping", b"/health/live"):
            async with line(door.url) as (other, saying):
                saying.write(request % path)
                answers.append(await other.read())

    assert [answer.split()[1] for answer in answers] == [b"503", b"200"]


async def test_whoever_is_the_last_beyond_the_limit_is_heard() -> None:
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(deeppavlov(limits=ListenerLimits(connections=5)))
        lines = [await stack.enter_async_context(line(door.url)) for _ in range(200)]
        lines[-1][1].write(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")

        assert (await lines[-1][0].read()).startswith(b"HTTP/1.1 200 ")


async def test_a_client_that_has_closed_its_side_is_answered() -> None:
    async with deeppavlov() as door, line(door.url) as (reader, writer):
        writer.write(b"GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n")
        writer.write_eof()

        assert (await reader.read()).endswith(b'pong"')


@pytest.mark.parametrize("headers", [b"X: y\r\n" * 300, b"X: " + b"y" * 9_000 + b"\r\n"])
async def test_a_handshake_that_is_none_is_refused(headers: bytes) -> None:
    async with run_door(Room) as door, line(door.url) as (reader, writer):
        writer.write(HANDSHAKE.replace(b"\r\n\r\n", b"\r\n" + headers + b"\r\n"))

        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")


async def test_what_nobody_expected_is_logged_and_not_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with run_door(Room) as door:
        status, answer = await get(door, "/break")

    id_ = answer["error"].rpartition(" ")[2]
    assert status == 500
    assert answer["code"] == "internal"
    assert "secret" not in str(answer)
    (record,) = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert id_ in record.getMessage()
    assert record.exc_info is not None


async def test_a_socket_whose_channel_breaks_is_told_and_closed() -> None:
    async with run_door(Room) as door, door.http.ws_connect("/break") as socket:
        answer = await socket.receive_json()
        closed = await socket.receive()

    assert answer["code"] == "internal"
    assert closed.data == 1011


async def test_a_client_that_does_not_read_is_dropped() -> None:
    rooms: list[Room] = []

    def make(assistant: Assistant) -> Room:
        rooms.append(Room(assistant))
        return rooms[0]

    async with run_door(make) as door, line(door.url) as (reader, writer):
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"\x81\x80\x00\x00\x00\x00")
        await rooms[0].left.wait()


HANDSHAKE = (
    b"GET /flood HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def test_a_page_of_another_site_may_not_open_a_socket() -> None:
    async with deeppavlov() as door:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await door.http.ws_connect("/chat/ws", origin="https://evil.example")

    assert refused.value.status == 403


async def test_a_refused_socket_is_no_error_of_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with deeppavlov() as door:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await door.http.ws_connect("/ping")

    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_our_own_page_may_open_a_socket() -> None:
    async with deeppavlov() as door, door.http.ws_connect("/chat/ws", origin=door.url) as socket:
        await socket.send_json({"user_id": "ann", "payload": "/start"})
        assert await socket.receive_json() == "command_performed"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 401),
        ({"X-Forwarded-For": "1.2.3.4"}, 401),
        ({"Origin": "https://evil.example"}, 403),
        ({"Authorization": "Basic YTpi"}, 401),
        ({"Authorization": "Bearer "}, 401),
        ({"Host": "assistant.localhost:1"}, 200),
        ({"Host": "[::1]:4242"}, 200),
    ],
)
async def test_only_who_sits_here_needs_no_key(headers: dict[str, str], status: int) -> None:
    async with deeppavlov() as door, door.http.get("/api/dialogs/", headers=headers) as response:
        assert response.status == status


async def test_a_site_that_is_allowed_may_ask_from_its_pages() -> None:
    site = "https://friend.example"
    asks = {"Origin": site, "Access-Control-Request-Method": "POST"}
    async with deeppavlov(origins=[site]) as door:
        async with door.http.options("/", headers=asks) as preflight:
            pass
        async with door.http.get("/api/dialogs/", headers={"Origin": site}) as response:
            pass

    assert preflight.headers["Access-Control-Allow-Origin"] == site
    assert response.status == 200
    assert response.headers["Access-Control-Allow-Origin"] == site


async def test_any_site_may_read_with_a_key_where_all_are_allowed() -> None:
    headers = {"Origin": "https://any.example", "Authorization": f"Bearer {KEY}"}
    async with deeppavlov(AccessPolicy(keys=[KEY], loopback=True), origins=["*"]) as door:
        async with door.http.get("/api/dialogs/", headers=headers) as known:
            pass
        del headers["Authorization"]
        async with door.http.get("/api/dialogs/", headers=headers) as unknown:
            pass

    assert known.status == 200
    assert unknown.status == 403


async def test_it_is_ready_while_the_assistant_takes_turns() -> None:
    async with deeppavlov() as door:
        before = [(await get(door, f"/health/{what}"))[0] for what in ("live", "ready")]
        await door.app.drain()
        after = [(await get(door, f"/health/{what}"))[0] for what in ("live", "ready")]

    assert before == [200, 200]
    assert after == [200, 503]


async def test_it_starts_and_closes_an_assistant_that_nobody_started() -> None:
    assistant = Assistant(pipeline(Gate()), store="memory:")
    async with (
        running(Listener(assistant)) as url,
        aiohttp.ClientSession(url) as http,
        http.get("/health/ready") as response,
    ):
        assert response.status == 200

    assert not assistant.ready


async def test_one_address_has_so_many_requests_in_flight_and_no_more() -> None:
    rooms: list[Room] = []

    def make(assistant: Assistant) -> Room:
        rooms.append(Room(assistant))
        return rooms[0]

    async def hold(address: str, key: str | None = None) -> int:
        headers = {"X-Forwarded-For": address}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        async with door.http.get("/hold", headers=headers) as response:
            return response.status

    auth = AccessPolicy(anonymous=True, keys=[KEY], trusted_proxies=["127.0.0.1"])
    limits = ListenerLimits(address_requests=2)
    async with run_door(make, auth, limits=limits) as door, asyncio.TaskGroup() as group:
        taken = [group.create_task(hold(f"2001:db8::{n}")) for n in range(2)]
        await rooms[0].held.acquire()
        await rooms[0].held.acquire()
        refused = await hold("2001:db8::9")
        taken.append(group.create_task(hold("2001:db8:0:1::1")))
        taken.append(group.create_task(hold("2001:db8::9", KEY)))
        await rooms[0].held.acquire()
        await rooms[0].held.acquire()
        rooms[0].gate.set()

    assert refused == 429
    assert [one.result() for one in taken] == [200] * 4


async def test_a_response_that_waits_for_its_reader_is_not_in_flight() -> None:
    async with run_door(Room) as door, line(door.url) as (reader, writer):
        writer.write(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readline()
        await door.app.drain()


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("application/jsonfoo", 400),
        ("text/plain", 400),
    ],
)
async def test_a_body_is_read_only_as_what_it_says_it_is(kind: str, status: int) -> None:
    body = b'{"user_id": "ann", "payload": "hi"}'
    async with (
        deeppavlov() as door,
        door.http.post("/", data=body, headers={"Content-Type": kind}) as response,
    ):
        assert response.status == status
        assert response.headers["X-Content-Type-Options"] == "nosniff"
