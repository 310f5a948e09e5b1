"""One connection of a client, without a socket: what is parsed, answered and held back."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Self

import pytest
import uvicorn
from uvicorn.server import ServerState

from prolocutor.web.asgi import App, Receive, Scope, Send
from prolocutor.web.connection_places import ConnectionPlaces
from prolocutor.web.connections import (
    BoundedHttpProtocol,
    BoundedWebSocketProtocol,
)
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.requests import WHOLE_BODY

GET = b"GET /%b HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b"


class Line(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self, address: str = "192.0.2.7") -> None:
        super().__init__({"peername": (address, 5)})
        self.text = b""
        self.closed = self.paused = False
        self.held = 0
        self._changed = asyncio.Event()

    def write(self, data: Any) -> None:
        self.text += data
        self._changed.set()

    def close(self) -> None:
        self.closed = True
        self._changed.set()

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    def get_write_buffer_size(self) -> int:
        return self.held

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so, which changes as the line does."""
        while not is_so():
            self._changed.clear()
            await self._changed.wait()


def configured(app: App) -> uvicorn.Config:
    config = uvicorn.Config(
        app, interface="asgi3", log_config=None, access_log=False, ws_per_message_deflate=False
    )
    config.load()
    config.loaded_app = app  # type: ignore[assignment]
    return config


def connected(
    app: App,
    limits: ListenerLimits | None = None,
    places: ConnectionPlaces | None = None,
    address: str = "192.0.2.7",
) -> tuple[BoundedHttpProtocol, Line]:
    line = Line(address)
    protocol = BoundedHttpProtocol(
        configured(app),
        ServerState(),
        {},
        places=places or ConnectionPlaces(limits or ListenerLimits()),
    )
    protocol.connection_made(line)
    return protocol, line


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the path and the body."""
    body = scope["extensions"][WHOLE_BODY]()
    more = body is None
    body = body or b""
    while more:
        message = await receive()
        body += message["body"]
        more = message["more_body"]
    said = scope["raw_path"] + b" " + body
    await send({"type": "http.response.start", "status": 200, "headers": [length(said)]})
    await send({"type": "http.response.body", "body": said})


def length(body: bytes) -> tuple[bytes, bytes]:
    return b"content-length", b"%d" % len(body)


class Gated:
    """An app that answers when it may, and keeps what it was asked."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.seen: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen.append(scope["raw_path"])
        await self.gate.wait()
        await hello(scope, receive, send)


async def test_one_request_waits_and_the_others_are_not_parsed() -> None:
    app = Gated()
    protocol, line = connected(app)

    protocol.data_received(b"".join(GET % b"%d" % number for number in range(5_000)))
    await asyncio.sleep(0)
    queued = len(protocol.pipeline)
    app.gate.set()
    await line.until(lambda: b"/4999 " in line.text)

    assert queued == 1
    assert app.seen[:2] == [b"/0", b"/1"]
    assert app.seen == [b"/%d" % number for number in range(5_000)]
    assert not line.paused


class Crowd:
    """Many connections that have sent the same, at the places of one server."""

    def __init__(self, data: bytes) -> None:
        self.places, self.app = ConnectionPlaces(ListenerLimits()), Gated()
        self.app.gate.set()
        self._protocols = [connected(self.app, places=self.places)[0] for _ in range(300)]
        for protocol in self._protocols:
            protocol.data_received(data)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for protocol in self._protocols:
            protocol.transport.close()
            protocol.connection_lost(None)
        while tasks := [task for one in self._protocols for task in one.tasks]:
            await asyncio.gather(*tasks)

    async def begun_before(self, path: bytes) -> int:
        """Return how many requests are begun until a client who comes now is answered."""
        before = len(self.app.seen)
        late, line = connected(self.app, places=self.places)
        late.data_received(GET % path)
        await line.until(lambda: b"/%b " % path in line.text)
        return len(self.app.seen) - before


async def test_requests_behind_others_of_their_connection_let_those_of_others_pass() -> None:
    async with Crowd(GET % b"many" * 50) as crowd:
        while crowd.app.seen.count(b"/many") < 300:  # noqa: ASYNC110 (nobody tells when)
            await asyncio.sleep(0)

        assert await crowd.begun_before(b"late") < 150


async def test_health_is_answered_before_earlier_requests_of_others() -> None:
    async with Crowd(GET % b"many") as crowd:
        assert await crowd.begun_before(b"health/live") < 150


async def test_blanks_around_a_value_are_no_part_of_it() -> None:
    seen: list[Any] = []

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(dict(scope["headers"]))
        await hello(scope, receive, send)

    protocol, line = connected(noting)
    head = b"GET / HTTP/1.1\r\nHost: localhost \r\nName:\t a b \t\r\nEmpty:  \r\n\r\n"
    protocol.data_received(head)
    await line.until(lambda: b"200 OK" in line.text)

    assert seen == [{b"host": b"localhost", b"name": b"a b", b"empty": b""}]


async def test_a_connection_is_not_read_while_requests_wait_to_be_parsed() -> None:
    app = Gated()
    protocol, line = connected(app)

    protocol.data_received(b"".join(GET % b"%d" % number for number in range(50)))
    await asyncio.sleep(0)
    await asyncio.wait([asyncio.ensure_future(protocol.cycle.receive())])

    assert line.paused


@pytest.mark.parametrize("sizes", [[1_000], [1, 1], [40, 7], [56, 3, 1]])
async def test_bodies_and_requests_behind_them_are_told_apart(sizes: list[int]) -> None:
    protocol, line = connected(hello)
    data = (
        POST % (7, b"\r\n\r\nGET") + GET % b"2" + POST % (0, b"") + POST % (3, b"abc") + GET % b"5"
    )

    for size in sizes:
        protocol.data_received(data[:size])
        data = data[size:]
        await asyncio.sleep(0)
    if data:
        protocol.data_received(data)
    await line.until(lambda: b"/5 " in line.text)

    assert [one.partition(b"\r\n\r\n")[2] for one in line.text.split(b"HTTP/1.1 200 OK")][1:] == [
        b"/ \r\n\r\nGET",
        b"/2 ",
        b"/ ",
        b"/ abc",
        b"/5 ",
    ]


async def test_an_upgrade_that_is_not_offered_does_not_keep_a_request_from_its_answer() -> None:
    protocol, line = connected(hello)

    upgrade = b"Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n"
    protocol.data_received(b"POST / HTTP/1.1\r\n" + upgrade + b"hel")
    await asyncio.sleep(0)
    protocol.data_received(b"lo" + GET % b"next")
    await line.until(lambda: line.text.endswith(b"/next "))

    assert b"\r\n\r\n/ hello" in line.text


async def test_many_upgrades_at_once_are_read_one_after_the_other() -> None:
    protocol, line = connected(hello)

    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
    protocol.data_received(head * 2_000)

    await line.until(lambda: line.text.count(b"HTTP/1.1 200 OK") == 2_000)
    assert not line.closed


async def test_a_head_that_begins_behind_a_large_body_is_not_too_large() -> None:
    protocol, line = connected(hello)

    protocol.data_received(POST % (200_000, b"x" * 200_000) + b"GET / HTTP/1.1\r\n")
    protocol.data_received(b"Host: localhost\r\n\r\n")

    await line.until(lambda: line.text.count(b"HTTP/1.1 200 OK") == 2)


async def test_the_end_of_a_connection_is_received_whatever_waits_behind() -> None:
    left: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["extensions"][WHOLE_BODY]() == b""
        left.set_result((await receive())["type"])

    protocol, line = connected(app)
    protocol.data_received(GET % b"1" + GET % b"2")
    await asyncio.sleep(0)
    line.closed = True
    protocol.connection_lost(None)

    assert await left == "http.disconnect"
    assert line.text == b""


async def test_a_client_that_has_closed_its_side_gets_all_its_responses() -> None:
    app = Gated()
    protocol, line = connected(app)

    protocol.data_received(b"".join(GET % b"%d" % number for number in range(30)))
    stays_open = protocol.eof_received()
    app.gate.set()
    await line.until(lambda: line.closed)

    assert stays_open
    assert line.text.endswith(b"/29 ")


@pytest.mark.parametrize("data", [b"", b"GET / HT", POST % (9, b"half")])
async def test_a_client_that_ends_before_its_request_has_left(data: bytes) -> None:
    protocol, _ = connected(hello)

    protocol.data_received(data)

    assert not protocol.eof_received()


async def test_a_client_that_does_not_read_is_answered_no_further() -> None:
    app = Gated()
    protocol, line = connected(app)
    app.gate.set()

    protocol.data_received(GET % b"1" + GET % b"2" + GET % b"3")
    await asyncio.sleep(0)
    line.held = 100_000
    protocol.pause_writing()
    for _ in range(9):
        await asyncio.sleep(0)
    seen, paused = list(app.seen), line.paused
    protocol.resume_writing()
    await line.until(lambda: line.text.endswith(b"/3 "))

    assert len(seen) < 3
    assert paused is True
    assert line.paused is False


async def test_a_client_that_takes_nothing_in_time_is_cut_off() -> None:
    protocol, line = connected(hello, ListenerLimits(patience=0.01))

    protocol.data_received(GET % b"")
    await line.until(lambda: bool(line.text))
    line.held = 100_000
    protocol.pause_writing()

    await line.until(lambda: line.closed)


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n",
        b"GET / HTTP/1.1\r\nHost: a, b\r\n",
        b"GET / HTTP/1.0\r\nHost: a@b\r\n",
        b"GET http://a/ HTTP/1.1\r\nHost: a\r\n",
        b"GET / HTTP/2.0\r\nHost: a\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: upgrade\r\nUpgrade: websocket\r\n",
    ],
)
async def test_a_request_names_one_host_and_a_path_there(head: bytes) -> None:
    protocol, line = connected(hello)

    protocol.data_received(GET % b"1" + head + b"\r\n" + GET % b"3")
    await line.until(lambda: line.closed)

    first, refusal = line.text.split(b"HTTP/1.1 ")[1:]
    assert first[-3:] == b"/1 "
    assert refusal[:4] == b"400 "
    assert b"one header Host" in line.text.partition(b"400 ")[2]


@pytest.mark.parametrize("host", [b"", b"Host:\r\n", b"Host: [::1]:4242\r\n"])
async def test_an_old_client_need_not_name_the_host(host: bytes) -> None:
    protocol, line = connected(hello)

    protocol.data_received(b"GET /1 HTTP/1.0\r\n" + host + b"\r\n")
    await line.until(lambda: line.closed)

    assert line.text.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("rest", [b"nonsense\r\n\r\n", b"CONNECT a:1 HTTP/1.1\r\n\r\n", b"GET\r\n"])
async def test_an_invalid_request_ends_the_connection_after_the_responses(rest: bytes) -> None:
    protocol, line = connected(hello)

    protocol.data_received(GET % b"1" + GET % b"2" + rest)
    await line.until(lambda: line.closed)

    first, second, refusal = line.text.split(b"HTTP/1.1 ")[1:]
    assert first[-3:] == b"/1 "
    assert second[-3:] == b"/2 "
    assert json.loads(refusal.partition(b"\r\n\r\n")[2])["code"] == "bad_request"


@pytest.mark.parametrize(("is_answered", "statuses"), [(True, [b"200"]), (False, [b"400"])])
async def test_a_body_that_is_no_http_gets_one_response_at_once(
    is_answered: bool, statuses: list[bytes]
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        if is_answered:
            await send({"type": "http.response.start", "status": 200, "headers": [length(b"")]})
            await send({"type": "http.response.body"})
        while (await receive())["type"] != "http.disconnect":
            pass

    begun = asyncio.Event()
    protocol, line = connected(app)
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"

    protocol.data_received(head + b"1\r\na\r\n")
    await begun.wait()
    protocol.data_received(b"no size\r\n")

    assert line.closed
    assert [one[:3] for one in line.text.split(b"HTTP/1.1 ")[1:]] == statuses


async def test_a_late_head_is_refused_behind_the_response_that_is_being_made() -> None:
    app = Gated()
    protocol, line = connected(app, ListenerLimits(patience=0.0))

    protocol.data_received(GET % b"1" + b"GET /2 HT")
    while protocol._refusal is None:  # noqa: ASYNC110 (nobody tells when)
        await asyncio.sleep(0)
    before = line.text
    app.gate.set()
    await line.until(lambda: line.closed)

    assert before == b""
    assert line.text.index(b"/1 ") < line.text.index(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("first", "other"),
    [("192.0.2.7", "192.0.2.8"), ("2001:db8::1", "2001:db8:0:1::1"), ("10.0.0.1", "10.0.0.1")],
)
async def test_one_address_has_so_many_connections_and_no_more(first: str, other: str) -> None:
    places = ConnectionPlaces(ListenerLimits(address_connections=2), "10.0.0.1".__eq__)
    made = [connected(hello, places=places, address=first)[0] for _ in range(2)]
    late, late_line = connected(hello, places=places, address=first.replace("::1", "::2"))
    healthy, healthy_line = connected(hello, places=places, address=first)
    there, there_line = connected(hello, places=places, address=other)

    for one in (late, there):
        one.data_received(GET % b"1")
    healthy.data_received(GET % b"health/live")
    await there_line.until(lambda: b"/1 " in there_line.text)
    await healthy_line.until(lambda: b"/health/live " in healthy_line.text)
    is_refused = b"HTTP/1.1 503 " in late_line.text
    made[0].connection_lost(None)
    last, last_line = connected(hello, places=places, address=first)
    last.data_received(GET % b"2")
    await last_line.until(lambda: bool(last_line.text))

    assert is_refused == (first != other)
    assert b"/2 " in last_line.text


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        (ListenerLimits(), 1_000),
        (ListenerLimits(connections=200), 50),
        (ListenerLimits(connections=1), 1),
        (ListenerLimits(connections=200, address_connections=150), 150),
    ],
)
def test_the_share_of_an_address_follows_from_the_limit_of_all(
    limits: ListenerLimits, most: int
) -> None:
    places = ConnectionPlaces(limits)

    assert sum(places.take("192.0.2.7") for _ in range(1_001)) == most
    assert places.take("192.0.2.8") == (most < limits.connections)


async def test_the_address_that_keeps_most_in_memory_is_cut_off_where_all_keep_too_much() -> None:
    places = ConnectionPlaces(ListenerLimits(held=10_000))
    app = Gated()
    lines = []
    for address, size in (("192.0.2.1", 3_000), ("192.0.2.2", 2_000), ("192.0.2.2", 4_500)):
        protocol, line = connected(app, places=places, address=address)
        protocol.data_received(POST % (9_000, b"x" * size))
        lines.append(line)
    before = places.held
    protocol.data_received(b"x" * 1_000)

    assert before == 9_500
    assert places.held == 8_500
    assert [line.closed for line in lines] == [False, True, False]
    protocol.data_received(b"x" * 3_500)
    assert places.held == 3_000


async def test_bodies_of_requests_that_wait_are_counted_as_kept() -> None:
    places = ConnectionPlaces(ListenerLimits())
    app = Gated()
    protocol, line = connected(app, places=places)

    protocol.data_received(b"".join(POST % (1_000, b"x" * 1_000) for _ in range(2)))
    before = places.held
    app.gate.set()
    await line.until(lambda: line.text.count(b"HTTP/1.1 200 OK") == 2)

    assert before == 1_000
    assert places.held == 0


# -- WebSockets -------------------------------------------------------------------------------

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Talk:
    """An app that takes the messages of a WebSocket when it may."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.seen: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await self.gate.wait()
        while (message := await receive())["type"] == "websocket.receive":
            self.seen.append(message["text"])


async def talking(
    app: App, patience: float = 30.0, places: ConnectionPlaces | None = None
) -> tuple[BoundedWebSocketProtocol, Line]:
    line = Line()
    protocol = BoundedWebSocketProtocol(
        configured(app),
        ServerState(),
        {},
        places=places or ConnectionPlaces(ListenerLimits(patience=patience)),
    )
    protocol.connection_made(line)
    protocol.data_received(HANDSHAKE)
    await line.until(lambda: bool(line.text))
    return protocol, line


def frame(opcode: int, data: bytes = b"") -> bytes:
    return bytes([opcode, 0x80 | len(data)]) + bytes(4) + data


TEXT, PING, CLOSE, BEGINS, GOES_ON, ENDS = 0x81, 0x89, 0x88, 0x01, 0x00, 0x80


async def test_messages_are_parsed_as_the_app_takes_them() -> None:
    app = Talk()
    protocol, line = await talking(app)

    protocol.data_received(frame(TEXT, b"x") * 20_000 + frame(CLOSE))
    queued, paused = protocol.queue.qsize(), line.paused
    app.gate.set()
    await asyncio.wait(protocol.tasks)

    assert queued < 500
    assert paused is True
    assert len(app.seen) == 20_000


async def test_no_pings_are_read_while_their_pongs_are_not() -> None:
    protocol, line = await talking(Talk())

    line.text = b""
    protocol.pause_writing()
    protocol.data_received(frame(PING) * 1_000)
    before, paused = line.text, line.paused
    protocol.resume_writing()

    assert before == b""
    assert paused is True
    assert line.paused is False
    assert line.text == bytes([0x8A, 0]) * 1_000


async def test_a_message_in_many_pieces_takes_the_room_of_its_bytes() -> None:
    app = Talk()
    protocol, _ = await talking(app)

    protocol.data_received(frame(BEGINS, b"h") + frame(GOES_ON) * 900 + frame(GOES_ON, b"i"))
    pieces = len(protocol.frames)
    protocol.data_received(frame(ENDS) + frame(CLOSE))
    app.gate.set()
    await asyncio.wait(protocol.tasks)

    assert pieces == 1
    assert app.seen == ["hi"]


@pytest.mark.parametrize("idle", [frame(PING), frame(0x8A), frame(GOES_ON, b"x")])
async def test_a_client_that_sends_frames_and_says_nothing_is_closed(idle: bytes) -> None:
    protocol, line = await talking(Talk())

    protocol.data_received(frame(BEGINS, b"x") + idle * 900)
    closed = line.closed
    protocol.send_keepalive_ping()
    protocol.data_received(idle * 900)
    closed_later = line.closed
    protocol.data_received(idle * 200)

    assert closed is False
    assert closed_later is False
    assert line.closed is True


async def test_others_come_to_their_turn_between_the_messages_of_one_client() -> None:
    app, rounds = Talk(), 0
    app.gate.set()
    protocol, _ = await talking(app)

    protocol.data_received(frame(TEXT, b"x") * 300)
    while len(app.seen) < 300:
        await asyncio.sleep(0)
        rounds += 1

    assert rounds > 250
    for task in protocol.tasks:
        task.cancel()


async def test_parts_of_a_message_count_until_it_is_whole() -> None:
    places = ConnectionPlaces(ListenerLimits())
    app = Talk()
    protocol, _ = await talking(app, places=places)

    protocol.data_received(frame(BEGINS, b"hi") + frame(GOES_ON, b"there") + frame(ENDS, b"x")[:3])
    before = places.held
    app.gate.set()
    protocol.data_received(frame(ENDS, b"x")[3:] + frame(CLOSE))
    await asyncio.wait(protocol.tasks)

    assert before >= 8
    assert places.held == 0


async def test_nothing_is_kept_of_a_message_whose_client_has_left() -> None:
    protocol, _ = await talking(Talk())

    protocol.data_received(frame(BEGINS, b"hi") + frame(ENDS, b"there")[:8])
    protocol.connection_lost(None)

    assert protocol.frames == []
    assert bytes(protocol.conn.reader.buffer) == b""
    for task in protocol.tasks:
        task.cancel()


async def test_a_handshake_that_the_app_does_not_answer_ends_in_time() -> None:
    async def silent(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    protocol, line = await talking(silent, patience=0.01)

    assert line.text.startswith(b"HTTP/1.1 503 ")
    assert line.closed
    for task in protocol.tasks:
        task.cancel()
