"""One connection of an HTTP client, without a socket: what is written, and when."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from prolocutor.web.asgi import App, Receive, Scope, Send
from prolocutor.web.http_protocol import HttpProtocol
from prolocutor.web.limits import ListenerLimits
from prolocutor.web.requests import WHOLE_BODY

Headers = list[tuple[bytes, bytes]]

GET = b"GET /%b HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /%b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b"


class Line(asyncio.Transport):
    """A transport that keeps what is written, call by call."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = self.paused = False
        self._changed = asyncio.Event()

    def write(self, data: Any) -> None:
        self.written.append(data)
        self._changed.set()

    def close(self) -> None:
        self.closed = True
        self._changed.set()

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False

    @property
    def text(self) -> bytes:
        return b"".join(self.written)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so, which changes as the line does."""
        while not is_so():
            self._changed.clear()
            await self._changed.wait()


def connected(app: App) -> tuple[HttpProtocol, Line]:
    config = uvicorn.Config(app, lifespan="off", interface="asgi3")
    config.load()
    config.loaded_app = app
    line = Line()
    protocol = HttpProtocol(config, ServerState(), {}, limits=ListenerLimits())
    protocol.connection_made(line)
    return protocol, line


def answering(
    body: bytes | list[bytes] = b"hello", headers: Headers | None = None, status: int = 200
) -> App:
    """An app that answers every request alike."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        own = [(b"content-length", b"%d" % len(body))] if isinstance(body, bytes) else []
        whole = own if headers is None else headers
        await send({"type": "http.response.start", "status": status, "headers": whole})
        for piece in [body] if isinstance(body, bytes) else body:
            more = not isinstance(body, bytes)
            await send({"type": "http.response.body", "body": piece, "more_body": more})
        if not isinstance(body, bytes):
            await send({"type": "http.response.body"})

    return app


async def test_a_response_is_one_write() -> None:
    protocol, line = connected(answering())

    protocol.data_received(GET % b"")

    assert line.written == [b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"]


async def test_a_body_of_unknown_length_goes_in_chunks() -> None:
    protocol, line = connected(answering([b"", b"one", b"three"]))

    protocol.data_received(GET % b"")

    assert line.written == [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        b"3\r\none\r\n",
        b"5\r\nthree\r\n",
        b"0\r\n\r\n",
    ]


async def test_a_client_of_http_1_0_reads_until_the_end() -> None:
    protocol, line = connected(answering([b"one", b"two"]))

    protocol.data_received(b"GET / HTTP/1.0\r\n\r\n")

    assert line.text == b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nonetwo"
    assert line.closed


@pytest.mark.parametrize(
    ("request_", "status", "written"),
    [
        (b"HEAD / HTTP/1.1\r\n\r\n", 200, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"),
        (GET % b"", 304, b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n"),
    ],
)
async def test_a_response_without_a_body_is_its_head(
    request_: bytes, status: int, written: bytes
) -> None:
    protocol, line = connected(answering(status=status))

    protocol.data_received(request_)

    assert line.text == written


async def test_a_connection_is_closed_where_either_side_says_so() -> None:
    asked, line = connected(answering())
    said, other = connected(answering(headers=[(b"connection", b"close")]))

    asked.data_received(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
    said.data_received(GET % b"")

    assert line.text.count(b"connection: close\r\n") == other.text.count(b"connection: close") == 1
    assert line.closed
    assert other.closed


async def test_requests_on_one_connection_are_answered_in_order_one_at_a_time() -> None:
    gates = {b"/1": asyncio.Event(), b"/2": asyncio.Event(), b"/3": asyncio.Event()}
    seen: list[bytes] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["raw_path"])
        await gates[scope["raw_path"]].wait()
        await answering(scope["raw_path"])(scope, receive, send)

    protocol, line = connected(app)
    protocol.data_received(b"".join(GET % number for number in (b"1", b"2", b"3")))

    assert (seen, line.paused) == ([b"/1"], True)
    for gate in reversed(gates.values()):
        gate.set()
    await line.until(lambda: line.text.endswith(b"/3"))
    assert seen == [b"/1", b"/2", b"/3"]
    assert [line.text.index(one) for one in seen] == sorted(line.text.index(one) for one in seen)
    assert not line.paused


async def received(
    feed: Callable[[HttpProtocol, Line], Awaitable[None]], *, whole: bool = False
) -> tuple[bytes, Line]:
    """Return the body that an app receives, and what it asks of the client's side."""
    got: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = scope["extensions"][WHOLE_BODY]()
        if body is None:
            assert not whole
            body, more = b"", True
            while more:
                message = await receive()
                body += message["body"]
                more = message["more_body"]
        got.set_result(body)
        await answering()(scope, receive, send)

    protocol, line = connected(app)
    await feed(protocol, line)
    return await got, line


async def test_a_body_that_comes_with_its_head_is_there_at_once() -> None:
    async def feed(protocol: HttpProtocol, line: Line) -> None:
        protocol.data_received(POST % (b"", 5, b"hello"))

    assert (await received(feed, whole=True))[0] == b"hello"


async def test_a_body_in_pieces_is_received_piece_by_piece() -> None:
    async def feed(protocol: HttpProtocol, line: Line) -> None:
        for piece in (POST % (b"", 11, b""), b"hello", b" ", b"world"):
            protocol.data_received(piece)
            await asyncio.sleep(0)

    assert (await received(feed))[0] == b"hello world"


async def test_an_upgrade_that_is_not_offered_does_not_keep_a_request_from_its_answer() -> None:
    async def feed(protocol: HttpProtocol, line: Line) -> None:
        upgrade = b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n"
        protocol.data_received(b"POST / HTTP/1.1\r\n" + upgrade + b"hel")
        await asyncio.sleep(0)
        protocol.data_received(b"lo" + GET % b"")

    assert (await received(feed))[0] == b"hello"


async def test_many_upgrades_at_once_are_read_one_after_the_other() -> None:
    protocol, line = connected(answering())

    protocol.data_received(b"GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n" * 2_000)

    await line.until(lambda: line.text.count(b"hello") == 2_000)
    assert not line.closed


async def test_a_head_that_begins_behind_a_large_body_is_not_too_large() -> None:
    protocol, line = connected(answering())

    protocol.data_received(POST % (b"", 200_000, b"x" * 200_000) + b"GET / HTTP/1.1\r\n")
    protocol.data_received(b"Host: localhost\r\n\r\n")

    assert line.text.count(b"HTTP/1.1 200 OK") == 2


async def test_a_large_body_waits_for_the_app() -> None:
    piece = b"x" * 70_000
    pauses: list[bool] = []

    async def feed(protocol: HttpProtocol, line: Line) -> None:
        protocol.data_received(POST % (b"", 140_000, piece))
        protocol.data_received(piece[1:])
        pauses.append(line.paused)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        pauses.append(line.paused)
        protocol.data_received(b"x")

    body, _ = await received(feed)
    assert (len(body), pauses) == (140_000, [True, False])


async def test_a_client_that_waits_for_leave_gets_it_when_its_body_is_wanted() -> None:
    async def feed(protocol: HttpProtocol, line: Line) -> None:
        head = b"POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        protocol.data_received(head)
        await asyncio.sleep(0)
        protocol.data_received(b"hi")

    body, line = await received(feed)
    assert body == b"hi"
    assert line.written[0] == b"HTTP/1.1 100 Continue\r\n\r\n"


async def test_the_end_of_a_connection_is_received() -> None:
    left: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["extensions"][WHOLE_BODY]() == b""
        left.set_result((await receive())["type"])
        await answering()(scope, receive, send)

    protocol, line = connected(app)
    protocol.data_received(GET % b"")
    line.closed = True
    protocol.connection_lost(None)

    assert (await left, line.written) == ("http.disconnect", [])


async def test_responses_wait_for_a_client_that_reads_slowly() -> None:
    protocol, line = connected(answering([b"one", b"two"]))

    protocol.pause_writing()
    protocol.data_received(GET % b"")
    await asyncio.sleep(0)
    before = line.text
    protocol.resume_writing()
    await line.until(lambda: line.text.endswith(b"0\r\n\r\n"))

    assert before == b""


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    raise LookupError("the secret is 42")


async def silent(scope: Scope, receive: Receive, send: Send) -> None: ...


@pytest.mark.parametrize(
    "app",
    [
        pytest.param(broken, id="raises"),
        pytest.param(silent, id="says nothing"),
        pytest.param(answering(b"hello", [(b"content-length", b"3")]), id="too long"),
        pytest.param(answering(b"hello", [(b"content-length", b"9")]), id="too short"),
        pytest.param(answering(b"", [(b"x-name", b"a\r\nset-cookie: b")]), id="a line break"),
    ],
)
async def test_an_app_that_fails_is_an_error_500(app: App, caplog: Any) -> None:
    protocol, line = connected(app)

    protocol.data_received(GET % b"")

    assert line.text.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    assert b"secret" not in line.text
    assert b"set-cookie" not in line.text
    assert line.closed
    assert len(caplog.records) == 1


async def test_a_response_that_breaks_off_closes_the_connection(caplog: Any) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})

    protocol, line = connected(app)
    protocol.data_received(GET % b"")

    assert line.text.endswith(b"\r\n\r\n4\r\nhalf\r\n")
    assert line.closed
    assert len(caplog.records) == 1


@pytest.mark.parametrize("rest", [b"nonsense\r\n\r\n", b"CONNECT a:1 HTTP/1.1\r\n\r\n", b"GET\r\n"])
async def test_what_is_no_request_ends_the_connection(rest: bytes) -> None:
    protocol, line = connected(answering())

    protocol.data_received(GET % b"")
    protocol.data_received(rest)

    assert line.text.count(b"HTTP/1.1 200 OK") == line.text.count(b"HTTP/1.1 400 Bad Request") == 1
    assert line.closed


async def test_a_server_that_stops_closes_idle_connections_and_lets_answers_end() -> None:
    gate = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await gate.wait()
        await answering()(scope, receive, send)

    idle, quiet = connected(app)
    busy, line = connected(app)
    busy.data_received(GET % b"")
    for one in (idle, busy):
        one.shutdown()

    assert (quiet.closed, line.closed) == (True, False)
    gate.set()
    await line.until(lambda: line.closed)
    assert line.text == b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello"
